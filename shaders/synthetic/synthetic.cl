// Work made to measure. Of each group the first `busy` work-items run a chain of integer
// arithmetic that nothing can shorten: `passes` times 8*`steps` steps and `reads` loads from
// `data`. With `chase` 1 each load's place is known only from the one before, so that nothing but
// latency counts; with 0 neighbours load side by side, `stride` words on from load to load.
// Then neighbours exchange their ends through LOCAL words of local memory, which keeps the whole
// group resident until its last item is done. There are 256 different seeds, so that a reference
// need not compute more chains; `words` is a power of two.
typedef struct {
    uint n; uint passes; uint steps; uint reads; uint chase; uint busy;
    uint words; uint stride; uint group; uint local_; uint add;
} Params;

uint step1(uint x, uint add) {
    return (x ^ (x >> 15)) * 2654435761u + add;
}

uint step4(uint x, uint add) {
    return step1(step1(step1(step1(x, add), add), add), add);
}

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void synthetic(global const uint* restrict data, global uint* restrict out, const Params p) {
    local uint ends[LOCAL];
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    const uint item = get_local_id(0) + GROUP_X * (get_local_id(1) + GROUP_Y * get_local_id(2));
    const uint mask = p.words - 1;
    uint x = data[(i ^ (i >> 6)) & 255 & mask];
    if (item < p.busy) {
        uint at = p.chase == 1 ? 0 : i;
        for (uint turn = 0; turn < p.passes; ++turn) {
            for (uint s = 0; s < p.steps; ++s) {
                x = step4(step4(x, p.add), p.add);
            }
            for (uint r = 0; r < p.reads; ++r) {
                x += data[(at + p.chase * x) & mask];
                at += p.stride;
            }
        }
    }
    // As many items as there are words, spread over all of them.
    const uint sharing = min((uint)(GROUP_X * GROUP_Y * GROUP_Z), (uint)LOCAL);
    const uint spread = LOCAL / sharing;
    if (item < sharing) {
        ends[item * spread] = x;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < p.n) {
        out[i] = x + ends[((item + 1) % sharing) * spread];
    }
}
