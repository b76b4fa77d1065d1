@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn scale(@builtin(global_invocation_id) id: vec3<u32>) {
    out[id.x] = 0.5f * a[id.x];
}

// Nobody ever leaves.
@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn endless(@builtin(global_invocation_id) id: vec3<u32>) {
    while (a[id.x] >= 0f) {
        out[id.x] = a[id.x];
    }
}

// Nobody writes the sixth.
@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn skipping(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x != 5u) {
        out[id.x] = a[id.x];
    }
}
