// Global memory, REPEAT accesses a work-item: MODE 0 reads (and writes one sum), 1 writes, 2
// copies. Each group has a block of MAX_REPEAT rows of its own, one V of each of its items wide, so
// that builds which differ in REPEAT differ in whole rows and in nothing else.
typedef struct { uint n; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void stream(global const V* restrict data, global V* restrict out, const Params p) {
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i >= p.n / (MAX_REPEAT * V_WIDTH)) {
        return;
    }
    const uint first = (i / GROUP_X) * (MAX_REPEAT * GROUP_X) + i % GROUP_X;
#if MODE == 0
    V sum = (V)(i);
#pragma unroll
    for (uint r = 0; r < REPEAT; ++r) {
        sum += data[first + r * GROUP_X];
    }
    out[i] = sum;
#elif MODE == 1
#pragma unroll
    for (uint r = 0; r < REPEAT; ++r) {
        out[first + r * GROUP_X] = (V)(i + r);
    }
#else
#pragma unroll
    for (uint r = 0; r < REPEAT; ++r) {
        out[first + r * GROUP_X] = data[first + r * GROUP_X];
    }
#endif
}
