// One step of speckle-reducing anisotropic diffusion: an image is smoothed where it varies no more
// than speckle does (`speckle`: the squared variation of such a part), and kept where it has edges.
// How well a point conducts is computed where it is needed: by itself and by its neighbours north
// and west of it.
struct Params { rows: u32, cols: u32, speckle: f32, rate: f32 }

@group(0) @binding(0) var<storage, read> image: array<f32>;
@group(0) @binding(1) var<storage, read_write> smoothed: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

// What the neighbours north, south, west and east have more than a point.
fn differences(y: u32, x: u32) -> vec4<f32> {
    return vec4<f32>(
        image[(max(y, 1u) - 1) * p.cols + x], image[min(y + 1, p.rows - 1) * p.cols + x],
        image[y * p.cols + max(x, 1u) - 1], image[y * p.cols + min(x + 1, p.cols - 1)],
    ) - image[y * p.cols + x];
}

fn conduction(y: u32, x: u32) -> f32 {
    let here = image[y * p.cols + x];
    let more = differences(y, x);
    let gradient = dot(more, more) / (here * here);
    let laplacian = (more.x + more.y + more.z + more.w) / here;
    let scale = 1.0 + 0.25 * laplacian;
    let varied = (0.5 * gradient - 0.0625 * laplacian * laplacian) / (scale * scale);
    let edge = (varied - p.speckle) / (p.speckle * (1.0 + p.speckle));
    return clamp(1.0 / (1.0 + edge), 0.0, 1.0);
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn srad(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = id.x;
    let y = id.y;
    if (x >= p.cols || y >= p.rows) { return; }

    let own = conduction(y, x);
    let south = conduction(min(y + 1, p.rows - 1), x);
    let east = conduction(y, min(x + 1, p.cols - 1));
    let flow = dot(vec4<f32>(own, south, own, east), differences(y, x));
    smoothed[y * p.cols + x] = image[y * p.cols + x] + p.rate * flow;
}
