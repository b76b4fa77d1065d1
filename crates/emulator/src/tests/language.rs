//! The language: values, control flow, memory.

use super::{kernel, result, run};
use crate::{Groups, Launch};
use gpubench_core::gpu::{Access, Binding, Element, KernelSource, Scalar};

fn floats(words: &[u32]) -> Vec<f32> {
    words.iter().map(|&word| f32::from_bits(word)).collect()
}

/// A kernel of 8 work-items whose body computes `r` from `i`.
fn computed(body: &str) -> Vec<u32> {
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
         fn twice(x: u32) -> u32 {{ if (x == 3u) {{ return 100u; }} return 2u * x; }}
         fn bump(x: ptr<function, u32>) {{ *x += 10u; }}
         struct Pair {{ a: u32, b: vec2<u32> }}
         @compute @workgroup_size(8)
         fn main(@builtin(local_invocation_index) i: u32) {{
             var r = 0u;
             {body}
             data[i] = r;
         }}"
    );
    result(&text, 8, 8)
}

#[test]
fn loops_leave_and_go_on_lane_by_lane() {
    let sums = computed(
        "for (var k = 0u; k < 10u; k++) {
             if (k == i) { continue; }
             if (k > i + 3u) { break; }
             r += k;
         }",
    );
    let expected = |i: u32| (0..10).filter(|&k| k != i).take_while(|&k| k <= i + 3).sum::<u32>();
    assert_eq!(sums, (0..8).map(expected).collect::<Vec<_>>());
    assert_eq!(
        computed("loop { r += 1u; continuing { break if r > i; } }"),
        [1, 2, 3, 4, 5, 6, 7, 8]
    );
    assert_eq!(
        computed("var k = i; while (k > 0u) { r += k; k--; }"),
        [0, 1, 3, 6, 10, 15, 21, 28]
    );
}

#[test]
fn a_buffer_is_read_from_constant_memory() {
    let text = "
        @group(0) @binding(0) var<uniform> table: array<vec4<u32>, 2>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @group(0) @binding(2) var<uniform> at: u32;
        @compute @workgroup_size(8)
        fn main(@builtin(local_invocation_index) i: u32) {
            out[i] = table[(i + at) / 4u][i % 4u] + table[1].x;
        }";
    let element = Element::scalar(Scalar::U32);
    let binding = |name: &str, access| Binding { name: name.into(), element, access, image: None };
    let bindings = vec![binding("table", Access::Read), binding("out", Access::Write)];
    let kernel =
        KernelSource { bindings, params_bytes: 4, ..kernel("main.wgsl", text, [8, 1, 1], &[]) };
    let run_at = |at| {
        let buffers = vec![(10..18).collect::<Vec<_>>().into(), vec![0; 8].into()];
        let mut launch = Launch { groups: [1; 3], buffers, params: vec![at] };
        let seen = run(&kernel, &mut launch, Groups::All).unwrap();
        (launch.buffers.remove(1).into_words(), seen.faults.len())
    };
    assert_eq!(run_at(0), ((0..8).map(|i| 24 + i).collect(), 0));
    assert_eq!(run_at(4).1, 1, "the second half is behind the table");
}

#[test]
fn functions_return_from_within() {
    assert_eq!(computed("r = twice(i) + 1u;"), [1, 3, 5, 101, 9, 11, 13, 15]);
    assert_eq!(computed("r = twice(twice(i));"), [0, 4, 8, 200, 16, 20, 24, 28]);
    assert_eq!(computed("r = i; bump(&r); bump(&r);"), [20, 21, 22, 23, 24, 25, 26, 27]);
    assert_eq!(
        computed("for (var k = 0u; k < 3u; k++) { if (i < 4u) { r += twice(k); } }"),
        [6, 6, 6, 6, 0, 0, 0, 0]
    );
}

#[test]
fn switches_choose_by_value() {
    let chosen = computed(
        "switch (i) {
             case 1u, 2u: { r = 10u; }
             case 5u: { if (i == 5u) { break; } r = 1u; }
             default: { r = 7u; }
         }
         r += 1u;",
    );
    assert_eq!(chosen, [8, 11, 11, 8, 8, 1, 8, 8]);
}

#[test]
fn short_circuits_are_plain_logic() {
    let both = computed("if (i > 1u && i < 5u || i == 7u) { r = 1u; }");
    assert_eq!(both, [0, 0, 1, 1, 1, 0, 0, 1]);
    // What reads memory is reached only where it may be.
    let guarded = computed("if (i < 4u && data[i] == 0u) { r = 1u; }");
    assert_eq!(guarded, [1, 1, 1, 1, 0, 0, 0, 0]);
}

#[test]
fn arrays_vectors_and_structs_are_indexed() {
    assert_eq!(
        computed("var a = array<u32, 4>(5u, 6u, 7u, 8u); a[i % 4u] += 10u; r = a[1] + a[i % 4u];"),
        [21, 32, 23, 24, 21, 32, 23, 24]
    );
    assert_eq!(
        computed("let v = vec4<u32>(i, 1u, 2u, 3u); r = v[i % 4u] + v.w;"),
        [3, 4, 5, 6, 7, 4, 5, 6]
    );
    assert_eq!(
        computed("var v = vec3<u32>(1u); v.y = i; v[2] = 7u; r = v.x + v.y * 10u + v.zzz.y;"),
        [8, 18, 28, 38, 48, 58, 68, 78]
    );
    assert_eq!(
        computed("var p = Pair(i, vec2<u32>(1u, 2u)); p.b.y = 9u; let q = p; r = q.a + q.b.y;"),
        [9, 10, 11, 12, 13, 14, 15, 16]
    );
    assert_eq!(
        computed("let a = array<u32, 3>(4u, 5u, 6u); r = a[i % 3u];"),
        [4, 5, 6, 4, 5, 6, 4, 5]
    );
}

