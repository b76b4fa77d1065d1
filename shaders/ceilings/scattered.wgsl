// Reads at random places: each work-item adds up LOADS words of `words`, a power of two, none of
// which waits for another. Places are a scrambled number of the load, so that no pattern helps.
struct Params { n: u32, words: u32 }

@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn scattered(@builtin(global_invocation_id) gid: vec3<u32>,
             @builtin(num_workgroups) groups: vec3<u32>) {
    let i = gid.x + gid.y * (groups.x * GROUP_X);
    if (i >= p.n) {
        return;
    }
    var sum = 0u;
    for (var k = 0u; k < LOADS; k++) {
        var place = (i * LOADS + k) * 2654435761u;
        place = (place ^ (place >> 15u)) * 2246822519u;
        sum += data[(place ^ (place >> 13u)) & (p.words - 1u)];
    }
    out[i] = sum;
}
