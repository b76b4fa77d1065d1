// C = A·B with 4×4 results per work-item, held in registers.
//
// A square group of g×g work-items computes a block of 4g×4g and walks along k in steps of g:
// then every work-item brings one quad (four numbers) of A and one of B per step, and fetches
// the next while it multiplies. Two sets of tiles need one barrier per step. A's tile lies
// transposed, so that both operands are read as quads; one quad of padding per row puts
// the writes of neighbours into different banks. Unrolled by hand, since not every WGSL compiler
// keeps a private array in registers.

const_assert GROUP_X == GROUP_Y;
const STEP = GROUP_X;
const QUADS = GROUP_X;

// Computes the `count` rows of C from row `first` on.
struct Params { m: u32, k: u32, n: u32, first: u32, count: u32 }

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

var<workgroup> a_tile: array<array<array<vec4<f32>, QUADS + 1>, STEP>, 2>;
var<workgroup> b_tile: array<array<array<vec4<f32>, QUADS>, STEP>, 2>;

// Four numbers of one column of A. `rows` are the offsets of their rows. Zero beyond k, so that
// whatever B holds there adds nothing.
fn quad_of_a(rows: vec4<u32>, col: u32) -> vec4<f32> {
    if (col >= p.k) { return vec4<f32>(0.0); }
    return vec4<f32>(a[rows.x + col], a[rows.y + col], a[rows.z + col], a[rows.w + col]);
}

// Four numbers of one row of B.
fn quad_of_b(row: u32, cols: vec4<u32>) -> vec4<f32> {
    let start = min(row, p.k - 1) * p.n;
    return vec4<f32>(b[start + cols.x], b[start + cols.y], b[start + cols.z], b[start + cols.w]);
}

fn store(row: u32, col: u32, value: vec4<f32>) {
    if (row >= p.first + p.count) { return; }
    let to = row * p.n;
    if (col < p.n) { c[to + col] = value.x; }
    if (col + 1 < p.n) { c[to + col + 1] = value.y; }
    if (col + 2 < p.n) { c[to + col + 2] = value.z; }
    if (col + 3 < p.n) { c[to + col + 3] = value.w; }
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn register_4x4(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let x = local.x;
    let y = local.y;
    let top = p.first + 4 * QUADS * group.y;
    let left = 4 * QUADS * group.x;

    // Rows and columns beyond the edge repeat the last one; their results are not stored.
    let quad = vec4<u32>(0, 1, 2, 3);
    let rows = min(top + 4 * y + quad, vec4<u32>(p.first + p.count - 1)) * p.k;
    let cols = min(left + 4 * x + quad, vec4<u32>(p.n - 1));

    var c0 = vec4<f32>(0.0);
    var c1 = c0;
    var c2 = c0;
    var c3 = c0;
    a_tile[0][x][y] = quad_of_a(rows, x);
    b_tile[0][y][x] = quad_of_b(y, cols);
    workgroupBarrier();

    var now = 0u;
    for (var at = 0u; at < p.k; at += STEP) {
        let next_a = quad_of_a(rows, at + STEP + x);
        let next_b = quad_of_b(at + STEP + y, cols);
        for (var i = 0u; i < STEP; i++) {
            let from_a = a_tile[now][i][y];
            let from_b = b_tile[now][i][x];
            c0 = fma(from_a.xxxx, from_b, c0);
            c1 = fma(from_a.yyyy, from_b, c1);
            c2 = fma(from_a.zzzz, from_b, c2);
            c3 = fma(from_a.wwww, from_b, c3);
        }
        now = 1 - now;
        a_tile[now][x][y] = next_a;
        b_tile[now][y][x] = next_b;
        workgroupBarrier();
    }

    let row = top + 4 * y;
    let col = left + 4 * x;
    store(row, col, c0);
    store(row + 1, col, c1);
    store(row + 2, col, c2);
    store(row + 3, col, c3);
}
