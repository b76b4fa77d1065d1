// Resampling of a particle filter: each particle takes the place of the first one whose cumulative
// weight (they sum up to `n`) is not below its draw, looked for from the first one on.
struct Params { n: u32 }

@group(0) @binding(0) var<storage, read> cumulative: array<f32>;
@group(0) @binding(1) var<storage, read> draw: array<f32>;
@group(0) @binding(2) var<storage, read> place: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read_write> taken: array<vec2<f32>>;
@group(0) @binding(4) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn particle(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if (i >= p.n) { return; }

    let wanted = draw[i] * f32(p.n);
    var found = 0u;
    while (found + 1 < p.n && cumulative[found] < wanted) { found++; }
    taken[i] = place[found];
}
