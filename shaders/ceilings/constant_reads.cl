// Reads of a table in constant memory, of which `words` words, a power of two, are used. Each work-item
// reads `reads` vectors one after another, from a place of its group's on; with SPREAD 1 its neighbour
// in the group reads the next one, with 0 all read the same. What is read goes into a number of the
// work-item's own, so that no sum of the table serves them all. `buffer_reads` reads a buffer instead.
typedef struct { uint n; uint words; uint reads; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void constant_reads(constant uint4* data, global uint* restrict out, const Params p) {
    const uint number = get_group_id(0) + get_group_id(1) * get_num_groups(0);
    const uint item = get_local_id(0);
    const uint i = number * GROUP_X + item;
    if (i >= p.n) {
        return;
    }
    const uint mask = p.words / 4 - 1;
    const uint first = 7 * number + SPREAD * item;
    uint4 sum = (uint4)(i);
    for (uint k = 0; k < p.reads; ++k) {
        sum = 5 * sum + data[(first + k) & mask];
    }
    out[i] = sum.x ^ sum.y ^ sum.z ^ sum.w;
}
