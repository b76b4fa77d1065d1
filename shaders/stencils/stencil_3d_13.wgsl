// One step of a thirteen-point stencil in space: a point becomes a weighted sum of itself and
// its two nearest neighbours on either side along each axis; the two outermost layers are
// copied. A work-item walks through DEPTH planes and keeps the points of five in registers.

// Computes the `count` planes from plane `first` on.
struct Params { planes: u32, rows: u32, cols: u32, first: u32, count: u32, centre: f32, near: f32, far: f32 }

@group(0) @binding(0) var<storage, read> before: array<f32>;
@group(0) @binding(1) var<storage, read_write> after: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn stencil_3d_13(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = id.x;
    let y = id.y;
    let start = p.first + id.z * DEPTH;
    let end = min(start + DEPTH, p.first + p.count);
    if (x >= p.cols || y >= p.rows || start >= end) { return; }

    let last = p.planes - 1;
    let plane = p.rows * p.cols;
    let at = y * p.cols + x;
    let inside = x > 1 && x + 2 < p.cols && y > 1 && y + 2 < p.rows;
    var behind2 = before[(max(start, 2u) - 2) * plane + at];
    var behind = before[(max(start, 1u) - 1) * plane + at];
    var here = before[start * plane + at];
    var ahead = before[min(start + 1, last) * plane + at];
    for (var z = start; z < end; z++) {
        let i = z * plane + at;
        let ahead2 = before[min(z + 2, last) * plane + at];
        var value = here;
        if (inside && z > 1 && z + 2 < p.planes) {
            let near = before[i - 1] + before[i + 1] + before[i - p.cols]
                     + before[i + p.cols] + behind + ahead;
            let far = before[i - 2] + before[i + 2] + before[i - 2 * p.cols]
                    + before[i + 2 * p.cols] + behind2 + ahead2;
            value = fma(p.far, far, fma(p.near, near, p.centre * here));
        }
        after[i] = value;
        behind2 = behind;
        behind = here;
        here = ahead;
        ahead = ahead2;
    }
}
