// out = transpose of a (rows x cols, row after row), one element a work-item, no local memory:
// reads are coalesced, writes stride by a whole row.
typedef struct { uint rows; uint cols; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void transpose_naive(global const float* restrict a, global float* restrict out,
                            const Params p) {
    const uint x = get_global_id(0);
    const uint y = get_global_id(1);
    if (x < p.cols && y < p.rows) {
        out[x * p.rows + y] = a[y * p.cols + x];
    }
}
