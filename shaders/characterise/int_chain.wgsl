// A chain of one instruction on unsigned integers: OP says which. See float_chain for the rest.
// Sums and products go to and fro between x and y, since repeated ones with the same operand
// would be one multiplication or power to a compiler.
struct Params { n: u32, passes: u32, a: u32, b: u32, c: u32, d: u32, e: u32 }

@group(0) @binding(0) var<storage, read> seeds: array<V>;
@group(0) @binding(1) var<storage, read_write> out: array<V>;
@group(0) @binding(2) var<uniform> p: Params;

struct State { x: V, y: V }

// Four instructions.
fn four(s: State, a: V, b: V, c: V, d: V, e: V) -> State {
    var x = s.x;
    var y = s.y;
    switch OP {
        case 0u: { x += y; y += x; x += y; y += x; }
        case 1u: { x *= y; y *= x; x *= y; y *= x; }
        case 2u: { x = d / (c / (b / (a / x))); }
        case 3u: { x = (((x << a) >> b) << c) >> d; }
        case 4u: { x = (((x ^ a) & b) ^ c) | d; }
        default: {
            x = select(c, b, x < a);
            x = select(b, c, x < d);
            x = select(b, d, x < a);
            x = select(c, b, x < e);
        }
    }
    return State(x, y);
}

fn sixteen(s: State, a: V, b: V, c: V, d: V, e: V) -> State {
    return four(four(four(four(s, a, b, c, d, e), a, b, c, d, e), a, b, c, d, e), a, b, c, d, e);
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn int_chain(@builtin(global_invocation_id) gid: vec3<u32>,
             @builtin(num_workgroups) groups: vec3<u32>) {
    let i = gid.x + gid.y * (groups.x * GROUP_X);
    if (i >= p.n / V_WIDTH) {
        return;
    }
    let a = V(p.a);
    let b = V(p.b);
    let c = V(p.c);
    let d = V(p.d);
    let e = V(p.e);
    let seed = seeds[i % (SEEDS / V_WIDTH)];
    var s = State(seed, seed ^ a);
    for (var k = 0u; k < p.passes; k++) {
        s = sixteen(s, a, b, c, d, e);
        if (REPEAT == 48u) {
            s = sixteen(sixteen(s, a, b, c, d, e), a, b, c, d, e);
        }
    }
    out[i] = s.x ^ s.y;
}
