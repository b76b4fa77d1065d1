// Read-only bandwidth: `a` holds blocks of DEPTH rows of STEP vectors of type V, and each row of
// `out` is the sum of one block's rows, modulo 2^32, so that the order of the summands is of no
// matter. With STEP 1 a work-item reads a run of its own, with more its neighbours read beside it;
// which is faster is the device's to say. UNROLL loads a work-item are under way at a time. n is a
// multiple of a block. The index is counted up, which takes less than a product.
typedef struct { uint n; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void read_runs(global const V* restrict a, global V* restrict out, const Params p) {
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i >= p.n / (DEPTH * V_WIDTH)) {
        return;
    }
    uint at = i / STEP * (STEP * DEPTH) + i % STEP;
    V sum = 0;
    for (uint k = 0; k < DEPTH; k += UNROLL) {
#pragma unroll
        for (uint u = 0; u < UNROLL; ++u) {
            sum += a[at];
            at += STEP;
        }
    }
    out[i] = sum;
}
