// One step of a seven-point stencil in space: a point becomes a weighted sum of itself and its
// six neighbours; the outermost points are copied. Deliberately strided: the grid's first
// dimension walks through the planes, so that neighbouring work-items touch points a whole
// plane apart.

// Computes the `count` planes from plane `first` on.
struct Params { planes: u32, rows: u32, cols: u32, first: u32, count: u32, centre: f32, side: f32 }

@group(0) @binding(0) var<storage, read> before: array<f32>;
@group(0) @binding(1) var<storage, read_write> after: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn stencil_3d_7_strided(@builtin(global_invocation_id) id: vec3<u32>) {
    let z = p.first + id.x;
    let y = id.y;
    let x = id.z;
    if (x >= p.cols || y >= p.rows || z >= p.first + p.count) { return; }

    let plane = p.rows * p.cols;
    let i = z * plane + y * p.cols + x;
    var value = before[i];
    if (x > 0 && x + 1 < p.cols && y > 0 && y + 1 < p.rows && z > 0 && z + 1 < p.planes) {
        let sides = before[i - 1] + before[i + 1] + before[i - p.cols]
                  + before[i + p.cols] + before[i - plane] + before[i + plane];
        value = fma(p.side, sides, p.centre * value);
    }
    after[i] = value;
}
