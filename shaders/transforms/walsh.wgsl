// One pass of the fast Walsh transform, in place: two numbers `apart` places from each other become
// their sum and their difference. With apart = 1, 2, 4 … up to half of a block, whole blocks are
// transformed. A number whose partner lies beyond the end stays as it is.
struct Params { n: u32, apart: u32 }

@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@group(0) @binding(1) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn walsh(@builtin(global_invocation_id) id: vec3<u32>,
         @builtin(num_workgroups) groups: vec3<u32>) {
    let i = id.x + id.y * (groups.x * GROUP_X);
    let low = i / p.apart * (2 * p.apart) + i % p.apart;
    let high = low + p.apart;
    if (high >= p.n) { return; }

    let a = data[low];
    let b = data[high];
    data[low] = a + b;
    data[high] = a - b;
}
