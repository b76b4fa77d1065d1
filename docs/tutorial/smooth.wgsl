// Mean of three neighbours; the first and the last number stay.
struct Params { n: u32 }

@group(0) @binding(0) var<storage, read> in: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X)
fn smooth_line(@builtin(global_invocation_id) id: vec3<u32>,
               @builtin(num_workgroups) groups: vec3<u32>) {
    let i = id.x + id.y * (groups.x * GROUP_X);
    if (i >= p.n) { return; }
    if (i > 0 && i + 1 < p.n) {
        out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3.0;
    } else {
        out[i] = in[i];
    }
}
