//! Outputs: every element is written, and none is read before that.

use super::output_faults;

fn kernel(ty: &str, body: &str) -> String {
    format!(
        "struct Two {{ count: u32, pairs: array<vec2<u32>> }}
@group(0) @binding(0) var<storage, read_write> out: {ty};
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let i = id.x;
    {body}
}}"
    )
}

fn faults(ty: &str, body: &str, words: usize) -> Vec<String> {
    output_faults(&kernel(ty, body), 4, 2, words)
}

#[test]
fn what_writes_everything_has_no_fault() {
    assert_eq!(faults("array<u32>", "out[i] = i;", 8), [] as [&str; 0]);
    // A word between two vectors of three is no element.
    assert_eq!(faults("array<vec3<u32>>", "out[i] = vec3(i);", 32), [] as [&str; 0]);
    assert_eq!(
        faults("Two", "if (i == 0) { out.count = 8; } out.pairs[i] = vec2(i);", 18),
        [] as [&str; 0]
    );
    assert_eq!(faults("array<u32>", "out[i] = i; out[i] += 1u;", 8), [] as [&str; 0]);
    assert_eq!(
        faults("array<atomic<u32>>", "atomicStore(&out[i], 1u); atomicAdd(&out[i], 1u);", 8),
        [] as [&str; 0]
    );
}

#[test]
fn a_kernel_that_writes_nothing_is_wrong() {
    let nothing = "main.wgsl:2: never written: no work-item writes element 0 of 8 in `out` \
                   (8 elements)";
    assert_eq!(faults("array<u32>", "_ = &out;", 8), [nothing]);
    // An output that the text does not mention.
    let text = "@compute @workgroup_size(4) fn main() {}";
    assert_eq!(
        output_faults(text, 4, 2, 1),
        ["main.wgsl:1: never written: no work-item writes element 0 of 1 in `binding 0`"]
    );
}

#[test]
fn an_element_that_is_skipped_is_named() {
    assert_eq!(
        faults("array<u32>", "if (i != 5u) { out[i] = i; }", 8),
        ["main.wgsl:2: never written: no work-item writes element 5 of 8 in `out`"]
    );
    assert_eq!(
        faults("array<vec2<u32>>", "out[i].x = i;", 16),
        ["main.wgsl:2: never written: no work-item writes element 0 of 8 in `out` (8 elements)"]
    );
    assert_eq!(
        faults("Two", "out.count = 1u; if (i > 0u) { out.pairs[i] = vec2(i); }", 18),
        ["main.wgsl:2: never written: no work-item writes element 0 of 8 in `out.pairs`"]
    );
}

#[test]
fn a_read_before_the_first_write_is_named() {
    assert_eq!(
        faults("array<u32>", "out[i] = out[i] + 1u;", 8),
        ["main.wgsl:6: read before the first write: work-item [0, 0, 0] of group [0, 0, 0] reads \
          element 0 of 8 in `out` (8 times)"]
    );
    assert_eq!(
        faults("array<u32>", "if (i == 6u) { out[i] |= 1u; } else { out[i] = i; }", 8),
        ["main.wgsl:6: read before the first write: work-item [2, 0, 0] of group [1, 0, 0] reads \
          element 6 of 8 in `out`"]
    );
    let counted = faults("array<atomic<u32>>", "atomicAdd(&out[i], 1u);", 8);
    assert!(counted[0].contains("read before the first write"), "{counted:?}");
}
