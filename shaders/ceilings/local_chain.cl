// As subgroup_chain, but work-items of a group hear of each other through local memory: OP 0 takes the
// greatest number of all, 1 that of the neighbour, 2 asks who has a small one. Each needs the result of
// the one before, and each adds `add`, so that a lost step shows. The group's size is a
// power of two, at least 32.
typedef struct { uint n; uint passes; uint add; } Params;

uint next(uint x, uint i, uint add, local uint* words) {
    const uint at = get_local_id(0);
    uint found;
#if OP == 0
    words[at] = x + add * (i & 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint reach = GROUP_X / 2; reach > 0; reach /= 2) {
        if (at < reach) {
            words[at] = max(words[at], words[at + reach]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    found = words[0];
#elif OP == 1
    words[at] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    found = words[at ^ 1] + add;
#else // a bit for each
    if (at < GROUP_X / 32) {
        words[at] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x < (1u << 30)) {
        atomic_or((volatile local uint*)&words[at / 32], 1u << (at % 32));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    found = x + add * (words[0] & 1);
#endif
    // The next one writes where this one was read.
    barrier(CLK_LOCAL_MEM_FENCE);
    return found;
}

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void local_chain(global const uint* restrict data, global uint* restrict out,
    const Params p) {
    local uint words[GROUP_X];
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    // Those of a group have one number to begin with where the greatest is asked for.
    uint x = data[(OP == 0 ? i / GROUP_X : i) & 1023];
    for (uint k = 0; k <= 4 * p.passes; ++k) {
        x = next(x, i, p.add, words);
    }
    if (i < p.n) {
        out[i] = x;
    }
}
