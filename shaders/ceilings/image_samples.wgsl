// As `image_texels`, found by the image's sampler, which also takes the edge beyond the edge. With FILTERED 1 each is asked
// for where four texels meet, half a texel further along both dimensions, where a linear sampler gives the mean of the four.
struct Params { n: u32 }

@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var image_sampler: sampler;
@group(0) @binding(2) var<storage, read_write> out: array<vec4<f32>>;
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn image_samples(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= p.n || id.y >= p.n) {
        return;
    }
    let texel = 1.0 / f32(p.n);
    let first = (vec2<f32>(id.xy) + 0.5 * f32(1u + FILTERED)) * texel;
    var sum = vec4<f32>(0.0);
    for (var y = 0u; y < SIDE; y++) {
        for (var x = 0u; x < SIDE; x++) {
            let place = first + vec2<f32>(f32(x), f32(y)) * texel;
            sum += textureSampleLevel(image, image_sampler, place, 0.0);
        }
    }
    out[id.y * p.n + id.x] = sum;
}
