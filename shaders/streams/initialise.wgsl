// An array filled with pseudo-random numbers: `steps` steps of a linear congruential generator from
// each place's own position on, so that computing takes as long as wanted beside copying.

// Fills `count` places from place `first` on.
struct Params { n: u32, first: u32, count: u32, steps: u32 }

@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn initialise(@builtin(global_invocation_id) id: vec3<u32>,
              @builtin(num_workgroups) groups: vec3<u32>) {
    let i = p.first + id.x + id.y * (groups.x * GROUP_X);
    if (i >= p.first + p.count) { return; }

    var x = i;
    for (var step = 0u; step < p.steps; step++) { x = x * 1664525u + 1013904223u; }
    out[i] = x;
}
