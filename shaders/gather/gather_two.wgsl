// out[y][x] = a[y][x] + b[dx*x + dy*y + f]: neighbouring work-items are neighbours along x.
struct Params { cols: u32, rows: u32, dx: u32, dy: u32, f: u32 }

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn gather_two(@builtin(global_invocation_id) gid: vec3<u32>) {
    let x = gid.x;
    let y = gid.y;
    if (x < p.cols && y < p.rows) {
        out[y * p.cols + x] = a[y * p.cols + x] + b[p.dx * x + p.dy * y + p.f];
    }
}
