// C = A·B with 8×8 results per work-item, held in registers: four quads of operands feed 64
// multiply-adds, which is what it takes to be bound by arithmetic on most GPUs.
//
// A square group of g×g work-items computes a block of 8g×8g and walks along k in steps of g/2:
// then every work-item brings one quad (four numbers) of A and one of B per step, and fetches
// the next while it multiplies. Two sets of tiles need one barrier per step. A's tile lies
// transposed, so that both operands are read as quads; one quad of padding per row puts
// the writes of neighbours into different banks. A work-item's rows and columns are two quads
// half a block apart, so that neighbours read neighbouring quads of local memory. Unrolled by
// hand, since not every WGSL compiler keeps a private array in registers.

const_assert GROUP_X == GROUP_Y && GROUP_X % 2 == 0;
const STEP = GROUP_X / 2;
const QUADS = 2 * GROUP_X;

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
fn register_8x8(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let x = local.x;
    let y = local.y;
    let top = p.first + 4 * QUADS * group.y;
    let left = 4 * QUADS * group.x;

    // Which quad of each tile this work-item brings: neighbours read along a row of A and of B.
    let item = y * GROUP_X + x;
    let a_step = item % STEP;
    let a_quad = item / STEP;
    let b_step = item / QUADS;
    let b_quad = item % QUADS;

    // Rows and columns beyond the edge repeat the last one; their results are not stored.
    let quad = vec4<u32>(0, 1, 2, 3);
    let rows = min(top + 4 * a_quad + quad, vec4<u32>(p.first + p.count - 1)) * p.k;
    let cols = min(left + 4 * b_quad + quad, vec4<u32>(p.n - 1));

    // Rows 0 to 3 of the results belong to `upper`, 4 to 7 to `lower`.
    var w0 = vec4<f32>(0.0);
    var w1 = w0;
    var w2 = w0;
    var w3 = w0;
    var w4 = w0;
    var w5 = w0;
    var w6 = w0;
    var w7 = w0;
    var e0 = w0;
    var e1 = w0;
    var e2 = w0;
    var e3 = w0;
    var e4 = w0;
    var e5 = w0;
    var e6 = w0;
    var e7 = w0;
    a_tile[0][a_step][a_quad] = quad_of_a(rows, a_step);
    b_tile[0][b_step][b_quad] = quad_of_b(b_step, cols);
    workgroupBarrier();

    var now = 0u;
    for (var at = 0u; at < p.k; at += STEP) {
        let next_a = quad_of_a(rows, at + STEP + a_step);
        let next_b = quad_of_b(at + STEP + b_step, cols);
        for (var i = 0u; i < STEP; i++) {
            let upper = a_tile[now][i][y];
            let lower = a_tile[now][i][y + GROUP_Y];
            let west = b_tile[now][i][x];
            let east = b_tile[now][i][x + GROUP_X];
            w0 = fma(upper.xxxx, west, w0);
            e0 = fma(upper.xxxx, east, e0);
            w1 = fma(upper.yyyy, west, w1);
            e1 = fma(upper.yyyy, east, e1);
            w2 = fma(upper.zzzz, west, w2);
            e2 = fma(upper.zzzz, east, e2);
            w3 = fma(upper.wwww, west, w3);
            e3 = fma(upper.wwww, east, e3);
            w4 = fma(lower.xxxx, west, w4);
            e4 = fma(lower.xxxx, east, e4);
            w5 = fma(lower.yyyy, west, w5);
            e5 = fma(lower.yyyy, east, e5);
            w6 = fma(lower.zzzz, west, w6);
            e6 = fma(lower.zzzz, east, e6);
            w7 = fma(lower.wwww, west, w7);
            e7 = fma(lower.wwww, east, e7);
        }
        now = 1 - now;
        a_tile[now][a_step][a_quad] = next_a;
        b_tile[now][b_step][b_quad] = next_b;
        workgroupBarrier();
    }

    let upper_row = top + 4 * y;
    let lower_row = upper_row + 4 * GROUP_Y;
    let west_col = left + 4 * x;
    let east_col = west_col + 4 * GROUP_X;
    store(upper_row, west_col, w0);
    store(upper_row, east_col, e0);
    store(upper_row + 1, west_col, w1);
    store(upper_row + 1, east_col, e1);
    store(upper_row + 2, west_col, w2);
    store(upper_row + 2, east_col, e2);
    store(upper_row + 3, west_col, w3);
    store(upper_row + 3, east_col, e3);
    store(lower_row, west_col, w4);
    store(lower_row, east_col, e4);
    store(lower_row + 1, west_col, w5);
    store(lower_row + 1, east_col, e5);
    store(lower_row + 2, west_col, w6);
    store(lower_row + 2, east_col, e6);
    store(lower_row + 3, west_col, w7);
    store(lower_row + 3, east_col, e7);
}
