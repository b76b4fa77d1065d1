// One step of a chip's temperature in layers: each cell becomes a weighted sum of itself, its six
// neighbours and its power, and `ambient` is added. Cells at the edge have themselves for the
// neighbour that is missing. A work-item walks through all layers and keeps the cells below, at and
// above it in registers.
struct Params {
    layers: u32, rows: u32, cols: u32, centre: f32, side: f32, over: f32, heat: f32, ambient: f32,
}

@group(0) @binding(0) var<storage, read> before: array<f32>;
@group(0) @binding(1) var<storage, read> power: array<f32>;
@group(0) @binding(2) var<storage, read_write> after: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn hotspot_3d(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = id.x;
    let y = id.y;
    if (x >= p.cols || y >= p.rows) { return; }

    let layer = p.rows * p.cols;
    let west = select(0u, 1u, x > 0);
    let east = select(0u, 1u, x + 1 < p.cols);
    let north = select(0u, p.cols, y > 0);
    let south = select(0u, p.cols, y + 1 < p.rows);
    var i = y * p.cols + x;
    var here = before[i];
    var below = here;
    for (var z = 0u; z < p.layers; z++) {
        let above = before[select(i, i + layer, z + 1 < p.layers)];
        let sides = before[i - west] + before[i + east] + before[i - north] + before[i + south];
        after[i] = p.centre * here + p.side * sides + p.over * (below + above)
            + p.heat * power[i] + p.ambient;
        below = here;
        here = above;
        i += layer;
    }
}
