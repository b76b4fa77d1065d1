// The rate of fused multiply-adds: eight chains x = a*x + b a work-item, none waiting for
// another, each V wide. a and b come at run time and neither chain nor step can be left out:
// with a near -1 every step swaps x about the fixed point b/(1-a), which it nears slowly.
// Scalar i of `out` starts from seed i mod SEEDS, whatever V is; n is a multiple of 8 widths,
// `steps` of 4*UNROLL. Where n/8 is no multiple of SEEDS, a work-item's chains all differ.
#if SEEDS % V_WIDTH != 0
#error "the seeds are read as vectors: SEEDS must be a multiple of V's width"
#endif
#if FUSED
#define FMA fma
#else // for a device whose fma() is emulated. mad() takes PoCL 6 seven times as long
#define FMA(a, x, b) ((a) * (x) + (b))
#endif

typedef struct { uint n; uint steps; float a; float b; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void fma_chains(global const V* restrict seeds, global V* restrict out, const Params p) {
    const uint items = p.n / (8 * V_WIDTH);
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i >= items) {
        return;
    }
    const V a = (V)(p.a);
    const V b = (V)(p.b);
    V x0 = seeds[(i + 0 * items) % (SEEDS / V_WIDTH)];
    V x1 = seeds[(i + 1 * items) % (SEEDS / V_WIDTH)];
    V x2 = seeds[(i + 2 * items) % (SEEDS / V_WIDTH)];
    V x3 = seeds[(i + 3 * items) % (SEEDS / V_WIDTH)];
    V x4 = seeds[(i + 4 * items) % (SEEDS / V_WIDTH)];
    V x5 = seeds[(i + 5 * items) % (SEEDS / V_WIDTH)];
    V x6 = seeds[(i + 6 * items) % (SEEDS / V_WIDTH)];
    V x7 = seeds[(i + 7 * items) % (SEEDS / V_WIDTH)];
    for (uint k = 0; k < p.steps; k += 4 * UNROLL) {
#pragma unroll
        for (uint u = 0; u < UNROLL; ++u) {
            x0 = FMA(a, FMA(a, FMA(a, FMA(a, x0, b), b), b), b);
            x1 = FMA(a, FMA(a, FMA(a, FMA(a, x1, b), b), b), b);
            x2 = FMA(a, FMA(a, FMA(a, FMA(a, x2, b), b), b), b);
            x3 = FMA(a, FMA(a, FMA(a, FMA(a, x3, b), b), b), b);
            x4 = FMA(a, FMA(a, FMA(a, FMA(a, x4, b), b), b), b);
            x5 = FMA(a, FMA(a, FMA(a, FMA(a, x5, b), b), b), b);
            x6 = FMA(a, FMA(a, FMA(a, FMA(a, x6, b), b), b), b);
            x7 = FMA(a, FMA(a, FMA(a, FMA(a, x7, b), b), b), b);
        }
    }
    out[i + 0 * items] = x0;
    out[i + 1 * items] = x1;
    out[i + 2 * items] = x2;
    out[i + 3 * items] = x3;
    out[i + 4 * items] = x4;
    out[i + 5 * items] = x5;
    out[i + 6 * items] = x6;
    out[i + 7 * items] = x7;
}
