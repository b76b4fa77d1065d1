// Read-only bandwidth: `a` holds blocks of `depth` rows of `width` scalars, and each row of
// `out` is the sum of one block's rows, modulo 2^32, so that the order of the summands is of no
// matter. UNROLL loads of type V a work-item are under way at a time. width is a multiple of V's
// width, depth of UNROLL, and n of width*depth.
struct Params { n: u32, width: u32, depth: u32 }

@group(0) @binding(0) var<storage, read> a: array<V>;
@group(0) @binding(1) var<storage, read_write> out: array<V>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn read_sum(@builtin(global_invocation_id) gid: vec3<u32>,
            @builtin(num_workgroups) groups: vec3<u32>) {
    let row = p.width / V_WIDTH;
    let i = gid.x + gid.y * (groups.x * GROUP_X);
    if (i >= p.n / p.depth / V_WIDTH) {
        return;
    }
    let first = i / row * (row * p.depth) + i % row;
    var sum = V();
    for (var k = 0u; k < p.depth; k += UNROLL) {
        for (var u = 0u; u < UNROLL; u++) {
            sum += a[first + (k + u) * row];
        }
    }
    out[i] = sum;
}
