// Sum of `n` numbers modulo 2^32, so that their order is of no matter, in two passes: first each
// group adds up `share` numbers of its own (neighbours read neighbours, then halves of the group
// are added in local memory), then one group adds up what they left behind sums[0], and writes
// the total there.
struct Params { n: u32, share: u32, last: u32 }

@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
@group(0) @binding(2) var<uniform> p: Params;

var<workgroup> part: array<u32, GROUP_X>;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn reduction(@builtin(local_invocation_id) id: vec3<u32>,
             @builtin(workgroup_id) groups: vec3<u32>) {
    let lane = id.x;
    let group = groups.x;

    var sum = 0u;
    if (p.last == 0) {
        let end = min((group + 1) * p.share, p.n);
        for (var i = group * p.share + lane; i < end; i += GROUP_X) { sum += data[i]; }
    } else {
        let shares = (p.n + p.share - 1) / p.share;
        for (var i = lane; i < shares; i += GROUP_X) { sum += sums[1 + i]; }
    }
    part[lane] = sum;
    workgroupBarrier();
    for (var width = GROUP_X / 2u; width > 0; width /= 2) {
        if (lane < width) { part[lane] += part[lane + width]; }
        workgroupBarrier();
    }
    if (lane == 0) { sums[select(0u, 1 + group, p.last == 0)] = part[0]; }
}
