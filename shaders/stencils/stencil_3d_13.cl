// One step of a thirteen-point stencil in space: a point becomes a weighted sum of itself and
// its two nearest neighbours on either side along each axis; the two outermost layers are
// copied. A work-item walks through DEPTH planes and keeps the points of five in registers.

// Computes the `count` planes from plane `first` on.
typedef struct { uint planes, rows, cols, first, count; float centre, near, far; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void stencil_3d_13(global const float* restrict before, global float* restrict after,
                          const Params p)
{
    const uint x = get_global_id(0);
    const uint y = get_global_id(1);
    const uint start = p.first + get_global_id(2) * DEPTH;
    const uint end = min(start + DEPTH, p.first + p.count);
    if (x >= p.cols || y >= p.rows || start >= end) return;

    const uint last = p.planes - 1;
    const uint plane = p.rows * p.cols;
    const uint at = y * p.cols + x;
    const bool inside = x > 1 && x + 2 < p.cols && y > 1 && y + 2 < p.rows;
    float behind2 = before[(max(start, 2u) - 2) * plane + at];
    float behind = before[(max(start, 1u) - 1) * plane + at];
    float here = before[start * plane + at];
    float ahead = before[min(start + 1, last) * plane + at];
    for (uint z = start; z < end; z++) {
        const uint i = z * plane + at;
        const float ahead2 = before[min(z + 2, last) * plane + at];
        float value = here;
        if (inside && z > 1 && z + 2 < p.planes) {
            const float near = before[i - 1] + before[i + 1] + before[i - p.cols]
                             + before[i + p.cols] + behind + ahead;
            const float far = before[i - 2] + before[i + 2] + before[i - 2 * p.cols]
                            + before[i + 2 * p.cols] + behind2 + ahead2;
            value = mad(p.far, far, mad(p.near, near, p.centre * here));
        }
        after[i] = value;
        behind2 = behind;
        behind = here;
        here = ahead;
        ahead = ahead2;
    }
}
