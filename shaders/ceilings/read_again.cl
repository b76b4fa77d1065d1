// Reads of a working set of `words` words, a power of two, over and over: blocks of STEP
// work-items read words one after another, `n` in all `items` together, from where the block
// before ends. Behind the set's end comes its beginning. With STEP 1 a work-item reads a run of
// its own, with more its neighbours read beside it. A sum a work-item, modulo 2^32, is written.
typedef struct { uint n; uint words; uint items; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void read_again(global const V* restrict data, global V* restrict out, const Params p) {
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i >= p.items) {
        return;
    }
    const uint mask = p.words / V_WIDTH - 1;
    const uint steps = p.n / p.items / V_WIDTH;
    const uint first = i / STEP * (STEP * steps) + i % STEP;
    V sum = 0;
    for (uint k = 0; k < steps; k += UNROLL) {
#pragma unroll
        for (uint u = 0; u < UNROLL; ++u) {
            sum += data[(first + (k + u) * STEP) & mask];
        }
    }
    out[i] = sum;
}
