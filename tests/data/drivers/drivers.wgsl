// drivers.cl in WGSL, as far as WGSL lets a program go wrong.
struct Params { n: u32, steps: u32 }
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X)
fn long_loop(@builtin(global_invocation_id) id: vec3u) {
    if (id.x >= p.n) { return; }
    var x = id.x;
    for (var step = 0u; step < p.steps; step++) { x = x * 1664525u + 1013904223u; }
    out[id.x] = x;
}

@compute @workgroup_size(GROUP_X)
fn never_written(@builtin(global_invocation_id) id: vec3u) {
    if (p.steps == 0u) { out[id.x] = 0u; }
}

@compute @workgroup_size(GROUP_X)
fn divides_by_zero(@builtin(global_invocation_id) id: vec3u) {
    if (id.x < p.n) { out[id.x] = (id.x + 1u) / (p.steps - p.steps) + 1u; }
}

// Every item is done at once; there are just too many of them.
@compute @workgroup_size(GROUP_X)
fn endless_grid(@builtin(global_invocation_id) id: vec3u) {
    if (id.y == 0u && id.x < p.n) { out[id.x] = p.steps; }
}
