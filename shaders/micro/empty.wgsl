// As little work as can still be verified: every work-item writes its own number.
@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn empty(@builtin(global_invocation_id) gid: vec3<u32>,
         @builtin(num_workgroups) groups: vec3<u32>) {
    let i = gid.x + gid.y * (groups.x * GROUP_X);
    out[i] = i;
}
