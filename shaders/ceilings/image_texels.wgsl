// Texels of an image of `n` columns and rows, by their places: each work-item adds up the SIDE × SIDE that begin at its own;
// beyond the edge is the nearest one of the edge. `image_samples` has the device's sampler find them, `image_buffer` reads
// a buffer.
struct Params { n: u32 }

@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<f32>>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn image_texels(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= p.n || id.y >= p.n) {
        return;
    }
    var sum = vec4<f32>(0.0);
    for (var y = 0u; y < SIDE; y++) {
        for (var x = 0u; x < SIDE; x++) {
            let place = min(id.xy + vec2<u32>(x, y), vec2<u32>(p.n - 1u));
            sum += textureLoad(image, place, 0);
        }
    }
    out[id.y * p.n + id.x] = sum;
}
