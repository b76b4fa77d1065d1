// Half of a picture's rows and columns: the sampler weighs the four elements around a corner.
override COLUMNS: i32 = 1;
override ROWS: i32 = 1;
@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var weigh: sampler;
@group(1) @binding(0) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(8, 8)
fn halved(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = vec2<i32>(COLUMNS, ROWS);
    let at = vec2<i32>(id.xy);
    if all(at < size) {
        let place = (vec2<f32>(at) + 0.5) / vec2<f32>(size);
        out[at.y * COLUMNS + at.x] = textureSampleLevel(picture, weigh, place, 0.0).x;
    }
}
