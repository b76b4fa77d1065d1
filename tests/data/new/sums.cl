// The sum of each group's numbers.
kernel void group_sums(global const float *x, global float *sums, local float *part, const uint n) {
    const uint i = get_global_id(0), l = get_local_id(0);
    part[l] = i < n ? x[i] : 0.0f;
    for (uint half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < half_size) part[l] += part[l + half_size];
    }
    if (l == 0) sums[get_group_id(0)] = part[0];
}
