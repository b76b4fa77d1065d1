// Multiply-adds of floating-point numbers T: CHAINS chains x' = a*x + b a work-item, none waiting for
// another. With a = b = 1 a chain counts its steps, so that every type is exact and a lost step
// shows; both come at run time. A chain is one register: few have as many as hide the latency of
// chains of two. Scalar i of `out` starts from seed i mod SEEDS, whatever T is; n is a multiple of
// CHAINS widths, and `steps` of UNROLL.
typedef struct { uint n; uint steps; int a; int b; } Params;

#define JOIN(a, b) a##b
#define CONVERT(t) JOIN(convert_, t)
#if CHAINS == 1
#define EACH(F) F(0)
#elif CHAINS == 2
#define EACH(F) F(0) F(1)
#elif CHAINS == 4
#define EACH(F) F(0) F(1) F(2) F(3)
#elif CHAINS == 8
#define EACH(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)
#elif CHAINS == 12
#define EACH(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)
#else
#error "a work-item has 1, 2, 4, 8 or 12 chains"
#endif

#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#if FUSED
#define NEXT(x) fma(a, x, b)
#else // for a device whose fma() is emulated
#define NEXT(x) (a * x + b)
#endif
#define BEGIN(c) T x##c = CONVERT(T)(seeds[(i + c * items) % (SEEDS / T_WIDTH)]);
#define STEP(c) x##c = NEXT(x##c);
#define END(c) out[i + c * items] = CONVERT(T_U32)(CONVERT(T_I32)(x##c));

#if REQUIRED
__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
#endif
kernel void float_chains(global const T_U32* restrict seeds, global T_U32* restrict out,
    const Params p) {
    const uint items = p.n / (CHAINS * T_WIDTH);
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i >= items) {
        return;
    }
    const T a = (T)((T_SCALAR)(p.a));
    const T b = (T)((T_SCALAR)p.b);
    EACH(BEGIN)
    for (uint k = 0; k < p.steps; k += UNROLL) {
#pragma unroll
        for (uint u = 0; u < UNROLL; ++u) {
            EACH(STEP)
        }
    }
    EACH(END)
}
