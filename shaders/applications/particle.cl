// Resampling of a particle filter: each particle takes the place of the first one whose cumulative
// weight (they sum up to `n`) is not below its draw, looked for from the first one on.
typedef struct { uint n; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void particle(global const float* restrict cumulative, global const float* restrict draw,
                     global const float2* restrict place, global float2* restrict taken,
                     const Params p)
{
    const uint i = get_global_id(0);
    if (i >= p.n) return;

    const float wanted = draw[i] * (float)p.n;
    uint found = 0;
    while (found + 1 < p.n && cumulative[found] < wanted) found++;
    taken[i] = place[found];
}
