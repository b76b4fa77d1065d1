// Every slice of rows x cols elements is transposed through local memory, so that reads and
// writes are both coalesced. A group of TILE x GROUP_Y work-items moves a tile of TILE x TILE.
// PAD elements behind each row of the tile (one is enough) put its columns into different banks.
// A row of the tile is one work-group wide.
const_assert GROUP_X == TILE;
const PITCH = TILE + PAD;

struct Params { rows: u32, cols: u32 }

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

var<workgroup> tile: array<f32, TILE * PITCH>;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn transpose_tiled(@builtin(local_invocation_id) lid: vec3<u32>,
                   @builtin(workgroup_id) group: vec3<u32>) {
    let lx = lid.x;
    let x0 = group.x * TILE;
    let y0 = group.y * TILE;
    let slice = group.z * p.rows * p.cols;

    if (x0 + lx < p.cols) {
        for (var y = lid.y; y < TILE && y0 + y < p.rows; y += GROUP_Y) {
            tile[y * PITCH + lx] = a[slice + (y0 + y) * p.cols + x0 + lx];
        }
    }
    workgroupBarrier();
    if (y0 + lx < p.rows) {
        for (var x = lid.y; x < TILE && x0 + x < p.cols; x += GROUP_Y) {
            out[slice + (x0 + x) * p.rows + y0 + lx] = tile[lx * PITCH + x];
        }
    }
}
