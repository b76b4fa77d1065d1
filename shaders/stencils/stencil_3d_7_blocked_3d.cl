// One step of a seven-point stencil in space: a point becomes a weighted sum of itself and its
// six neighbours; the outermost points are copied. A group brings a box of points with its halo
// into local memory, one result per work-item.

#define WIDTH (GROUP_X + 2)
#define HEIGHT (GROUP_Y + 2)
#define VOLUME (WIDTH * HEIGHT * (GROUP_Z + 2))
#define ITEMS (GROUP_X * GROUP_Y * GROUP_Z)

// Computes the `count` planes from plane `first` on.
typedef struct { uint planes, rows, cols, first, count; float centre, side; } Params;

// The coordinate of tile position `t` in a group that begins at `start`, clamped to the grid.
uint clamped(uint start, uint t, uint size)
{
    return min(max(start + t, 1u) - 1, size - 1);
}

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void stencil_3d_7_blocked_3d(global const float* restrict before,
                                    global float* restrict after, const Params p)
{
    local float tile[VOLUME];
    const uint lx = get_local_id(0);
    const uint ly = get_local_id(1);
    const uint lz = get_local_id(2);
    const uint x = get_global_id(0);
    const uint y = get_global_id(1);
    const uint z = p.first + get_global_id(2);
    const uint plane = p.rows * p.cols;

    for (uint t = (lz * GROUP_Y + ly) * GROUP_X + lx; t < VOLUME; t += ITEMS) {
        const uint from_x = clamped(x - lx, t % WIDTH, p.cols);
        const uint from_y = clamped(y - ly, t / WIDTH % HEIGHT, p.rows);
        const uint from_z = clamped(z - lz, t / (WIDTH * HEIGHT), p.planes);
        tile[t] = before[from_z * plane + from_y * p.cols + from_x];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x >= p.cols || y >= p.rows || z >= p.first + p.count) return;

    const uint t = ((lz + 1) * HEIGHT + ly + 1) * WIDTH + lx + 1;
    float value = tile[t];
    if (x > 0 && x + 1 < p.cols && y > 0 && y + 1 < p.rows && z > 0 && z + 1 < p.planes) {
        const float sides = tile[t - 1] + tile[t + 1] + tile[t - WIDTH] + tile[t + WIDTH]
                          + tile[t - WIDTH * HEIGHT] + tile[t + WIDTH * HEIGHT];
        value = mad(p.side, sides, p.centre * value);
    }
    after[z * plane + y * p.cols + x] = value;
}
