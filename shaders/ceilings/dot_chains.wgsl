// Multiply-adds in dot products of four 8-bit numbers: CHAINS chains a work-item, none waiting for
// another. A chain holds two numbers that follow each other in s' = s + dot(a, r), over the signed
// bytes of both. a comes at run time, so that no compiler knows any of its bytes. With the suite's
// a and steps a step adds less than 2^12, so that 256 times a sum fits 32 bits. Scalar i of `out`
// starts from seed i mod SEEDS, whatever T is; n is a multiple of CHAINS widths, and `steps` of
// 2*UNROLL.
struct Params { n: u32, steps: u32, a: i32, b: i32 }
struct Pair { x: T, y: T }

@group(0) @binding(0) var<storage, read> seeds: array<T_U32>;
@group(0) @binding(1) var<storage, read_write> out: array<T_U32>;
@group(0) @binding(2) var<uniform> p: Params;

fn next(a: T, x: T, y: T) -> T {
    if (PACKED == 1u) {
        return dot4I8Packed(bitcast<u32>(a), bitcast<u32>(x)) + y;
    }
    var sum = y; // what a compiler makes of it where there is no instruction
    for (var byte = 0u; byte < 32u; byte += 8u) {
        sum += extractBits(a, byte, 8u) * extractBits(x, byte, 8u);
    }
    return sum;
}

fn two(pair: Pair, a: T) -> Pair {
    let x = next(a, pair.x, pair.y);
    return Pair(x, next(a, pair.y, x));
}

fn begin(at: u32, b: T) -> Pair {
    let x = T(seeds[at % (SEEDS / T_WIDTH)]);
    return Pair(x, b - x);
}

fn end(pair: Pair) -> T_U32 {
    return bitcast<T_U32>(T_I32(pair.x) + 256 * T_I32(pair.y));
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn dot_chains(@builtin(global_invocation_id) gid: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
    let items = p.n / (CHAINS * T_WIDTH);
    let i = gid.x + gid.y * (groups.x * GROUP_X);
    if (i >= items) {
        return;
    }
    let a = T(T_SCALAR(p.a));
    let b = T(T_SCALAR(p.b));
    var c0 = begin(i + 0u * items, b);
    var c1 = begin(i + 1u * items, b);
    var c2 = begin(i + 2u * items, b);
    var c3 = begin(i + 3u * items, b);
    var c4 = begin(i + 4u * items, b);
    var c5 = begin(i + 5u * items, b);
    var c6 = begin(i + 6u * items, b);
    var c7 = begin(i + 7u * items, b);
    var c8 = begin(i + 8u * items, b);
    var c9 = begin(i + 9u * items, b);
    var c10 = begin(i + 10u * items, b);
    var c11 = begin(i + 11u * items, b);
    let steps = p.steps; // read once: some compilers would do so in every round
    for (var k = 0u; k < steps; k += 2u * UNROLL) {
        for (var u = 0u; u < UNROLL; u++) {
            c0 = two(c0, a);
            if (CHAINS > 1u) {
                c1 = two(c1, a);
            }
            if (CHAINS > 2u) {
                c2 = two(c2, a);
                c3 = two(c3, a);
            }
            if (CHAINS > 4u) {
                c4 = two(c4, a);
                c5 = two(c5, a);
                c6 = two(c6, a);
                c7 = two(c7, a);
            }
            if (CHAINS > 8u) {
                c8 = two(c8, a);
                c9 = two(c9, a);
                c10 = two(c10, a);
                c11 = two(c11, a);
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
