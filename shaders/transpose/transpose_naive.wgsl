// out = transpose of a (rows x cols, row after row), one element a work-item, no local memory:
// reads are coalesced, writes stride by a whole row.
struct Params { rows: u32, cols: u32 }

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn transpose_naive(@builtin(global_invocation_id) gid: vec3<u32>) {
    let x = gid.x;
    let y = gid.y;
    if (x < p.cols && y < p.rows) {
        out[x * p.rows + y] = a[y * p.cols + x];
    }
}
