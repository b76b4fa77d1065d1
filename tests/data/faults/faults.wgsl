// One kernel a fault: the faulty backend reads the fault from the entry point's name, and its
// simulated GPU computes the copy that each of them is.
struct Params { n: u32 }

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

fn copy(i: u32) {
    if i < p.n {
        out[i] = a[i];
    }
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn works(@builtin(global_invocation_id) id: vec3<u32>) { copy(id.x); }

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn hangs_in_build(@builtin(global_invocation_id) id: vec3<u32>) { copy(id.x); }

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn aborts_in_build(@builtin(global_invocation_id) id: vec3<u32>) { copy(id.x); }

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn does_not_build(@builtin(global_invocation_id) id: vec3<u32>) { copy(id.x); }

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn hangs_in_launch(@builtin(global_invocation_id) id: vec3<u32>) { copy(id.x); }

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn crashes_in_launch(@builtin(global_invocation_id) id: vec3<u32>) { copy(id.x); }

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn crashes_once(@builtin(global_invocation_id) id: vec3<u32>) { copy(id.x); }

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn exits_in_launch(@builtin(global_invocation_id) id: vec3<u32>) { copy(id.x); }

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn loses_the_device(@builtin(global_invocation_id) id: vec3<u32>) { copy(id.x); }

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn runs_out_of_memory(@builtin(global_invocation_id) id: vec3<u32>) { copy(id.x); }

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn chatters(@builtin(global_invocation_id) id: vec3<u32>) { copy(id.x); }

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn hangs_on_drop(@builtin(global_invocation_id) id: vec3<u32>) { copy(id.x); }

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn stamps_are_zero(@builtin(global_invocation_id) id: vec3<u32>) { copy(id.x); }

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn stamps_run_backwards(@builtin(global_invocation_id) id: vec3<u32>) { copy(id.x); }

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn stamps_are_huge(@builtin(global_invocation_id) id: vec3<u32>) { copy(id.x); }

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn throttles_once(@builtin(global_invocation_id) id: vec3<u32>) { copy(id.x); }

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn throttles(@builtin(global_invocation_id) id: vec3<u32>) { copy(id.x); }

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn is_wrong_later(@builtin(global_invocation_id) id: vec3<u32>) { copy(id.x); }

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn hangs_in_one_build(@builtin(global_invocation_id) id: vec3<u32>) { copy(id.x); }

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn aborts_in_one_build(@builtin(global_invocation_id) id: vec3<u32>) { copy(id.x); }

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn hangs_in_one_launch(@builtin(global_invocation_id) id: vec3<u32>) { copy(id.x); }
