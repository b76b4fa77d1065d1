// An array filled with pseudo-random numbers: `steps` steps of a linear congruential generator from
// each place's own position on, so that computing takes as long as wanted beside copying.

// Fills `count` places from place `first` on.
typedef struct { uint n, first, count, steps; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void initialise(global uint* restrict out, const Params p) {
    const uint i = p.first + get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i >= p.first + p.count) return;

    uint x = i;
    for (uint step = 0; step < p.steps; step++) x = x * 1664525u + 1013904223u;
    out[i] = x;
}
