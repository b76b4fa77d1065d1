// C = A·B: neighbouring work-items take neighbouring columns, so that a subgroup reads B and
// writes C in whole cache lines and shares its reads of A.

// Computes the `count` rows of C from row `first` on.
struct Params { m: u32, k: u32, n: u32, first: u32, count: u32 }

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn coalesced(@builtin(global_invocation_id) id: vec3<u32>) {
    let col = id.x;
    let row = p.first + id.y;
    if (row >= p.first + p.count || col >= p.n) { return; }

    var sum = 0.0;
    for (var i = 0u; i < p.k; i++) {
        sum = fma(a[row * p.k + i], b[i * p.n + col], sum);
    }
    c[row * p.n + col] = sum;
}
