// As `image_texels`, from a buffer. With FILTERED 1 the mean of four neighbours in place of each, which arithmetic makes.
struct Params { n: u32 }

@group(0) @binding(0) var<storage, read> image: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<f32>>;
@group(0) @binding(2) var<uniform> p: Params;

fn texel(column: u32, row: u32) -> vec4<f32> {
    return image[min(row, p.n - 1u) * p.n + min(column, p.n - 1u)];
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn image_buffer(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= p.n || id.y >= p.n) {
        return;
    }
    var sum = vec4<f32>(0.0);
    for (var y = id.y; y < id.y + SIDE; y++) {
        for (var x = id.x; x < id.x + SIDE; x++) {
            if (FILTERED == 1) {
                let above = mix(texel(x, y), texel(x + 1u, y), 0.5);
                let below = mix(texel(x, y + 1u), texel(x + 1u, y + 1u), 0.5);
                sum += mix(above, below, 0.5);
            } else {
                sum += texel(x, y);
            }
        }
    }
    out[id.y * p.n + id.x] = sum;
}
