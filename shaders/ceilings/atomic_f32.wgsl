// Each work-item adds 1 to a counter of f32, `times` times, and nothing can come between: all to
// one counter (SPREAD 0), or each to its own (SPREAD 1). The number is exchanged when
// nothing came between; atomic_f32_add.wgsl has the device's own instruction. A counter is the bits of a float.
const_assert NATIVE == 0u;
struct Params { n: u32, times: u32 }

@group(0) @binding(0) var<storage, read_write> counters: array<atomic<u32>>;
@group(0) @binding(1) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn atomic_f32(@builtin(global_invocation_id) gid: vec3<u32>,
              @builtin(num_workgroups) groups: vec3<u32>) {
    let i = gid.x + gid.y * (groups.x * GROUP_X);
    if (i >= p.n) {
        return;
    }
    for (var k = 0u; k < p.times; k++) {
        var old = atomicLoad(&counters[i * SPREAD]);
        loop {
            let one_more = bitcast<u32>(bitcast<f32>(old) + 1.0);
            let seen = atomicCompareExchangeWeak(&counters[i * SPREAD], old, one_more);
            if (seen.exchanged) {
                break;
            }
            old = seen.old_value;
        }
    }
}
