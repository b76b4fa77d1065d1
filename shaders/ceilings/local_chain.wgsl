// As subgroup_chain, but work-items of a group hear of each other through local memory: OP 0 takes the
// greatest number of all, 1 that of the neighbour, 2 asks who has a small one. Each needs the result of
// the one before, and each adds `add`, so that a lost step shows. The group's size is a
// power of two, at least 32.
struct Params { n: u32, passes: u32, add: u32 }

@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<uniform> p: Params;

var<workgroup> words: array<u32, GROUP_X>;
// A bit for each.
var<workgroup> votes: array<atomic<u32>, GROUP_X / 32u>;

fn greatest(x: u32, at: u32) -> u32 {
    words[at] = x;
    workgroupBarrier();
    for (var reach = GROUP_X / 2u; reach > 0u; reach /= 2u) {
        if (at < reach) {
            words[at] = max(words[at], words[at + reach]);
        }
        workgroupBarrier();
    }
    return words[0];
}

fn of_neighbour(x: u32, at: u32) -> u32 {
    words[at] = x;
    workgroupBarrier();
    return words[at ^ 1u];
}

fn small(x: u32, at: u32) -> u32 {
    if (at < GROUP_X / 32u) {
        atomicStore(&votes[at], 0u);
    }
    workgroupBarrier();
    if (x < (1u << 30u)) {
        atomicOr(&votes[at / 32u], 1u << (at % 32u));
    }
    workgroupBarrier();
    return atomicLoad(&votes[0]) & 1u;
}

fn next(x: u32, i: u32, at: u32) -> u32 {
    var found = 0u;
    switch OP {
        case 0u: { found = greatest(x + p.add * (i & 1u), at); }
        case 1u: { found = of_neighbour(x, at) + p.add; }
        default: { found = x + p.add * small(x, at); }
    }
    // The next one writes where this one was read.
    workgroupBarrier();
    return found;
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn local_chain(@builtin(global_invocation_id) gid: vec3<u32>,
               @builtin(local_invocation_id) lid: vec3<u32>,
               @builtin(num_workgroups) groups: vec3<u32>) {
    let i = gid.x + gid.y * (groups.x * GROUP_X);
    // Those of a group have one number to begin with where the greatest is asked for.
    var x = data[select(i, i / GROUP_X, OP == 0u) & 1023u];
    for (var k = 0u; k <= 4u * p.passes; k++) {
        x = next(x, i, lid.x);
    }
    if (i < p.n) {
        out[i] = x;
    }
}
