// Each work-item adds up REPEAT words that its neighbours' lie STRIDE words from, OFFSET words
// beyond an aligned place. Where the end of `data` is reached, the next word of each stride is
// taken, so that every word is read once before any is read again; `words`, STRIDE: powers of two.
struct Params { n: u32, words: u32 }

@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn stride(@builtin(global_invocation_id) gid: vec3<u32>,
          @builtin(num_workgroups) groups: vec3<u32>) {
    let i = gid.x + gid.y * (groups.x * GROUP_X);
    if (i >= p.n) {
        return;
    }
    let mask = p.words / STRIDE - 1u;
    let rounds = p.words / STRIDE;
    var sum = i;
    for (var r = 0u; r < REPEAT; r++) {
        let j = r * p.n + i;
        sum += data[(j & mask) * STRIDE + j / rounds + OFFSET];
    }
    out[i] = sum;
}
