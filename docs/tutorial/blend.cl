// out = b + s·c, one number per work-item. gpubench defines GROUP_X.
typedef struct { uint n; float s; } Params;

__attribute__((reqd_work_group_size(GROUP_X, 1, 1)))
kernel void blend(global const float* restrict b, global const float* restrict c,
                  global float* restrict out, const Params p)
{
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i < p.n) out[i] = b[i] + p.s * c[i];
}
