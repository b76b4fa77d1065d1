// One pass of the fast Walsh transform, in place: two numbers `apart` places from each other become
// their sum and their difference. With apart = 1, 2, 4 … up to half of a block, whole blocks are
// transformed. A number whose partner lies beyond the end stays as it is.
typedef struct { uint n, apart; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void walsh(global float* restrict data, const Params p) {
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    const uint low = i / p.apart * (2 * p.apart) + i % p.apart;
    const uint high = low + p.apart;
    if (high >= p.n) return;

    const float a = data[low];
    const float b = data[high];
    data[low] = a + b;
    data[high] = a - b;
}
