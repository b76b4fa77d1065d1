// Reads of a working set of `words` words, a power of two, over and over: each group reads words
// one after another, `n` in all groups together, from where the group before it ends. Behind the
// set's end comes its beginning. A sum a work-item, modulo 2^32, is written.
typedef struct { uint n; uint words; uint groups; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void read_again(global const V* restrict data, global V* restrict out, const Params p) {
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    const uint group = i / GROUP_X;
    if (group >= p.groups) {
        return;
    }
    const uint mask = p.words / V_WIDTH - 1;
    const uint steps = p.n / p.groups / V_WIDTH / GROUP_X;
    const uint first = group * (steps * GROUP_X) + i % GROUP_X;
    V sum = 0;
    for (uint k = 0; k < steps; k += UNROLL) {
#pragma unroll
        for (uint u = 0; u < UNROLL; ++u) {
            sum += data[(first + (k + u) * GROUP_X) & mask];
        }
    }
    out[i] = sum;
}
