// LU factors of the blocks on a matrix's diagonal, each by one group in local memory: L below the
// diagonal (its own is 1), U on it and above. `shift` is added to the diagonal, so that no pivot is
// small. A work-item has a row; one number behind each row puts a column into different banks.
const N = GROUP_X;

struct Params { blocks: u32, width: u32, shift: f32 }

@group(0) @binding(0) var<storage, read> block: array<f32>;
@group(0) @binding(1) var<storage, read_write> factors: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

var<workgroup> a: array<array<f32, N + 1>, N>;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn lud(
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let lane = local.x;
    let first = (group.x + group.y * groups.x) * N * N;
    let inside = first < p.blocks * N * N;
    for (var row = 0u; inside && row < N; row++) {
        a[row][lane] = block[first + row * N + lane] + select(0.0, p.shift, row == lane);
    }
    workgroupBarrier();
    for (var k = 0u; k + 1 < N; k++) {
        if (lane > k) {
            let factor = a[lane][k] / a[k][k];
            a[lane][k] = factor;
            for (var col = k + 1; col < N; col++) { a[lane][col] -= factor * a[k][col]; }
        }
        workgroupBarrier();
    }
    for (var row = 0u; inside && row < N; row++) { factors[first + row * N + lane] = a[row][lane]; }
}
