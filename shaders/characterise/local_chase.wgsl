// Each work-item follows words of local memory, `passes` times 16*REPEAT of them: each load's
// place is what the load before gave. Neighbours begin STRIDE words apart and stay so, but for
// a random half of the 2048 words, which changes no bank of up to 1024.
struct Params { n: u32, passes: u32 }

@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<uniform> p: Params;

var<workgroup> next: array<u32, 2048>;

fn hop4(x: u32) -> u32 {
    return next[next[next[next[x]]]];
}

fn hop16(x: u32) -> u32 {
    return hop4(hop4(hop4(hop4(x))));
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn local_chase(@builtin(global_invocation_id) gid: vec3<u32>,
               @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) item: u32) {
    let i = gid.x + gid.y * (groups.x * GROUP_X);
    for (var k = item; k < 2048u; k += GROUP_X) {
        next[k] = (k & 1023u) | ((data[k] & 1u) << 10u);
    }
    workgroupBarrier();
    var x = (item * STRIDE) & 2047u;
    for (var k = 0u; k < p.passes; k++) {
        x = hop16(x);
        if (REPEAT == 3u) {
            x = hop16(hop16(x));
        }
    }
    if (i < p.n) {
        out[i] = x;
    }
}
