// One step of a seven-point stencil in space: a point becomes a weighted sum of itself and its
// six neighbours; the outermost points are copied. A group brings a box of points with its halo
// into local memory, one result per work-item.

const WIDTH = GROUP_X + 2;
const HEIGHT = GROUP_Y + 2;
const VOLUME = WIDTH * HEIGHT * (GROUP_Z + 2);
const ITEMS = GROUP_X * GROUP_Y * GROUP_Z;

// Computes the `count` planes from plane `first` on.
struct Params { planes: u32, rows: u32, cols: u32, first: u32, count: u32, centre: f32, side: f32 }

@group(0) @binding(0) var<storage, read> before: array<f32>;
@group(0) @binding(1) var<storage, read_write> after: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

var<workgroup> tile: array<f32, VOLUME>;

// The coordinate of tile position `t` in a group that begins at `start`, clamped to the grid.
fn clamped(start: u32, t: u32, size: u32) -> u32 {
    return min(max(start + t, 1u) - 1, size - 1);
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn stencil_3d_7_blocked_3d(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lx = local.x;
    let ly = local.y;
    let lz = local.z;
    let x = id.x;
    let y = id.y;
    let z = p.first + id.z;
    let plane = p.rows * p.cols;

    for (var t = (lz * GROUP_Y + ly) * GROUP_X + lx; t < VOLUME; t += ITEMS) {
        let from_x = clamped(x - lx, t % WIDTH, p.cols);
        let from_y = clamped(y - ly, t / WIDTH % HEIGHT, p.rows);
        let from_z = clamped(z - lz, t / (WIDTH * HEIGHT), p.planes);
        tile[t] = before[from_z * plane + from_y * p.cols + from_x];
    }
    workgroupBarrier();
    if (x >= p.cols || y >= p.rows || z >= p.first + p.count) { return; }

    let t = ((lz + 1) * HEIGHT + ly + 1) * WIDTH + lx + 1;
    var value = tile[t];
    if (x > 0 && x + 1 < p.cols && y > 0 && y + 1 < p.rows && z > 0 && z + 1 < p.planes) {
        let sides = tile[t - 1] + tile[t + 1] + tile[t - WIDTH] + tile[t + WIDTH]
                  + tile[t - WIDTH * HEIGHT] + tile[t + WIDTH * HEIGHT];
        value = fma(p.side, sides, p.centre * value);
    }
    after[z * plane + y * p.cols + x] = value;
}
