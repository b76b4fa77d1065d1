// A chain of one floating-point instruction: OP says which. Every instruction needs the result of
// the one before; a V of four components is four chains beside each other. `passes` times REPEAT
// instructions are run: two builds that differ in REPEAT show what they cost, since all the rest
// takes the same time in both. Operands come at run time, so that nothing can be folded. Scalar i
// of `out` begins with seed i mod SEEDS.
struct Params { n: u32, passes: u32, a: f32, b: f32, c: f32, d: f32 }

@group(0) @binding(0) var<storage, read> seeds: array<V>;
@group(0) @binding(1) var<storage, read_write> out: array<V>;
@group(0) @binding(2) var<uniform> p: Params;

// Four instructions.
fn four(x: V, a: V, b: V, c: V, d: V) -> V {
    switch OP {
        case 0u: { return (((x + a) + b) + c) + d; }
        case 1u: { return (((x * a) * b) * c) * d; }
        case 2u: { return fma(a, fma(a, fma(a, fma(a, x, b), b), b), b); }
        // Each quotient loses its sign, so that no compiler multiplies instead.
        case 3u: { return abs(d / abs(c / abs(b / abs(a / x)))); }
        case 4u: { return sqrt(sqrt(sqrt(sqrt(x)))); }
        case 5u: { return exp(-exp(-exp(-exp(-x)))); }
        case 6u: { return log(log(log(log(x) + a) + b) + c) + d; }
        case 7u: { return sin(cos(sin(cos(x)))); }
        // Of a square, so that numbers stay apart.
        case 9u: {
            let y = inverseSqrt(x * x);
            let z = inverseSqrt(y * y);
            let w = inverseSqrt(z * z);
            return inverseSqrt(w * w);
        }
        default: { return max(min(max(min(x, a), b), c), d); }
    }
}

fn sixteen(x: V, a: V, b: V, c: V, d: V) -> V {
    return four(four(four(four(x, a, b, c, d), a, b, c, d), a, b, c, d), a, b, c, d);
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn float_chain(@builtin(global_invocation_id) gid: vec3<u32>,
               @builtin(num_workgroups) groups: vec3<u32>) {
    let i = gid.x + gid.y * (groups.x * GROUP_X);
    if (i >= p.n / V_WIDTH) {
        return;
    }
    let a = V(p.a);
    let b = V(p.b);
    let c = V(p.c);
    let d = V(p.d);
    var x = seeds[i % (SEEDS / V_WIDTH)];
    for (var k = 0u; k < p.passes; k++) {
        x = sixteen(x, a, b, c, d);
        if (REPEAT == 48u) {
            x = sixteen(sixteen(x, a, b, c, d), a, b, c, d);
        }
    }
    out[i] = x;
}
