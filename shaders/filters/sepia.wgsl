// Sepia tone of an RGBA image: every colour becomes a weighted sum of the three, at most 1;
// alpha stays.

// Computes the `count` rows from row `first` on.
struct Params { rows: u32, cols: u32, first: u32, count: u32 }

@group(0) @binding(0) var<storage, read> image: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn sepia(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = id.x;
    let y = p.first + id.y;
    if (x >= p.cols || y >= p.first + p.count) { return; }

    let from_red = vec4<f32>(0.393, 0.349, 0.272, 0.0);
    let from_green = vec4<f32>(0.769, 0.686, 0.534, 0.0);
    let from_blue = vec4<f32>(0.189, 0.168, 0.131, 0.0);
    let i = y * p.cols + x;
    let pixel = image[i];
    var toned = from_red * pixel.xxxx;
    toned = fma(from_green, pixel.yyyy, toned);
    toned = fma(from_blue, pixel.zzzz, toned);
    toned = min(toned, vec4<f32>(1.0));
    toned.w = pixel.w;
    result[i] = toned;
}
