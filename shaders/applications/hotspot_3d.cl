// One step of a chip's temperature in layers: each cell becomes a weighted sum of itself, its six
// neighbours and its power, and `ambient` is added. Cells at the edge have themselves for the
// neighbour that is missing. A work-item walks through all layers and keeps the cells below, at and
// above it in registers.
typedef struct { uint layers, rows, cols; float centre, side, over, heat, ambient; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void hotspot_3d(global const float* restrict before, global const float* restrict power,
                       global float* restrict after, const Params p)
{
    const uint x = get_global_id(0);
    const uint y = get_global_id(1);
    if (x >= p.cols || y >= p.rows) return;

    const uint layer = p.rows * p.cols;
    const uint west = x > 0 ? 1 : 0;
    const uint east = x + 1 < p.cols ? 1 : 0;
    const uint north = y > 0 ? p.cols : 0;
    const uint south = y + 1 < p.rows ? p.cols : 0;
    uint i = y * p.cols + x;
    float here = before[i];
    float below = here;
    for (uint z = 0; z < p.layers; z++) {
        const float above = before[z + 1 < p.layers ? i + layer : i];
        const float sides = before[i - west] + before[i + east] + before[i - north] + before[i + south];
        after[i] = p.centre * here + p.side * sides + p.over * (below + above)
            + p.heat * power[i] + p.ambient;
        below = here;
        here = above;
        i += layer;
    }
}
