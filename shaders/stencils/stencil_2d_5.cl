// One step of a five-point stencil on a plane: a point becomes a weighted sum of itself and its
// four neighbours; the outermost points are copied. A work-item walks down ROWS points of one
// column and keeps those above and below in registers.

// Computes the `count` rows from row `first` on.
typedef struct { uint rows, cols, first, count; float centre, side; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void stencil_2d_5(global const float* restrict before, global float* restrict after,
                         const Params p)
{
    const uint x = get_global_id(0);
    const uint start = p.first + get_global_id(1) * ROWS;
    const uint end = min(start + ROWS, p.first + p.count);
    if (x >= p.cols || start >= end) return;

    const bool inside = x > 0 && x + 1 < p.cols;
    float above = before[(max(start, 1u) - 1) * p.cols + x];
    float here = before[start * p.cols + x];
    for (uint y = start; y < end; y++) {
        const uint i = y * p.cols + x;
        const float below = before[min(y + 1, p.rows - 1) * p.cols + x];
        float value = here;
        if (inside && y > 0 && y + 1 < p.rows) {
            const float sides = above + below + before[i - 1] + before[i + 1];
            value = mad(p.side, sides, p.centre * here);
        }
        after[i] = value;
        above = here;
        here = below;
    }
}
