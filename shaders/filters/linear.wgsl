// Mean of a pixel and its eight neighbours, coordinates clamped to the image. A work-item walks
// down ROWS pixels of one column and keeps the sums of the rows above and below, so that each
// row of three is read once per work-item.

// Computes the `count` rows from row `first` on.
struct Params { rows: u32, cols: u32, first: u32, count: u32 }

@group(0) @binding(0) var<storage, read> image: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<uniform> p: Params;

fn three(y: u32, x: u32) -> vec4<f32> {
    let left = max(x, 1u) - 1;
    let right = min(x + 1, p.cols - 1);
    let row = y * p.cols;
    return image[row + left] + image[row + x] + image[row + right];
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn linear(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = id.x;
    let start = p.first + id.y * ROWS;
    let end = min(start + ROWS, p.first + p.count);
    if (x >= p.cols || start >= end) { return; }

    var above = three(max(start, 1u) - 1, x);
    var here = three(start, x);
    for (var y = start; y < end; y++) {
        let below = three(min(y + 1, p.rows - 1), x);
        result[y * p.cols + x] = (above + here + below) * (1.0 / 9.0);
        above = here;
        here = below;
    }
}
