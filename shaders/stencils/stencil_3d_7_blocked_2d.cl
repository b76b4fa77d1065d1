// One step of a seven-point stencil in space: a point becomes a weighted sum of itself and its
// six neighbours; the outermost points are copied. A group holds a tile of one plane with its
// halo in local memory and walks through DEPTH planes; each work-item keeps the points of the
// planes behind and ahead in registers.

// Computes the `count` planes from plane `first` on.
typedef struct { uint planes, rows, cols, first, count; float centre, side; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void stencil_3d_7_blocked_2d(global const float* restrict before,
                                    global float* restrict after, const Params p)
{
    local float tile[GROUP_Y + 2][GROUP_X + 2];
    const uint x = get_global_id(0);
    const uint y = get_global_id(1);
    const uint tx = get_local_id(0) + 1;
    const uint ty = get_local_id(1) + 1;
    const bool exists = x < p.cols && y < p.rows;
    const bool inside = x > 0 && x + 1 < p.cols && y > 0 && y + 1 < p.rows;

    // Work-items beyond the edge repeat the last point, since all must reach the barriers.
    const uint plane = p.rows * p.cols;
    const uint row = min(y, p.rows - 1) * p.cols;
    const uint col = min(x, p.cols - 1);
    const uint here_at = row + col;
    const uint up = min(max(y, 1u) - 1, p.rows - 1) * p.cols + col;
    const uint down = min(y + 1, p.rows - 1) * p.cols + col;
    const uint left = row + min(max(x, 1u) - 1, p.cols - 1);
    const uint right = row + min(x + 1, p.cols - 1);

    const uint start = p.first + get_group_id(2) * DEPTH;
    const uint end = min(start + DEPTH, p.first + p.count);
    float behind = before[(max(start, 1u) - 1) * plane + here_at];
    float here = before[start * plane + here_at];
    for (uint z = start; z < end; z++) {
        global const float* from = before + z * plane;
        const float ahead = before[min(z + 1, p.planes - 1) * plane + here_at];
        tile[ty][tx] = here;
        if (ty == 1) tile[0][tx] = from[up];
        if (ty == GROUP_Y) tile[GROUP_Y + 1][tx] = from[down];
        if (tx == 1) tile[ty][0] = from[left];
        if (tx == GROUP_X) tile[ty][GROUP_X + 1] = from[right];
        barrier(CLK_LOCAL_MEM_FENCE);
        float value = here;
        if (inside && z > 0 && z + 1 < p.planes) {
            const float sides = tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx]
                              + tile[ty + 1][tx] + behind + ahead;
            value = mad(p.side, sides, p.centre * here);
        }
        if (exists) after[z * plane + here_at] = value;
        barrier(CLK_LOCAL_MEM_FENCE);
        behind = here;
        here = ahead;
    }
}
