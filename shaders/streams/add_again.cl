// The sum of two vectors, the second added `steps` times and the sign dropped each time, so that computing takes as
// long as wanted beside copying. A compiler that may reorder additions would multiply once without that.

// Computes `count` sums from place `first` on.
typedef struct { uint n, first, count, steps; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void add_again(global const float* restrict a, global const float* restrict b,
                      global float* restrict out, const Params p)
{
    const uint i = p.first + get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i >= p.first + p.count) return;

    float sum = a[i];
    const float more = b[i];
    for (uint step = 0; step < p.steps; step++) sum = fabs(sum + more);
    out[i] = sum;
}
