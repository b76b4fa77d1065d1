// C = A·B through square tiles in local memory: each number of A and B is read from global
// memory once per tile instead of once per work-item. The group is the tile, so it is square.

const_assert GROUP_X == GROUP_Y;
const TILE = GROUP_X;

// Computes the `count` rows of C from row `first` on.
struct Params { m: u32, k: u32, n: u32, first: u32, count: u32 }

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

var<workgroup> a_tile: array<array<f32, TILE>, TILE>;
var<workgroup> b_tile: array<array<f32, TILE>, TILE>;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn tiled(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let x = local.x;
    let y = local.y;
    let col = id.x;
    let row = p.first + id.y;
    let bottom = p.first + p.count;

    var sum = 0.0;
    for (var step = 0u; step < p.k; step += TILE) {
        // Zeros beyond the edges add nothing, and every work-item reaches the barriers.
        var from_a = 0.0;
        var from_b = 0.0;
        if (row < bottom && step + x < p.k) { from_a = a[row * p.k + step + x]; }
        if (step + y < p.k && col < p.n) { from_b = b[(step + y) * p.n + col]; }
        a_tile[y][x] = from_a;
        b_tile[y][x] = from_b;
        workgroupBarrier();
        for (var i = 0u; i < TILE; i++) {
            sum = fma(a_tile[y][i], b_tile[i][x], sum);
        }
        workgroupBarrier();
    }
    if (row < bottom && col < p.n) { c[row * p.n + col] = sum; }
}
