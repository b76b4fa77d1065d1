@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(1) @binding(0) var<storage, read_write> y: array<f32>;
@group(1) @binding(1) var<uniform> factor: f32;
override LIMIT: u32 = 64;

@compute @workgroup_size(64)
fn scaled(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < LIMIT { y[id.x] = factor * x[id.x]; }
}
