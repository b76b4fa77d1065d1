// The cheapest path down a grid, `rows` rows of it: a field can be entered from the three above
// it. A group takes so many columns that, with as many more on either side as rows, it needs no
// other one: each row makes one of these worthless.
typedef struct { uint cols, rows; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void pathfinder(global const uint* restrict wall, global const uint* restrict cost,
                       global uint* restrict out, const Params p)
{
    local uint best[2][GROUP_X];
    const uint lane = get_local_id(0);
    const uint group = get_group_id(0) + get_group_id(1) * get_num_groups(0);
    // Wraps around left of the grid, where it is no column either.
    const uint x = group * (GROUP_X - 2 * p.rows) + lane - p.rows;
    const bool inside = x < p.cols;

    best[0][lane] = inside ? cost[x] : UINT_MAX;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint row = 0; row < p.rows; row++) {
        local const uint* above = best[row % 2];
        uint value = UINT_MAX;
        if (inside) {
            const uint sides = min(above[max(lane, 1u) - 1], above[min(lane + 1, GROUP_X - 1u)]);
            value = min(sides, above[lane]) + wall[row * p.cols + x];
        }
        best[1 - row % 2][lane] = value;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (inside && lane >= p.rows && lane < GROUP_X - p.rows) out[x] = best[p.rows % 2][lane];
}
