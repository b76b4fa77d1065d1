// out = factor*in, VALUES numbers a work-item.
struct Params { n: u32, factor: f32 }

@group(0) @binding(0) var<storage, read> in: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn scale(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = id.x * VALUES;
    for (var i = first; i < min(first + VALUES, p.n); i++) {
        out[i] = p.factor * in[i];
    }
}
