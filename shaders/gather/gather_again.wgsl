// out[i] = a[i] + the sum over j < times of b[d*((i + j*shift) mod n) + f]: the numbers in strides are read several
// times a launch. shift is at most n.
struct Params { n: u32, d: u32, f: u32, times: u32, shift: u32 }

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn gather_again(@builtin(global_invocation_id) gid: vec3<u32>,
                @builtin(num_workgroups) groups: vec3<u32>) {
    let i = gid.x + gid.y * (groups.x * GROUP_X);
    if (i < p.n) {
        var sum = a[i];
        var at = i;
        for (var j = 0u; j < p.times; j++) {
            sum += b[p.d * at + p.f];
            at += p.shift;
            at -= select(0u, p.n, at >= p.n);
        }
        out[i] = sum;
    }
}
