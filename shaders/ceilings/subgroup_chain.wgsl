// Work-items of a subgroup that hear of each other, `passes` times four times: OP 0 takes the
// greatest number of all, 1 that of the neighbour, 2 asks who has a small one. Each needs the result
// of the one before, and each adds `add`, so that a lost step shows.
struct Params { n: u32, passes: u32, add: u32 }

@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<uniform> p: Params;

fn next(x: u32, i: u32) -> u32 {
    switch OP {
        case 0u: { return subgroupMax(x + p.add * (i & 1u)); }
        case 1u: { return subgroupShuffleXor(x, 1u) + p.add; }
        default: { return x + p.add * (subgroupBallot(x < (1u << 30u)).x & 1u); }
    }
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn subgroup_chain(@builtin(global_invocation_id) gid: vec3<u32>,
                  @builtin(num_workgroups) groups: vec3<u32>) {
    let i = gid.x + gid.y * (groups.x * GROUP_X);
    // Those of a group have one number to begin with where the greatest is asked for.
    var x = data[select(i, i / GROUP_X, OP == 0u) & 1023u];
    for (var k = 0u; k < p.passes; k++) {
        x = next(next(next(next(x, i), i), i), i);
    }
    // An odd number of times, so that a neighbour's number is not one's own again.
    x = next(x, i);
    if (i < p.n) {
        out[i] = x;
    }
}
