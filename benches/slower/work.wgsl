// As work.cl: a copy that computes beside it. STEPS decides how long an item takes, and not what comes out.
struct Params { n: u32 }

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn work(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let i = id.x + id.y * groups.x * GROUP_X;
    if (i < p.n) {
        var x = bitcast<u32>(a[i]) | 1u;
        for (var k = 0u; k < STEPS; k++) {
            x = (x ^ (x >> 15u)) * 2654435761u;
        }
        // Each step maps nothing but 0 to 0, so x is never 0; compilers do not know that.
        if (x == 0u) {
            out[i] = 0.0;
        } else {
            out[i] = a[i];
        }
    }
}
