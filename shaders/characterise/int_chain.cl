// A chain of one instruction on unsigned integers: OP says which. See float_chain for the rest.
// Sums and products go to and fro between x and y, since repeated ones with the same operand
// would be one multiplication or power to a compiler.
typedef struct { uint n; uint passes; uint a; uint b; uint c; uint d; uint e; } Params;

typedef struct { V x; V y; } State;

// Four instructions.
State four(State s, V a, V b, V c, V d, V e) {
#if OP == 0 // add
    s.x += s.y; s.y += s.x; s.x += s.y; s.y += s.x;
#elif OP == 1 // mul
    s.x *= s.y; s.y *= s.x; s.x *= s.y; s.y *= s.x;
#elif OP == 2 // div
    s.x = d / (c / (b / (a / s.x)));
#elif OP == 3 // shift
    s.x = (((s.x << a) >> b) << c) >> d;
#elif OP == 4 // logic
    s.x = (((s.x ^ a) & b) ^ c) | d;
#elif OP == 5 // compare and select
    s.x = (s.x < a) ? b : c;
    s.x = (s.x < d) ? c : b;
    s.x = (s.x < a) ? d : b;
    s.x = (s.x < e) ? b : c;
#endif
    return s;
}

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void int_chain(global const V* restrict seeds, global V* restrict out, const Params p) {
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i >= p.n / V_WIDTH) {
        return;
    }
    const V a = (V)(p.a);
    const V b = (V)(p.b);
    const V c = (V)(p.c);
    const V d = (V)(p.d);
    const V e = (V)(p.e);
    State s;
    s.x = seeds[i % (SEEDS / V_WIDTH)];
    s.y = s.x ^ a;
    for (uint k = 0; k < p.passes; ++k) {
#pragma unroll
        for (uint r = 0; r < REPEAT; r += 16) {
            s = four(s, a, b, c, d, e);
            s = four(s, a, b, c, d, e);
            s = four(s, a, b, c, d, e);
            s = four(s, a, b, c, d, e);
        }
    }
    out[i] = s.x ^ s.y;
}
