// One step of a seven-point stencil in space: a point becomes a weighted sum of itself and its
// six neighbours; the outermost points are copied. A group holds a tile of one plane with its
// halo in local memory and walks through DEPTH planes; each work-item keeps the points of the
// planes behind and ahead in registers.

// Computes the `count` planes from plane `first` on.
struct Params { planes: u32, rows: u32, cols: u32, first: u32, count: u32, centre: f32, side: f32 }

@group(0) @binding(0) var<storage, read> before: array<f32>;
@group(0) @binding(1) var<storage, read_write> after: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

var<workgroup> tile: array<array<f32, GROUP_X + 2>, GROUP_Y + 2>;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn stencil_3d_7_blocked_2d(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
) {
    let x = id.x;
    let y = id.y;
    let tx = local.x + 1;
    let ty = local.y + 1;
    let exists = x < p.cols && y < p.rows;
    let inside = x > 0 && x + 1 < p.cols && y > 0 && y + 1 < p.rows;

    // Work-items beyond the edge repeat the last point, since all must reach the barriers.
    let plane = p.rows * p.cols;
    let row = min(y, p.rows - 1) * p.cols;
    let col = min(x, p.cols - 1);
    let here_at = row + col;
    let up = min(max(y, 1u) - 1, p.rows - 1) * p.cols + col;
    let down = min(y + 1, p.rows - 1) * p.cols + col;
    let left = row + min(max(x, 1u) - 1, p.cols - 1);
    let right = row + min(x + 1, p.cols - 1);

    let start = p.first + group.z * DEPTH;
    let end = min(start + DEPTH, p.first + p.count);
    var behind = before[(max(start, 1u) - 1) * plane + here_at];
    var here = before[start * plane + here_at];
    for (var z = start; z < end; z++) {
        let at = z * plane;
        let ahead = before[min(z + 1, p.planes - 1) * plane + here_at];
        tile[ty][tx] = here;
        if (ty == 1) { tile[0][tx] = before[at + up]; }
        if (ty == GROUP_Y) { tile[GROUP_Y + 1][tx] = before[at + down]; }
        if (tx == 1) { tile[ty][0] = before[at + left]; }
        if (tx == GROUP_X) { tile[ty][GROUP_X + 1] = before[at + right]; }
        workgroupBarrier();
        var value = here;
        if (inside && z > 0 && z + 1 < p.planes) {
            let sides = tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx]
                      + tile[ty + 1][tx] + behind + ahead;
            value = fma(p.side, sides, p.centre * here);
        }
        if (exists) { after[at + here_at] = value; }
        workgroupBarrier();
        behind = here;
        here = ahead;
    }
}
