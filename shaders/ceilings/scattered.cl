// Reads at random places: each work-item adds up LOADS words of `words`, a power of two, none of
// which waits for another. Places are a scrambled number of the load, so that no pattern helps.
typedef struct { uint n; uint words; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void scattered(global const uint* restrict data, global uint* restrict out, const Params p) {
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i >= p.n) {
        return;
    }
    uint sum = 0;
#pragma unroll
    for (uint k = 0; k < LOADS; ++k) {
        uint place = (i * LOADS + k) * 2654435761u;
        place = (place ^ (place >> 15)) * 2246822519u;
        sum += data[(place ^ (place >> 13)) & (p.words - 1)];
    }
    out[i] = sum;
}
