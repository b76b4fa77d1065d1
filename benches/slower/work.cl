// A copy that computes beside it: STEPS decides how long an item takes, and not what comes out.
typedef struct { uint n; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void work(global const float* a, global float* out, const Params p) {
    uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i < p.n) {
        uint x = as_uint(a[i]) | 1u;
        for (uint step = 0; step < STEPS; step++) {
            x = (x ^ (x >> 15)) * 2654435761u;
        }
        // Each step maps nothing but 0 to 0, so x is never 0; compilers do not know that.
        out[i] = x == 0u ? 0.0f : a[i];
    }
}
