// Multiply-adds in dot products of four 8-bit numbers: CHAINS chains a work-item, none waiting for
// another. A chain holds two numbers that follow each other in s' = s + dot(a, r), over the signed
// bytes of both. a comes at run time, so that no compiler knows any of its bytes. With the suite's
// a and steps a step adds less than 2^12, so that 256 times a sum fits 32 bits. Scalar i of `out`
// starts from seed i mod SEEDS, whatever T is; n is a multiple of CHAINS widths, and `steps` of
// 2*UNROLL.
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

#if PACKED
#if !defined(cl_khr_integer_dot_product) || T_WIDTH != 1
#error "dot products of packed bytes need cl_khr_integer_dot_product and a scalar T"
#endif
#define NEXT(x, y) (dot_4x8packed_ss_int(as_uint(a), as_uint(x)) + y)
#else // for a device without the instruction: what a compiler makes of it
#define PRODUCT(x, left) (((a << left) >> 24) * ((x << left) >> 24))
#define NEXT(x, y) (PRODUCT(x, 24) + PRODUCT(x, 16) + PRODUCT(x, 8) + PRODUCT(x, 0) + y)
#endif
#define BEGIN(c) T x##c = CONVERT(T)(seeds[(i + c * items) % (SEEDS / T_WIDTH)]), y##c = b - x##c;
#define STEP(c) x##c = NEXT(x##c, y##c); y##c = NEXT(y##c, x##c);
#define END(c) \
    out[i + c * items] = CONVERT(T_U32)(CONVERT(T_I32)(x##c) + 256 * CONVERT(T_I32)(y##c));

#if REQUIRED
__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
#endif
kernel void dot_chains(global const T_U32* restrict seeds, global T_U32* restrict out,
    const Params p) {
    const uint items = p.n / (CHAINS * T_WIDTH);
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i >= items) {
        return;
    }
    const T a = (T)((T_SCALAR)p.a);
    const T b = (T)((T_SCALAR)p.b);
    EACH(BEGIN)
    for (uint k = 0; k < p.steps; k += 2 * UNROLL) {
#pragma unroll
        for (uint u = 0; u < UNROLL; ++u) {
            EACH(STEP)
        }
    }
    EACH(END)
}
