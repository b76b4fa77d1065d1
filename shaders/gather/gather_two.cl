// out[y][x] = a[y][x] + b[dx*x + dy*y + f]: neighbouring work-items are neighbours along x.
typedef struct { uint cols, rows, dx, dy, f; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void gather_two(global const float* restrict a, global const float* restrict b,
                       global float* restrict out, const Params p) {
    const uint x = get_global_id(0);
    const uint y = get_global_id(1);
    if (x < p.cols && y < p.rows) {
        out[y * p.cols + x] = a[y * p.cols + x] + b[p.dx * x + p.dy * y + p.f];
    }
}
