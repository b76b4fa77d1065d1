// Each work-item adds 1 to a counter of f32 by one instruction, `times` times: all to one counter (SPREAD 0), or each to
// its own (SPREAD 1).
struct Params { n: u32, times: u32 }

@group(0) @binding(0) var<storage, read_write> counters: array<atomic<f32>>;
@group(0) @binding(1) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn atomic_f32_add(@builtin(global_invocation_id) gid: vec3<u32>,
                  @builtin(num_workgroups) groups: vec3<u32>) {
    let i = gid.x + gid.y * (groups.x * GROUP_X);
    if (i >= p.n) {
        return;
    }
    for (var k = 0u; k < p.times; k++) {
        atomicAdd(&counters[i * SPREAD], 1.0);
    }
}
