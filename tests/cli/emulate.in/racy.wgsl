// Every work-item gives its neighbour a number, but does not wait until it has one.
@group(0) @binding(0) var<storage, read_write> out: array<u32>;

var<workgroup> numbers: array<u32, GROUP_X>;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn racy(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) item: u32) {
    numbers[item] = id.x;
    out[id.x] = numbers[(item + 1u) % GROUP_X];
}
