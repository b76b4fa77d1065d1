// Gathers a box of an array of several fields into a contiguous buffer, one element a
// work-item: nx*ny*nz elements of each of nc fields from element `first` on. From one element to the next it
// is 1 along x, sy along y, sz along z and sc from field to field.

struct Params { nx: u32, ny: u32, nz: u32, nc: u32, first: u32, sy: u32, sz: u32, sc: u32 }

@group(0) @binding(0) var<storage, read> field: array<f32>;
@group(0) @binding(1) var<storage, read_write> face: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn pack_box(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let i = id.x + id.y * groups.x * GROUP_X;
    if (i >= p.nx * p.ny * p.nz * p.nc) { return; }
    let row = i / p.nx;
    let plane = row / p.ny;
    let x = i % p.nx;
    let y = row % p.ny;
    let z = plane % p.nz;
    let c = plane / p.nz;
    let j = p.first + x + y * p.sy + z * p.sz + c * p.sc;
    face[i] = field[j];
}
