// Read-only bandwidth: a group adds up one segment of `a` (of `segment` scalars, a multiple of
// four; the last may be short) and writes the sum, modulo 2^32, so that its order is of no matter.
// GROUP_X is a power of two. Four loads are under way at a time.
typedef struct { uint n; uint segment; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void read_sum(global const uint4* restrict a, global uint* restrict out, const Params p) {
    local uint sums[GROUP_X];
    const uint lid = get_local_id(0);
    const uint group = get_group_id(0) + get_group_id(1) * get_num_groups(0);
    const uint segments = (p.n + p.segment - 1) / p.segment;
    const uint first = min(group, segments) * (p.segment / 4);
    const uint end = min(first + p.segment / 4, p.n / 4);

    uint4 s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    uint i = first + lid;
    for (; i + 3 * GROUP_X < end; i += 4 * GROUP_X) {
        s0 += a[i];
        s1 += a[i + GROUP_X];
        s2 += a[i + 2 * GROUP_X];
        s3 += a[i + 3 * GROUP_X];
    }
    for (; i < end; i += GROUP_X) {
        s0 += a[i];
    }
    s0 += s1 + s2 + s3;
    sums[lid] = s0.x + s0.y + s0.z + s0.w;

    for (uint half_of = GROUP_X / 2; half_of > 0; half_of /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < half_of) {
            sums[lid] += sums[lid + half_of];
        }
    }
    if (lid == 0 && group < segments) {
        out[group] = sums[0];
    }
}
