// A chain of conversions, to and fro between unsigned integers and f32. What came from f32 goes
// there and back unchanged, which compilers know: hence an exclusive or before every other
// conversion, whose cost is known from int_chain. See float_chain for the rest.
typedef struct { uint n; uint passes; uint a; } Params;

#if V_WIDTH == 1
#define TO_FLOAT convert_float
#define TO_UINT convert_uint
#else
#define TO_FLOAT convert_float4
#define TO_UINT convert_uint4
#endif

// Four instructions.
V four(V x, V a) {
    return TO_UINT(TO_FLOAT(TO_UINT(TO_FLOAT(x ^ a)) ^ a));
}

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void convert_chain(global const V* restrict seeds, global V* restrict out, const Params p) {
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i >= p.n / V_WIDTH) {
        return;
    }
    const V a = (V)(p.a);
    V x = seeds[i % (SEEDS / V_WIDTH)];
    for (uint k = 0; k < p.passes; ++k) {
#pragma unroll
        for (uint r = 0; r < REPEAT; r += 16) {
            x = four(four(four(four(x, a), a), a), a);
        }
    }
    out[i] = x;
}
