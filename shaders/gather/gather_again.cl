// out[i] = a[i] + the sum over j < times of b[d*((i + j*shift) mod n) + f]: the numbers in strides are read several
// times a launch. shift is at most n.
typedef struct { uint n, d, f, times, shift; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void gather_again(global const float* restrict a, global const float* restrict b,
                         global float* restrict out, const Params p) {
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i < p.n) {
        float sum = a[i];
        uint at = i;
        for (uint j = 0; j < p.times; j++) {
            sum += b[p.d * at + p.f];
            at += p.shift;
            at -= at >= p.n ? p.n : 0u;
        }
        out[i] = sum;
    }
}
