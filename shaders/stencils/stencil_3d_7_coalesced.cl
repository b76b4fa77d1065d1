// One step of a seven-point stencil in space: a point becomes a weighted sum of itself and its
// six neighbours; the outermost points are copied. Neighbouring work-items take points that lie
// side by side in memory.

// Computes the `count` planes from plane `first` on.
typedef struct { uint planes, rows, cols, first, count; float centre, side; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void stencil_3d_7_coalesced(global const float* restrict before,
                                   global float* restrict after, const Params p)
{
    const uint x = get_global_id(0);
    const uint y = get_global_id(1);
    const uint z = p.first + get_global_id(2);
    if (x >= p.cols || y >= p.rows || z >= p.first + p.count) return;

    const uint plane = p.rows * p.cols;
    const uint i = z * plane + y * p.cols + x;
    float value = before[i];
    if (x > 0 && x + 1 < p.cols && y > 0 && y + 1 < p.rows && z > 0 && z + 1 < p.planes) {
        const float sides = before[i - 1] + before[i + 1] + before[i - p.cols]
                          + before[i + p.cols] + before[i - plane] + before[i + plane];
        value = mad(p.side, sides, p.centre * value);
    }
    after[i] = value;
}
