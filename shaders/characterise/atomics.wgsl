// Each work-item adds to a counter, REPEAT times 16: all to one (SPREAD 0), or each to its own
// (SPREAD 1).
struct Params { n: u32 }

@group(0) @binding(0) var<storage, read_write> counters: array<atomic<u32>>;
@group(0) @binding(1) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn atomics(@builtin(global_invocation_id) gid: vec3<u32>,
           @builtin(num_workgroups) groups: vec3<u32>) {
    let i = gid.x + gid.y * (groups.x * GROUP_X);
    if (i >= p.n) {
        return;
    }
    for (var r = 0u; r < 16u * REPEAT; r++) {
        atomicAdd(&counters[i * SPREAD], r + 1u);
    }
}
