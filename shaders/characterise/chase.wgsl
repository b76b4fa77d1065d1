// One work-item follows a cycle through `words` words, `passes` times 16*REPEAT steps from where
// it was: each load's place is what the load before gave.
struct Params { words: u32, passes: u32 }

@group(0) @binding(0) var<storage, read> next: array<u32>;
@group(0) @binding(1) var<storage, read_write> at: array<u32>;
@group(0) @binding(2) var<uniform> p: Params;

fn hop4(x: u32) -> u32 {
    return next[next[next[next[x]]]];
}

fn hop16(x: u32) -> u32 {
    return hop4(hop4(hop4(hop4(x))));
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn chase(@builtin(global_invocation_id) gid: vec3<u32>) {
    if (gid.x != 0u) {
        return;
    }
    var x = at[0] % p.words;
    for (var k = 0u; k < p.passes; k++) {
        x = hop16(x);
        if (REPEAT == 3u) {
            x = hop16(hop16(x));
        }
    }
    at[0] = x;
}
