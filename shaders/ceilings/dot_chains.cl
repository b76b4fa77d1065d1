// Multiply-adds in dot products of four 8-bit numbers: eight chains a work-item, none waiting for
// another. A chain holds two numbers that follow each other in s' = s + a*r, which for a = -1
// comes back after six steps: all are small and whole, so that every type is exact and a lost step
// shows. a comes at run time. The numbers fit the lowest of four bytes; a is -1 there and 0 in the
// others. Scalar i of `out` starts from seed i mod SEEDS, whatever V is; n is a multiple of 8
// widths, and `steps` of 2*UNROLL.
typedef struct { uint n; uint steps; int a; int b; } Params;

#define JOIN(t, w) t##w
#define WIDE(t, w) JOIN(t, w)
#if V_WIDTH == 1
#define VEC(t) t
#else
#define VEC(t) WIDE(t, V_WIDTH)
#endif

#if V_WIDTH != 1
#error "the packed numbers of a work-item are no vector"
#endif
#define T int
#define TO_T convert_int
#if PACKED
#ifndef cl_khr_integer_dot_product
#error "the device has no cl_khr_integer_dot_product"
#endif
#define DOT(a, x, y) (dot_4x8packed_ss_int(as_uint(a), as_uint(x)) + (y))
#else // for a device without the instruction: what a compiler makes of it
int plain(char4 u, char4 v) {
    return u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
}
#define DOT(a, x, y) (plain(as_char4(a), as_char4(x)) + (y))
#endif

#define TWO(x, y) x = DOT(a, x, y); y = DOT(a, y, x)

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void dot_chains(global const V* restrict seeds, global V* restrict out, const Params p) {
    const uint items = p.n / (8 * V_WIDTH);
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i >= items) {
        return;
    }
    const VEC(T) a = (VEC(T))((T)(p.a & 255));
    const VEC(T) b = (VEC(T))((T)p.b);
    VEC(T) x0 = VEC(TO_T)(seeds[(i + 0 * items) % (SEEDS / V_WIDTH)]), y0 = b - x0;
    VEC(T) x1 = VEC(TO_T)(seeds[(i + 1 * items) % (SEEDS / V_WIDTH)]), y1 = b - x1;
    VEC(T) x2 = VEC(TO_T)(seeds[(i + 2 * items) % (SEEDS / V_WIDTH)]), y2 = b - x2;
    VEC(T) x3 = VEC(TO_T)(seeds[(i + 3 * items) % (SEEDS / V_WIDTH)]), y3 = b - x3;
    VEC(T) x4 = VEC(TO_T)(seeds[(i + 4 * items) % (SEEDS / V_WIDTH)]), y4 = b - x4;
    VEC(T) x5 = VEC(TO_T)(seeds[(i + 5 * items) % (SEEDS / V_WIDTH)]), y5 = b - x5;
    VEC(T) x6 = VEC(TO_T)(seeds[(i + 6 * items) % (SEEDS / V_WIDTH)]), y6 = b - x6;
    VEC(T) x7 = VEC(TO_T)(seeds[(i + 7 * items) % (SEEDS / V_WIDTH)]), y7 = b - x7;
    for (uint k = 0; k < p.steps; k += 2 * UNROLL) {
#pragma unroll
        for (uint u = 0; u < UNROLL; ++u) {
            TWO(x0, y0);
            TWO(x1, y1);
            TWO(x2, y2);
            TWO(x3, y3);
            TWO(x4, y4);
            TWO(x5, y5);
            TWO(x6, y6);
            TWO(x7, y7);
        }
    }
    out[i + 0 * items] = VEC(convert_uint)(VEC(convert_int)(x0) + 256 * VEC(convert_int)(y0));
    out[i + 1 * items] = VEC(convert_uint)(VEC(convert_int)(x1) + 256 * VEC(convert_int)(y1));
    out[i + 2 * items] = VEC(convert_uint)(VEC(convert_int)(x2) + 256 * VEC(convert_int)(y2));
    out[i + 3 * items] = VEC(convert_uint)(VEC(convert_int)(x3) + 256 * VEC(convert_int)(y3));
    out[i + 4 * items] = VEC(convert_uint)(VEC(convert_int)(x4) + 256 * VEC(convert_int)(y4));
    out[i + 5 * items] = VEC(convert_uint)(VEC(convert_int)(x5) + 256 * VEC(convert_int)(y5));
    out[i + 6 * items] = VEC(convert_uint)(VEC(convert_int)(x6) + 256 * VEC(convert_int)(y6));
    out[i + 7 * items] = VEC(convert_uint)(VEC(convert_int)(x7) + 256 * VEC(convert_int)(y7));
}
