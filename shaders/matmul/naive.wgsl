// C = A·B, deliberately uncoalesced: neighbouring work-items take neighbouring rows, so that
// their reads of A lie k apart and their writes of C lie n apart.

// Computes the `count` rows of C from row `first` on.
struct Params { m: u32, k: u32, n: u32, first: u32, count: u32 }

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn naive(@builtin(global_invocation_id) id: vec3<u32>) {
    let row = p.first + id.x;
    let col = id.y;
    if (row >= p.first + p.count || col >= p.n) { return; }

    var sum = 0.0;
    for (var i = 0u; i < p.k; i++) {
        sum = fma(a[row * p.k + i], b[i * p.n + col], sum);
    }
    c[row * p.n + col] = sum;
}
