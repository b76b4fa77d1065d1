// Reads of a table in a buffer, of which `words` words, a power of two, are used. Each work-item
// reads `reads` vectors one after another, from a place of its group's on; with SPREAD 1 its neighbour
// in the group reads the next one, with 0 all read the same. What is read goes into a number of the
// work-item's own, so that no sum of the table serves them all. `constant_reads` reads constant memory instead.
struct Params { n: u32, words: u32, reads: u32 }

@group(0) @binding(0) var<storage, read> data: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn buffer_reads(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                @builtin(local_invocation_index) item: u32) {
    let number = group.x + group.y * groups.x;
    let i = number * GROUP_X + item;
    if (i >= p.n) {
        return;
    }
    let mask = p.words / 4u - 1u;
    let first = 7u * number + SPREAD * item;
    var sum = vec4<u32>(i);
    for (var k = 0u; k < p.reads; k++) {
        sum = 5u * sum + data[(first + k) & mask];
    }
    out[i] = sum.x ^ sum.y ^ sum.z ^ sum.w;
}
