// One step of a chip's temperature on a plane: each cell is warmed by its power and by its warmer
// neighbours, and cools towards the ambient temperature. Cells at the edge have themselves for the
// neighbour that is missing. A group reads its cells and those around them into local memory.
#define WIDTH (GROUP_X + 2)
#define HEIGHT (GROUP_Y + 2)

typedef struct { uint rows, cols; float step, across, down, out, ambient; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void hotspot_2d(global const float* restrict before, global const float* restrict power,
                       global float* restrict after, const Params p)
{
    local float tile[HEIGHT][WIDTH];
    const uint left = get_group_id(0) * GROUP_X;
    const uint top = get_group_id(1) * GROUP_Y;
    for (uint y = get_local_id(1); y < HEIGHT; y += GROUP_Y) {
        const uint row = min(max(top + y, 1u) - 1, p.rows - 1);
        for (uint x = get_local_id(0); x < WIDTH; x += GROUP_X) {
            tile[y][x] = before[row * p.cols + min(max(left + x, 1u) - 1, p.cols - 1)];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint col = get_global_id(0);
    const uint row = get_global_id(1);
    if (row >= p.rows || col >= p.cols) return;

    const uint x = get_local_id(0) + 1;
    const uint y = get_local_id(1) + 1;
    const float t = tile[y][x];
    const float sides = (tile[y][x - 1] + tile[y][x + 1] - 2.0f * t) * p.across
        + (tile[y - 1][x] + tile[y + 1][x] - 2.0f * t) * p.down + (p.ambient - t) * p.out;
    after[row * p.cols + col] = t + p.step * (power[row * p.cols + col] + sides);
}
