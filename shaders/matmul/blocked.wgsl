// C = A·B for tuning: ROWS rows by VECTORS vectors of type V a work-item, held in registers. With STAGE 1 a
// group brings STEP rows of its columns of B into local memory first. No edge is guarded: a group's
// block divides C, and STEP divides k.
const TILE = GROUP_X * VECTORS;

// Computes the `count` rows of C from row `first` on.
struct Params { m: u32, k: u32, n: u32, first: u32, count: u32 }

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<V>;
@group(0) @binding(2) var<storage, read_write> c: array<V>;
@group(0) @binding(3) var<uniform> p: Params;

// One vector where nothing is staged.
var<workgroup> b_tile: array<V, STAGE * (STEP * TILE - 1) + 1>;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn blocked(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let x = local.x;
    let pitch = p.n / V_WIDTH;
    let left = group.x * TILE;
    let top = p.first + (group.y * GROUP_Y + local.y) * ROWS;

    var sum: array<array<V, VECTORS>, ROWS>;
    for (var at = 0u; at < p.k; at += STEP) {
        if (STAGE == 1) {
            for (var i = local.y * GROUP_X + x; i < STEP * TILE; i += GROUP_X * GROUP_Y) {
                b_tile[i] = b[(at + i / TILE) * pitch + left + i % TILE];
            }
            workgroupBarrier();
        }
        for (var i = 0u; i < STEP; i++) {
            var from_b: array<V, VECTORS>;
            for (var v = 0u; v < VECTORS; v++) {
                if (STAGE == 1) {
                    from_b[v] = b_tile[i * TILE + x + v * GROUP_X];
                } else {
                    from_b[v] = b[(at + i) * pitch + left + x + v * GROUP_X];
                }
            }
            for (var r = 0u; r < ROWS; r++) {
                let from_a = V(a[(top + r) * p.k + at + i]);
                for (var v = 0u; v < VECTORS; v++) {
                    sum[r][v] = fma(from_a, from_b[v], sum[r][v]);
                }
            }
        }
        if (STAGE == 1) { workgroupBarrier(); }
    }
    for (var r = 0u; r < ROWS; r++) {
        for (var v = 0u; v < VECTORS; v++) {
            c[(top + r) * pitch + left + x + v * GROUP_X] = sum[r][v];
        }
    }
}
