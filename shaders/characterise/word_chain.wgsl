// One work-item goes through `words` words of BYTES bytes each, `passes` times 16*REPEAT steps from where it was:
// 1 to 64 lines of 64 bytes on by where it is, and 32 more where the word that it loaded is odd, so that each
// load waits for the one before. With WRITE it first stores that word, and waits for the store: `zero`, which the
// compiler does not know, has the load go to the same word.
struct Params { words: u32, passes: u32, zero: u32 }

const LINE = 64u / BYTES;

@group(0) @binding(0) var<storage, read_write> data: array<T>;
@group(0) @binding(1) var<storage, read_write> at: array<u32>;
@group(0) @binding(2) var<uniform> p: Params;

fn hop(x: u32) -> u32 {
    if (WRITE == 1u) {
        data[x] = T(x / LINE);
    }
    let word = data[x ^ p.zero];
    let odd = u32(any((word & T(1u)) != T(0u)));
    let lines = 1u + ((x * 2654435761u) >> 26u) + 32u * odd;
    return (x + LINE * lines) & (p.words - 1u);
}

fn hop4(x: u32) -> u32 {
    return hop(hop(hop(hop(x))));
}

fn hop16(x: u32) -> u32 {
    return hop4(hop4(hop4(hop4(x))));
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn word_chain(@builtin(global_invocation_id) gid: vec3<u32>) {
    if (gid.x != 0u) {
        return;
    }
    var x = at[0] & (p.words - 1u);
    for (var k = 0u; k < p.passes; k++) {
        x = hop16(x);
        if (REPEAT == 3u) {
            x = hop16(hop16(x));
        }
    }
    at[0] = x;
}
