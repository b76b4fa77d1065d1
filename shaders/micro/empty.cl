// As little work as can still be verified: every work-item writes its own number.
__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void empty(global uint* restrict out) {
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    out[i] = i;
}
