// Read-only bandwidth: a group adds up one segment of `a` (of `segment` scalars, a multiple of
// four; the last may be short) and writes the sum, modulo 2^32, so that its order is of no matter.
// GROUP_X is a power of two. Four loads are under way at a time.
struct Params { n: u32, segment: u32 }

@group(0) @binding(0) var<storage, read> a: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<uniform> p: Params;

var<workgroup> sums: array<u32, GROUP_X>;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn read_sum(@builtin(local_invocation_id) local_id: vec3<u32>,
            @builtin(workgroup_id) wid: vec3<u32>,
            @builtin(num_workgroups) groups: vec3<u32>) {
    let lid = local_id.x;
    let group = wid.x + wid.y * groups.x;
    let segments = (p.n + p.segment - 1u) / p.segment;
    let first = min(group, segments) * (p.segment / 4u);
    let end = min(first + p.segment / 4u, p.n / 4u);

    var s0 = vec4<u32>();
    var s1 = vec4<u32>();
    var s2 = vec4<u32>();
    var s3 = vec4<u32>();
    var i = first + lid;
    for (; i + 3u * GROUP_X < end; i += 4u * GROUP_X) {
        s0 += a[i];
        s1 += a[i + GROUP_X];
        s2 += a[i + 2u * GROUP_X];
        s3 += a[i + 3u * GROUP_X];
    }
    for (; i < end; i += GROUP_X) {
        s0 += a[i];
    }
    s0 += s1 + s2 + s3;
    sums[lid] = s0.x + s0.y + s0.z + s0.w;

    for (var half_of = GROUP_X / 2u; half_of > 0u; half_of /= 2u) {
        workgroupBarrier();
        if (lid < half_of) {
            sums[lid] += sums[lid + half_of];
        }
    }
    if (lid == 0u && group < segments) {
        out[group] = sums[0];
    }
}
