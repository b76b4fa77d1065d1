// Read-only bandwidth: `a` holds blocks of `depth` rows of `width` scalars, and each row of
// `out` is the sum of one block's rows, modulo 2^32, so that the order of the summands is of no
// matter. UNROLL loads of type V a work-item are under way at a time. width is a multiple of V's
// width, depth of UNROLL, and n of width*depth.
typedef struct { uint n; uint width; uint depth; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void read_sum(global const V* restrict a, global V* restrict out, const Params p) {
    const uint row = p.width / V_WIDTH;
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i >= p.n / p.depth / V_WIDTH) {
        return;
    }
    const uint first = i / row * (row * p.depth) + i % row;
    V sum = 0;
    for (uint k = 0; k < p.depth; k += UNROLL) {
#pragma unroll
        for (uint u = 0; u < UNROLL; ++u) {
            sum += a[first + (k + u) * row];
        }
    }
    out[i] = sum;
}
