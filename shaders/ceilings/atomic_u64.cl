// Each work-item adds 1 to a counter of 64 bits, `times` times, and nothing can come between: all
// to one counter (SPREAD 0), or each to its own (SPREAD 1).
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
typedef struct { uint n; uint times; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void atomic_u64(global ulong* restrict counters, const Params p) {
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i >= p.n) {
        return;
    }
    for (uint k = 0; k < p.times; ++k) {
        atom_add(&counters[i * SPREAD], (ulong)1);
    }
}
