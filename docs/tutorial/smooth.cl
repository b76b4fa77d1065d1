// Mean of three neighbours; the first and the last number stay.
typedef struct { uint n; } Params;

__attribute__((reqd_work_group_size(GROUP_X, 1, 1)))
kernel void smooth_line(global const float* restrict in, global float* restrict out, const Params p)
{
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i >= p.n) return;
    const bool inside = i > 0 && i + 1 < p.n;
    out[i] = inside ? (in[i - 1] + in[i] + in[i + 1]) / 3.0f : in[i];
}
