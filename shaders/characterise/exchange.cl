// A number goes round the group through local memory, one neighbour on between two barriers:
// `passes` times REPEAT barriers. Two halves of the memory in turn make one barrier a step enough.
typedef struct { uint n; uint passes; uint add; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void exchange(global const uint* restrict data, global uint* restrict out, const Params p) {
    local uint even[GROUP_X];
    local uint odd[GROUP_X];
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    const uint item = get_local_id(0);
    const uint beside = (item + 1) % GROUP_X;
    uint x = data[i & 1023];
    for (uint k = 0; k < p.passes; ++k) {
#pragma unroll
        for (uint r = 0; r < REPEAT; r += 2) {
            even[item] = x;
            barrier(CLK_LOCAL_MEM_FENCE);
            x = even[beside] + p.add;
            odd[item] = x;
            barrier(CLK_LOCAL_MEM_FENCE);
            x = odd[beside] + p.add;
        }
    }
    if (i < p.n) {
        out[i] = x;
    }
}
