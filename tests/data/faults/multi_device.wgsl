// As faults.wgsl, for problems that can be cut: a chunk is `count` rows from `first` on.
struct Params { n: u32, first: u32, count: u32 }

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

fn copy(i: u32) {
    if i < p.count {
        out[p.first + i] = a[p.first + i];
    }
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn loses_the_device_later(@builtin(global_invocation_id) id: vec3<u32>) { copy(id.x); }

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn crashes_in_launch(@builtin(global_invocation_id) id: vec3<u32>) { copy(id.x); }
