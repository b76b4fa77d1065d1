struct Params { n: u32 }
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X)
fn scale(@builtin(global_invocation_id) id: vec3u) {
    if (id.x < p.n) { out[id.x] = 2.0 * b[id.x]; }
}
