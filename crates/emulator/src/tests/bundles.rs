//! What a compiler leaves of a text, and how many instructions of a VLIW unit that is.

use super::super::{Class, Counts, Launch};
use super::{counts, kernel, shipped};

/// The counts of one warp of a kernel with this body, which has `i` and `a` of a work-item.
fn of(body: &str) -> Counts {
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> out: array<f32>;
        var<workgroup> part: array<f32, 64>;
        @compute @workgroup_size(32)
        fn k(@builtin(local_invocation_id) id: vec3<u32>) {{ let i = id.x; let a = f32(i); {body} }}"
    );
    let kernel = kernel("k.wgsl", &text, [32, 1, 1], &[]);
    let mut launch = Launch { groups: [1; 3], buffers: vec![vec![0; 64].into()], params: vec![] };
    let counts = counts(&kernel, &mut launch, [0; 3]);
    // A division by a known number becomes a product.
    let divisions = counts.of(Class::IntDiv).warps;
    for (class, count) in &counts.compiled {
        let more = if *class == Class::IntMul { divisions } else { 0 };
        assert!(*count <= counts.of(*class).warps + more, "{class:?} in {body}");
    }
    counts
}

/// How many instructions of each class a compiler leaves.
fn left<const N: usize>(body: &str, classes: [Class; N]) -> [u64; N] {
    let counts = of(&format!("var s = 0.0; {body} out[i] = s;"));
    classes.map(|class| counts.compiled.get(&class).copied().unwrap_or_default())
}

fn bundles(body: &str) -> f64 {
    of(body).bundles
}

/// So many terms in a row.
fn terms(count: usize, of: impl Fn(usize) -> String, between: &str) -> String {
    (0..count).map(of).collect::<Vec<_>>().join(between)
}

#[test]
fn a_division_by_a_known_number_is_a_product() {
    let classes = [Class::IntDiv, Class::IntMul];
    assert_eq!(left("s = f32(i / 7u) + f32(i % 8u);", classes), [0, 2]);
    assert_eq!(left("s = f32(7u / (i + 1u));", classes), [1, 0]);
}

#[test]
fn what_needs_the_one_before_takes_a_bundle_of_its_own() {
    // The conversion, then one addition after the other.
    assert_eq!(bundles("out[i] = a + 1.0 + 2.0 + 3.0;"), 4.0);
    // The conversion, four additions, two products, their sum.
    assert_eq!(bundles("out[i] = (a + 1.0) * (a + 2.0) + (a + 3.0) * (a + 4.0);"), 4.0);
}

#[test]
fn a_bundle_has_five_operations_and_one_of_a_kind_that_one_lane_does() {
    // So many independent sums, of which the highest is written: all but the first need one more operation.
    let largest = |count, of: &dyn Fn(usize) -> String| {
        bundles(&format!(
            "var m = array<f32, 8>(); {} out[i] = m[0];",
            terms(count, |n| format!("m[{n}] = {};", of(n)), " ")
        ))
    };
    let sum = |n| format!("a + {n}.5");
    assert_eq!(largest(6, &sum) - largest(5, &sum), 1.0);
    assert_eq!(largest(5, &sum) - largest(2, &sum), 0.0);
    let root = |n| format!("sqrt(a * {n}.5)");
    assert_eq!(largest(3, &root) - largest(2, &root), 1.0);
}

#[test]
fn one_access_to_local_memory_fits_a_bundle() {
    let reads = |count| {
        let reads = terms(count, |n| format!("part[{n}]"), " + ");
        bundles(&format!("part[i] = a; workgroupBarrier(); out[i] = {reads};"))
    };
    assert_eq!(reads(5) - reads(4), 1.0);
    assert_eq!(reads(9) - reads(5), 4.0);
}

#[test]
fn a_loop_of_known_bounds_keeps_what_is_not_known() {
    let (sine, product, sum) = (Class::FloatTrigonometry, Class::FloatMul, Class::FloatAdd);
    let control = [Class::IntAdd, Class::Compare, Class::Branch];
    let body = "for (var j = 0u; j < 16u; j++) { s += sin(a * f32(j)); }";
    assert_eq!(left(body, [sine, product, sum]), [16, 16, 16]);
    assert_eq!(left(body, control), [0; 3]);
    // The sine stays the same, and is computed before the loop.
    let body = "for (var j = 0u; j < 16u; j++) { s += sin(a) * f32(j); }";
    assert_eq!(left(body, [sine, product, sum]), [0, 16, 16]);
    // Sixteen rounds of sixteen.
    let body =
        "for (var j = 0u; j < 16u; j++) { for (var k = 0u; k < j; k++) { s += a * f32(k); } }";
    assert_eq!(left(body, [product, sum]), [120, 120]);
    assert_eq!(left(body, control), [0; 3]);
}

#[test]
fn what_lanes_decide_is_not_known() {
    // As many rounds as the lane's number says: 31 for the last, and one more to leave.
    let body = "for (var j = 0u; j < i; j++) { s += 1.5; }";
    assert_eq!(left(body, [Class::IntAdd, Class::Compare, Class::Branch]), [31, 32, 32]);
    // How many values passed is known to nobody, though it is used in the branch alone.
    let body = "var n = 0u; for (var j = 0u; j < 16u; j++) { if (out[j + 40u] <= a) { s += f32(n); n += 1u; } }";
    assert_eq!(left(body, [Class::IntAdd, Class::Convert]), [16, 17]);
    // Nor how often a loop goes round that lanes may leave: its counter is counted, and what is added to it.
    let body = "for (var j = 0u; j < 16u; j++) { if (out[j + 40u] > a) { break; } s += 1.5; }";
    assert_eq!(left(body, [Class::IntAdd, Class::FloatAdd]), [32, 16]);
}

#[test]
fn the_tiles_of_a_matrix_product_are_unrolled() {
    let (n, warps) = (64, 256 / 32);
    let kernel = shipped!("matmul/tiled.wgsl", [16, 16, 1], &[]);
    let words = (n * n) as usize;
    let mut launch = Launch {
        groups: [4, 4, 1],
        buffers: vec![vec![0; words].into(); 3],
        params: [n, n, n, 0, n].map(|x| x as u32).to_vec(),
    };
    let counts = counts(&kernel, &mut launch, [1, 2, 0]);
    let compiled = |class| counts.compiled.get(&class).copied().unwrap_or_default();
    assert_eq!(compiled(Class::FloatFma), warps * n);
    assert_eq!(compiled(Class::LocalRead), 2 * warps * n);
    // Two bundles a multiply-add, for both its numbers come from local memory, and a few for each of the four steps.
    let steps = counts.bundles / warps as f64 - 2.0 * n as f64;
    assert!((4.0..=4.0 * 20.0).contains(&steps), "{steps}");
    // Of the branches only those of the steps and edges are left.
    assert!(compiled(Class::Branch) < counts.of(Class::Branch).warps / 4);
}