#[test]
fn private_variables_of_the_module_are_each_work_items_own() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        var<private> seven: u32 = 7u;
        var<private> table: array<u32, 4>;
        fn add() { seven += table[3]; }
        @compute @workgroup_size(4)
        fn main(@builtin(local_invocation_index) i: u32) {
            table[i] = 10u + i;
            add();
            data[i] = seven + table[i];
        }";
    assert_eq!(result(text, 4, 4), [17, 18, 19, 33]);
}

#[test]
fn a_copy_keeps_what_was_copied() {
    assert_eq!(
        computed("r = i; let old = r; r = 50u; r += old;"),
        [50, 51, 52, 53, 54, 55, 56, 57]
    );
    assert_eq!(
        computed(
            "var a = 1u; var b = 0u; for (var k = 0u; k < i; k++) { let t = a; a = a + b; b = t; } r = b;"
        ),
        [0, 1, 1, 2, 3, 5, 8, 13]
    );
    assert_eq!(
        computed("var x = i; let y = x; for (var k = 0u; k < 2u; k++) { r += y; x = 100u; }"),
        [0, 2, 4, 6, 8, 10, 12, 14]
    );
}

#[test]
fn a_variable_begins_anew_in_each_turn() {
    assert_eq!(
        computed("for (var k = 0u; k < 3u; k++) { var x: u32; x += i; r += x; }"),
        [0, 3, 6, 9, 12, 15, 18, 21]
    );
}

#[test]
fn conversions_and_functions() {
    assert_eq!(computed("r = u32(f32(i) * 1.5);"), [0, 1, 3, 4, 6, 7, 9, 10]);
    assert_eq!(
        computed("r = u32(i > 3u) + u32(clamp(i32(i) - 4, -1, 2) + 1);"),
        [0, 0, 0, 0, 2, 3, 4, 4]
    );
    assert_eq!(computed("r = select(1u, 2u, i % 2u == 0u);"), [2, 1, 2, 1, 2, 1, 2, 1]);
    assert_eq!(
        computed("r = countOneBits(i) + dot(vec2<u32>(i, 1u), vec2<u32>(10u, 1u));"),
        [1, 12, 22, 33, 42, 53, 63, 74]
    );
    assert_eq!(computed("r = bitcast<u32>(bitcast<f32>(i));"), [0, 1, 2, 3, 4, 5, 6, 7]);
    let roots = computed(
        "r = bitcast<u32>(mix(sqrt(f32(i * i)), 0.0, 0.5) + length(vec2<f32>(3.0, 4.0)));",
    );
    assert_eq!(floats(&roots), [5.0, 5.5, 6.0, 6.5, 7.0, 7.5, 8.0, 8.5]);
    let parts = computed(
        "r = bitcast<u32>(fract(f32(i) * 0.25) + saturate(f32(i) - 6.5) + sign(-1.0 * f32(i)));",
    );
    assert_eq!(floats(&parts), [0.0, -0.75, -0.5, -0.25, -1.0, -0.75, -0.5, 0.25]);
}

#[test]
fn a_float_beyond_the_integers_is_clamped_as_the_compiler_does() {
    let converted = |large: &str| {
        computed(&format!("r = select(u32({large}), bitcast<u32>(i32({large})), i % 2u == 0u);"))
    };
    let by_compiler = converted("1e10f");
    assert_eq!(by_compiler[..2], [2_147_483_520, 4_294_967_040]);
    assert_eq!(converted("(f32(i) * 1e20f + 1e20f)"), by_compiler);
}

#[test]
fn atomics_take_turns() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> data: array<atomic<u32>>;
        var<workgroup> most: atomic<i32>;
        @compute @workgroup_size(8)
        fn main(@builtin(local_invocation_index) i: u32) {
            let before = atomicAdd(&data[0], i);
            atomicMax(&most, i32(i) - 3);
            workgroupBarrier();
            atomicStore(&data[1u + i], before + u32(atomicLoad(&most)));
        }";
    assert_eq!(result(text, 8, 9), [28, 4, 4, 5, 7, 10, 14, 19, 25]);
}

#[test]
fn one_value_of_local_memory_reaches_all() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        var<workgroup> chosen: u32;
        @compute @workgroup_size(8)
        fn main(@builtin(local_invocation_index) i: u32) {
            if (i == 5u) { chosen = 40u + i; }
            data[i] = workgroupUniformLoad(&chosen) + i;
        }";
    assert_eq!(result(text, 8, 8), [45, 46, 47, 48, 49, 50, 51, 52]);
}

#[test]
fn truth_values_have_a_word_each_in_local_memory() {
    let text = "
        struct Flags { a: bool, b: vec2<bool>, c: array<bool, 8>, d: u32 }
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        var<workgroup> odd: array<bool, 8>;
        var<workgroup> flags: Flags;
        @compute @workgroup_size(8)
        fn main(@builtin(local_invocation_index) i: u32) {
            odd[i] = i % 2u == 1u;
            flags.c[i] = i > 5u;
            if (i == 0u) { flags.a = true; flags.b = vec2(false, true); flags.d = 40u; }
            workgroupBarrier();
            data[i] = u32(odd[(i + 1u) % 8u]) + 10u * u32(flags.c[i]) + flags.d
                + 100u * u32(flags.a) + 1000u * u32(flags.b.x) + 2000u * u32(flags.b.y);
        }";
    let base = 40 + 100 + 2000;
    let expected = [1, 0, 1, 0, 1, 0, 11, 10].map(|n| n + base);
    assert_eq!(result(text, 8, 8), expected);
}
