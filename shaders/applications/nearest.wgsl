// Distance of every place from one point.
struct Params { n: u32, x: f32, y: f32 }

@group(0) @binding(0) var<storage, read> place: array<vec2<f32>>;
@group(0) @binding(1) var<storage, read_write> distances: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn nearest(@builtin(global_invocation_id) id: vec3<u32>,
           @builtin(num_workgroups) groups: vec3<u32>) {
    let i = id.x + id.y * (groups.x * GROUP_X);
    if (i >= p.n) { return; }

    let dx = place[i].x - p.x;
    let dy = place[i].y - p.y;
    distances[i] = sqrt(dx * dx + dy * dy);
}
