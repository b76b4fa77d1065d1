// A chain of one floating-point instruction: OP says which. Every instruction needs the result of
// the one before; a V of four components is four chains beside each other. `passes` times REPEAT
// instructions are run: two builds that differ in REPEAT show what they cost, since all the rest
// takes the same time in both. Operands come at run time, so that nothing can be folded. Scalar i
// of `out` begins with seed i mod SEEDS.
typedef struct { uint n; uint passes; float a; float b; float c; float d; } Params;

// Four instructions.
V four(V x, V a, V b, V c, V d) {
#if OP == 0 // add
    return (((x + a) + b) + c) + d;
#elif OP == 1 // mul
    return (((x * a) * b) * c) * d;
#elif OP == 2 // fma
    return fma(a, fma(a, fma(a, fma(a, x, b), b), b), b);
#elif OP == 3 // div; each quotient loses its sign, so that no compiler multiplies instead
    return fabs(d / fabs(c / fabs(b / fabs(a / x))));
#elif OP == 4 // sqrt
    return sqrt(sqrt(sqrt(sqrt(x))));
#elif OP == 5 // exp
    return exp(-exp(-exp(-exp(-x))));
#elif OP == 6 // log
    return log(log(log(log(x) + a) + b) + c) + d;
#elif OP == 7 // sin, cos
    return sin(cos(sin(cos(x))));
#elif OP == 8 // min, max
    return max(min(max(min(x, a), b), c), d);
#elif OP == 9 // reciprocal square root, of a square, so that numbers stay apart
    const V y = rsqrt(x * x), z = rsqrt(y * y), w = rsqrt(z * z);
    return rsqrt(w * w);
#endif
}

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void float_chain(global const V* restrict seeds, global V* restrict out, const Params p) {
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i >= p.n / V_WIDTH) {
        return;
    }
    const V a = (V)(p.a);
    const V b = (V)(p.b);
    const V c = (V)(p.c);
    const V d = (V)(p.d);
    V x = seeds[i % (SEEDS / V_WIDTH)];
    for (uint k = 0; k < p.passes; ++k) {
#pragma unroll
        for (uint r = 0; r < REPEAT; r += 16) {
            x = four(four(four(four(x, a, b, c, d), a, b, c, d), a, b, c, d), a, b, c, d);
        }
    }
    out[i] = x;
}
