// out = factor*in, VALUES numbers a work-item.
typedef struct { uint n; float factor; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void scale(global const float* in, global float* out, const Params p) {
    const uint first = get_global_id(0) * VALUES;
    for (uint i = first; i < min(first + VALUES, p.n); ++i) {
        out[i] = p.factor * in[i];
    }
}
