struct Params { n: u32, first: u32, count: u32 }

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn right(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < p.count {
        out[p.first + id.x] = a[p.first + id.x];
    }
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn forgetful(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < p.count {
        out[id.x] = a[id.x];
    }
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn greedy(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < p.count && p.count < p.n {
        out[p.first + id.x] = a[p.first + id.x];
    }
}
