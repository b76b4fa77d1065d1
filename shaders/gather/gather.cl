// out[i] = a[i] + b[d*i + f]: the wider the stride d, the less of each memory transaction is used.
typedef struct { uint n; uint d; uint f; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void gather(global const float* restrict a, global const float* restrict b,
                   global float* restrict out, const Params p) {
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i < p.n) {
        out[i] = a[i] + b[p.d * i + p.f];
    }
}
