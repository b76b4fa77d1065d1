// Each work-item adds up REPEAT words that its neighbours' lie STRIDE words from, OFFSET words
// beyond an aligned place. Where the end of `data` is reached, the next word of each stride is
// taken, so that every word is read once before any is read again; `words`, STRIDE: powers of two.
typedef struct { uint n; uint words; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void stride(global const uint* restrict data, global uint* restrict out, const Params p) {
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i >= p.n) {
        return;
    }
    const uint mask = p.words / STRIDE - 1;
    const uint rounds = p.words / STRIDE;
    uint sum = i;
#pragma unroll
    for (uint r = 0; r < REPEAT; ++r) {
        const uint j = r * p.n + i;
        sum += data[(j & mask) * STRIDE + j / rounds + OFFSET];
    }
    out[i] = sum;
}
