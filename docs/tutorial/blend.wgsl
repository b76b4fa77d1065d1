// out = b + s·c, one number per work-item. gpubench declares GROUP_X.
struct Params { n: u32, s: f32 }

@group(0) @binding(0) var<storage, read> b: array<f32>;
@group(0) @binding(1) var<storage, read> c: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X)
fn blend(@builtin(global_invocation_id) id: vec3<u32>,
         @builtin(num_workgroups) groups: vec3<u32>) {
    let i = id.x + id.y * (groups.x * GROUP_X);
    if (i < p.n) { out[i] = b[i] + p.s * c[i]; }
}
