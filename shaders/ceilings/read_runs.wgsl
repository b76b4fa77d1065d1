// Read-only bandwidth: `a` holds blocks of DEPTH rows of STEP vectors of type V, and each row of
// `out` is the sum of one block's rows, modulo 2^32, so that the order of the summands is of no
// matter. With STEP 1 a work-item reads a run of its own, with more its neighbours read beside it;
// which is faster is the device's to say. UNROLL loads a work-item are under way at a time. n is a
// multiple of a block. The index is counted up, which takes less than a product.
struct Params { n: u32 }

@group(0) @binding(0) var<storage, read> a: array<V>;
@group(0) @binding(1) var<storage, read_write> out: array<V>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn read_runs(@builtin(global_invocation_id) gid: vec3<u32>,
            @builtin(num_workgroups) groups: vec3<u32>) {
    let i = gid.x + gid.y * (groups.x * GROUP_X);
    if (i >= p.n / (DEPTH * V_WIDTH)) {
        return;
    }
    var at = i / STEP * (STEP * DEPTH) + i % STEP;
    var sum = V();
    for (var k = 0u; k < DEPTH; k += UNROLL) {
        for (var u = 0u; u < UNROLL; u++) {
            sum += a[at];
            at += STEP;
        }
    }
    out[i] = sum;
}
