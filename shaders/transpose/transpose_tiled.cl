// Every slice of rows x cols elements is transposed through local memory, so that reads and
// writes are both coalesced. A group of TILE x GROUP_Y work-items moves a tile of TILE x TILE.
// PAD elements behind each row of the tile (one is enough) put its columns into different banks.
#if GROUP_X != TILE
#error "a row of the tile is one work-group wide: GROUP_X must be TILE"
#endif
#define PITCH (TILE + PAD)

typedef struct { uint rows; uint cols; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void transpose_tiled(global const float* restrict a, global float* restrict out,
                            const Params p) {
    local float tile[TILE * PITCH];
    const uint lx = get_local_id(0);
    const uint x0 = get_group_id(0) * TILE;
    const uint y0 = get_group_id(1) * TILE;
    const uint slice = get_group_id(2) * p.rows * p.cols;

    if (x0 + lx < p.cols) {
        for (uint y = get_local_id(1); y < TILE && y0 + y < p.rows; y += GROUP_Y) {
            tile[y * PITCH + lx] = a[slice + (y0 + y) * p.cols + x0 + lx];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (y0 + lx < p.rows) {
        for (uint x = get_local_id(1); x < TILE && x0 + x < p.cols; x += GROUP_Y) {
            out[slice + (x0 + x) * p.rows + y0 + lx] = tile[lx * PITCH + x];
        }
    }
}
