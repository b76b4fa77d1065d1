// Reads of a working set of `words` words, a power of two, over and over: blocks of STEP
// work-items read words one after another, `n` in all `items` together, from where the block
// before ends. Behind the set's end comes its beginning. With STEP 1 a work-item reads a run of
// its own, with more its neighbours read beside it. A sum a work-item, modulo 2^32, is written.
struct Params { n: u32, words: u32, items: u32 }

@group(0) @binding(0) var<storage, read> data: array<V>;
@group(0) @binding(1) var<storage, read_write> out: array<V>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn read_again(@builtin(global_invocation_id) gid: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
    let i = gid.x + gid.y * (groups.x * GROUP_X);
    if (i >= p.items) {
        return;
    }
    let mask = p.words / V_WIDTH - 1u;
    let steps = p.n / p.items / V_WIDTH;
    let first = i / STEP * (STEP * steps) + i % STEP;
    var sum = V();
    for (var k = 0u; k < steps; k += UNROLL) {
        for (var u = 0u; u < UNROLL; u++) {
            sum += data[(first + (k + u) * STEP) & mask];
        }
    }
    out[i] = sum;
}
