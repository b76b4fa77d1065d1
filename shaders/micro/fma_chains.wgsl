// The rate of fused multiply-adds: eight chains x = a*x + b a work-item, none waiting for
// another, each V wide. a and b come at run time and neither chain nor step can be left out:
// with a near -1 every step swaps x about the fixed point b/(1-a), which it nears slowly.
// Scalar i of `out` starts from seed i mod SEEDS, whatever V is; n is a multiple of 8 widths,
// `steps` of 4*UNROLL. Where n/8 is no multiple of SEEDS, a work-item's chains all differ.
const_assert SEEDS % V_WIDTH == 0u; // the seeds are read as vectors
struct Params { n: u32, steps: u32, a: f32, b: f32 }

@group(0) @binding(0) var<storage, read> seeds: array<V>;
@group(0) @binding(1) var<storage, read_write> out: array<V>;
@group(0) @binding(2) var<uniform> p: Params;

fn step(a: V, x: V, b: V) -> V {
    if (FUSED == 1u) {
        return fma(a, x, b);
    }
    return a * x + b; // for a device whose fma() is emulated: it rounds as it likes
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn fma_chains(@builtin(global_invocation_id) gid: vec3<u32>,
              @builtin(num_workgroups) groups: vec3<u32>) {
    let items = p.n / (8u * V_WIDTH);
    let i = gid.x + gid.y * (groups.x * GROUP_X);
    if (i >= items) {
        return;
    }
    let a = V(p.a);
    let b = V(p.b);
    var x0 = seeds[(i + 0u * items) % (SEEDS / V_WIDTH)];
    var x1 = seeds[(i + 1u * items) % (SEEDS / V_WIDTH)];
    var x2 = seeds[(i + 2u * items) % (SEEDS / V_WIDTH)];
    var x3 = seeds[(i + 3u * items) % (SEEDS / V_WIDTH)];
    var x4 = seeds[(i + 4u * items) % (SEEDS / V_WIDTH)];
    var x5 = seeds[(i + 5u * items) % (SEEDS / V_WIDTH)];
    var x6 = seeds[(i + 6u * items) % (SEEDS / V_WIDTH)];
    var x7 = seeds[(i + 7u * items) % (SEEDS / V_WIDTH)];
    for (var k = 0u; k < p.steps; k += 4u * UNROLL) {
        for (var u = 0u; u < UNROLL; u++) {
            x0 = step(a, step(a, step(a, step(a, x0, b), b), b), b);
            x1 = step(a, step(a, step(a, step(a, x1, b), b), b), b);
            x2 = step(a, step(a, step(a, step(a, x2, b), b), b), b);
            x3 = step(a, step(a, step(a, step(a, x3, b), b), b), b);
            x4 = step(a, step(a, step(a, step(a, x4, b), b), b), b);
            x5 = step(a, step(a, step(a, step(a, x5, b), b), b), b);
            x6 = step(a, step(a, step(a, step(a, x6, b), b), b), b);
            x7 = step(a, step(a, step(a, step(a, x7, b), b), b), b);
        }
    }
    out[i + 0u * items] = x0;
    out[i + 1u * items] = x1;
    out[i + 2u * items] = x2;
    out[i + 3u * items] = x3;
    out[i + 4u * items] = x4;
    out[i + 5u * items] = x5;
    out[i + 6u * items] = x6;
    out[i + 7u * items] = x7;
}
