// Each work-item adds to a counter, REPEAT times 16: all to one (SPREAD 0), or each to its own
// (SPREAD 1).
typedef struct { uint n; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void atomics(global uint* restrict counters, const Params p) {
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i >= p.n) {
        return;
    }
    for (uint r = 0; r < 16 * REPEAT; ++r) {
        atomic_add(&counters[i * SPREAD], r + 1);
    }
}
