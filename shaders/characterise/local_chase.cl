// Each work-item follows words of local memory, `passes` times 16*REPEAT of them: each load's
// place is what the load before gave. Neighbours begin STRIDE words apart and stay so, but for
// a random half of the 2048 words, which changes no bank of up to 1024.
typedef struct { uint n; uint passes; } Params;

uint hop4(local const uint* next, uint x) {
    return next[next[next[next[x]]]];
}

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void local_chase(global const uint* restrict data, global uint* restrict out, const Params p) {
    local uint next[2048];
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    const uint item = get_local_id(0);
    for (uint k = item; k < 2048; k += GROUP_X) {
        next[k] = (k & 1023) | ((data[k] & 1) << 10);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint x = (item * STRIDE) & 2047;
    for (uint k = 0; k < p.passes; ++k) {
#pragma unroll
        for (uint r = 0; r < REPEAT; ++r) {
            x = hop4(next, hop4(next, hop4(next, hop4(next, x))));
        }
    }
    if (i < p.n) {
        out[i] = x;
    }
}
