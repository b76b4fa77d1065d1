// The sum of two vectors, the second added `steps` times and the sign dropped each time, so that computing takes as
// long as wanted beside copying. A compiler that may reorder additions would multiply once without that.

// Computes `count` sums from place `first` on.
struct Params { n: u32, first: u32, count: u32, steps: u32 }

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn add_again(@builtin(global_invocation_id) id: vec3<u32>,
             @builtin(num_workgroups) groups: vec3<u32>) {
    let i = p.first + id.x + id.y * (groups.x * GROUP_X);
    if (i >= p.first + p.count) { return; }

    var sum = a[i];
    let more = b[i];
    for (var step = 0u; step < p.steps; step++) { sum = abs(sum + more); }
    out[i] = sum;
}
