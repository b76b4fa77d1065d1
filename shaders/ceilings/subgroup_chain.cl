// Work-items of a subgroup that hear of each other, `passes` times four times: OP 0 takes the
// greatest number of all, 1 that of the neighbour, 2 asks who has a small one. Each needs the result
// of the one before, and each adds `add`, so that a lost step shows.
typedef struct { uint n; uint passes; uint add; } Params;

#ifdef cl_khr_subgroups
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif
#ifdef cl_khr_subgroup_shuffle
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable
#endif
#ifdef cl_khr_subgroup_ballot
#pragma OPENCL EXTENSION cl_khr_subgroup_ballot : enable
#endif

uint next(uint x, uint i, uint add) {
#if OP == 0
    return sub_group_reduce_max(x + add * (i & 1));
#elif OP == 1
    return sub_group_shuffle_xor(x, 1) + add;
#else
    return x + add * (sub_group_ballot(x < (1u << 30)).x & 1);
#endif
}

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void subgroup_chain(global const uint* restrict data, global uint* restrict out,
    const Params p) {
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    // Those of a group have one number to begin with where the greatest is asked for.
    uint x = data[(OP == 0 ? i / GROUP_X : i) & 1023];
    for (uint k = 0; k < p.passes; ++k) {
        x = next(next(next(next(x, i, p.add), i, p.add), i, p.add), i, p.add);
    }
    // An odd number of times, so that a neighbour's number is not one's own again.
    x = next(x, i, p.add);
    if (i < p.n) {
        out[i] = x;
    }
}
