// A number goes round the group through local memory, one neighbour on between two barriers:
// `passes` times REPEAT barriers. Two halves of the memory in turn make one barrier a step enough.
struct Params { n: u32, passes: u32, add: u32 }

@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<uniform> p: Params;

var<workgroup> even: array<u32, GROUP_X>;
var<workgroup> odd: array<u32, GROUP_X>;

fn four(seed: u32, item: u32, beside: u32) -> u32 {
    var x = seed;
    even[item] = x;
    workgroupBarrier();
    x = even[beside] + p.add;
    odd[item] = x;
    workgroupBarrier();
    x = odd[beside] + p.add;
    even[item] = x;
    workgroupBarrier();
    x = even[beside] + p.add;
    odd[item] = x;
    workgroupBarrier();
    return odd[beside] + p.add;
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn exchange(@builtin(global_invocation_id) gid: vec3<u32>,
            @builtin(num_workgroups) groups: vec3<u32>,
            @builtin(local_invocation_index) item: u32) {
    let i = gid.x + gid.y * (groups.x * GROUP_X);
    let beside = (item + 1u) % GROUP_X;
    var x = data[i & 1023u];
    for (var k = 0u; k < p.passes; k++) {
        x = four(x, item, beside);
        if (REPEAT == 12u) {
            x = four(four(x, item, beside), item, beside);
        }
    }
    if (i < p.n) {
        out[i] = x;
    }
}
