// Every scalar of `out` becomes its number / 16: all of a vector get the same, so that one operation
// makes it in both languages. A group writes a contiguous block, ITEMS vectors of type V a
// work-item, neighbours side by side. n, in scalars, is a multiple of V's width.
struct Params { n: u32 }

@group(0) @binding(0) var<storage, read_write> out: array<V>;
@group(0) @binding(1) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn write_blocks(@builtin(local_invocation_id) lid: vec3<u32>,
                @builtin(workgroup_id) wid: vec3<u32>,
                @builtin(num_workgroups) groups: vec3<u32>) {
    let vectors = p.n / V_WIDTH;
    let group = wid.x + wid.y * groups.x;
    let first = group * (GROUP_X * ITEMS) + lid.x;
    for (var k = 0u; k < ITEMS; k++) {
        let i = first + k * GROUP_X;
        if (i < vectors) {
            out[i] = V(i / (16u / V_WIDTH));
        }
    }
}
