// One step of a five-point stencil on a plane: a point becomes a weighted sum of itself and its
// four neighbours; the outermost points are copied. A work-item walks down ROWS points of one
// column and keeps those above and below in registers.

// Computes the `count` rows from row `first` on.
struct Params { rows: u32, cols: u32, first: u32, count: u32, centre: f32, side: f32 }

@group(0) @binding(0) var<storage, read> before: array<f32>;
@group(0) @binding(1) var<storage, read_write> after: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn stencil_2d_5(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = id.x;
    let start = p.first + id.y * ROWS;
    let end = min(start + ROWS, p.first + p.count);
    if (x >= p.cols || start >= end) { return; }

    let inside = x > 0 && x + 1 < p.cols;
    var above = before[(max(start, 1u) - 1) * p.cols + x];
    var here = before[start * p.cols + x];
    for (var y = start; y < end; y++) {
        let i = y * p.cols + x;
        let below = before[min(y + 1, p.rows - 1) * p.cols + x];
        var value = here;
        if (inside && y > 0 && y + 1 < p.rows) {
            let sides = above + below + before[i - 1] + before[i + 1];
            value = fma(p.side, sides, p.centre * here);
        }
        after[i] = value;
        above = here;
        here = below;
    }
}
