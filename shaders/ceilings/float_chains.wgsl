// Multiply-adds of floating-point numbers T: CHAINS chains x' = a*x + b a work-item, none waiting for
// another. With a = b = 1 a chain counts its steps, so that every type is exact and a lost step
// shows; both come at run time. A chain is one register: few have as many as hide the latency of
// chains of two. Scalar i of `out` starts from seed i mod SEEDS, whatever T is; n is a multiple of
// CHAINS widths, and `steps` of UNROLL.
struct Params { n: u32, steps: u32, a: i32, b: i32 }

@group(0) @binding(0) var<storage, read> seeds: array<T_U32>;
@group(0) @binding(1) var<storage, read_write> out: array<T_U32>;
@group(0) @binding(2) var<uniform> p: Params;

fn next(a: T, x: T, b: T) -> T {
    if (FUSED == 1u) {
        return fma(a, x, b);
    }
    return a * x + b; // for a device whose fma() is emulated
}

fn begin(at: u32) -> T {
    return T(seeds[at % (SEEDS / T_WIDTH)]);
}

fn end(x: T) -> T_U32 {
    return bitcast<T_U32>(T_I32(x));
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn float_chains(@builtin(global_invocation_id) gid: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
    let items = p.n / (CHAINS * T_WIDTH);
    let i = gid.x + gid.y * (groups.x * GROUP_X);
    if (i >= items) {
        return;
    }
    let a = T(T_SCALAR(p.a));
    let b = T(T_SCALAR(p.b));
    var c0 = begin(i + 0u * items);
    var c1 = begin(i + 1u * items);
    var c2 = begin(i + 2u * items);
    var c3 = begin(i + 3u * items);
    var c4 = begin(i + 4u * items);
    var c5 = begin(i + 5u * items);
    var c6 = begin(i + 6u * items);
    var c7 = begin(i + 7u * items);
    var c8 = begin(i + 8u * items);
    var c9 = begin(i + 9u * items);
    var c10 = begin(i + 10u * items);
    var c11 = begin(i + 11u * items);
    let steps = p.steps; // read once: some compilers would do so in every round
    for (var k = 0u; k < steps; k += UNROLL) {
        for (var u = 0u; u < UNROLL; u++) {
            c0 = next(a, c0, b);
            if (CHAINS > 1u) {
                c1 = next(a, c1, b);
            }
            if (CHAINS > 2u) {
                c2 = next(a, c2, b);
                c3 = next(a, c3, b);
            }
            if (CHAINS > 4u) {
                c4 = next(a, c4, b);
                c5 = next(a, c5, b);
                c6 = next(a, c6, b);
                c7 = next(a, c7, b);
            }
            if (CHAINS > 8u) {
                c8 = next(a, c8, b);
                c9 = next(a, c9, b);
                c10 = next(a, c10, b);
                c11 = next(a, c11, b);
            }
        }
    }
    out[i] = end(c0);
    if (CHAINS > 1u) {
        out[i + items] = end(c1);
    }
    if (CHAINS > 2u) {
        out[i + 2u * items] = end(c2);
        out[i + 3u * items] = end(c3);
    }
    if (CHAINS > 4u) {
        out[i + 4u * items] = end(c4);
        out[i + 5u * items] = end(c5);
        out[i + 6u * items] = end(c6);
        out[i + 7u * items] = end(c7);
    }
    if (CHAINS > 8u) {
        out[i + 8u * items] = end(c8);
        out[i + 9u * items] = end(c9);
        out[i + 10u * items] = end(c10);
        out[i + 11u * items] = end(c11);
    }
}
