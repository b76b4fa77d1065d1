// Sum of `n` numbers modulo 2^32, so that their order is of no matter, in two passes: first each
// group adds up `share` numbers of its own (neighbours read neighbours, then halves of the group
// are added in local memory), then one group adds up what they left behind sums[0], and writes
// the total there.
typedef struct { uint n, share, last; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void reduction(global const uint* restrict data, global uint* restrict sums,
                      const Params p)
{
    local uint part[GROUP_X];
    const uint lane = get_local_id(0);
    const uint group = get_group_id(0);

    uint sum = 0;
    if (p.last == 0) {
        const uint end = min((group + 1) * p.share, p.n);
        for (uint i = group * p.share + lane; i < end; i += GROUP_X) sum += data[i];
    } else {
        const uint shares = (p.n + p.share - 1) / p.share;
        for (uint i = lane; i < shares; i += GROUP_X) sum += sums[1 + i];
    }
    part[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint width = GROUP_X / 2; width > 0; width /= 2) {
        if (lane < width) part[lane] += part[lane + width];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0) sums[p.last == 0 ? 1 + group : 0] = part[0];
}
