// Work made to measure. Of each group the first `busy` work-items run a chain of integer
// arithmetic that nothing can shorten: `passes` times 8*`steps` steps and `reads` loads from
// `data`. With `chase` 1 each load's place is known only from the one before, so that nothing but
// latency counts; with 0 neighbours load side by side, `stride` words on from load to load.
// Then neighbours exchange their ends through LOCAL words of local memory, which keeps the whole
// group resident until its last item is done. There are 256 different seeds, so that a reference
// need not compute more chains; `words` is a power of two.
struct Params {
    n: u32, passes: u32, steps: u32, reads: u32, chase: u32, busy: u32,
    words: u32, stride: u32, group: u32, local: u32, add: u32,
}

@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<uniform> p: Params;

var<workgroup> ends: array<u32, LOCAL>;

fn step(x: u32) -> u32 {
    return (x ^ (x >> 15u)) * 2654435761u + p.add;
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn synthetic(@builtin(global_invocation_id) gid: vec3<u32>,
             @builtin(num_workgroups) groups: vec3<u32>,
             @builtin(local_invocation_index) item: u32) {
    let i = gid.x + gid.y * (groups.x * GROUP_X);
    let mask = p.words - 1u;
    var x = data[(i ^ (i >> 6u)) & 255u & mask];
    if (item < p.busy) {
        var at = select(i, 0u, p.chase == 1u);
        for (var turn = 0u; turn < p.passes; turn++) {
            for (var s = 0u; s < p.steps; s++) {
                x = step(step(step(step(step(step(step(step(x))))))));
            }
            for (var r = 0u; r < p.reads; r++) {
                x += data[(at + p.chase * x) & mask];
                at += p.stride;
            }
        }
    }
    // As many items as there are words, spread over all of them.
    let sharing = min(GROUP_X * GROUP_Y * GROUP_Z, LOCAL);
    let spread = LOCAL / sharing;
    if (item < sharing) {
        ends[item * spread] = x;
    }
    workgroupBarrier();
    if (i < p.n) {
        out[i] = x + ends[((item + 1u) % sharing) * spread];
    }
}
