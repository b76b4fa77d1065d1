// One step of a chip's temperature on a plane: each cell is warmed by its power and by its warmer
// neighbours, and cools towards the ambient temperature. Cells at the edge have themselves for the
// neighbour that is missing. A group reads its cells and those around them into local memory.
const WIDTH = GROUP_X + 2;
const HEIGHT = GROUP_Y + 2;

struct Params { rows: u32, cols: u32, step: f32, across: f32, down: f32, out: f32, ambient: f32 }

@group(0) @binding(0) var<storage, read> before: array<f32>;
@group(0) @binding(1) var<storage, read> power: array<f32>;
@group(0) @binding(2) var<storage, read_write> after: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

var<workgroup> tile: array<array<f32, WIDTH>, HEIGHT>;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn hotspot_2d(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
) {
    let left = group.x * GROUP_X;
    let top = group.y * GROUP_Y;
    for (var y = local.y; y < HEIGHT; y += GROUP_Y) {
        let row = min(max(top + y, 1u) - 1, p.rows - 1);
        for (var x = local.x; x < WIDTH; x += GROUP_X) {
            tile[y][x] = before[row * p.cols + min(max(left + x, 1u) - 1, p.cols - 1)];
        }
    }
    workgroupBarrier();
    let col = id.x;
    let row = id.y;
    if (row >= p.rows || col >= p.cols) { return; }

    let x = local.x + 1;
    let y = local.y + 1;
    let t = tile[y][x];
    let sides = (tile[y][x - 1] + tile[y][x + 1] - 2.0 * t) * p.across
        + (tile[y - 1][x] + tile[y + 1][x] - 2.0 * t) * p.down + (p.ambient - t) * p.out;
    after[row * p.cols + col] = t + p.step * (power[row * p.cols + col] + sides);
}
