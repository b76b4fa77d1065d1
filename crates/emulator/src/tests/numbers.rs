//! Matrices, halves, overrides and subgroups.

use super::super::{Emulator, Groups, Instrumentation, Launch};
use super::{kernel, one_group, result};

fn floats(text: &str, words: usize) -> Vec<f32> {
    result(text, 4, words).into_iter().map(f32::from_bits).collect()
}

/// A kernel of four work-items that writes `r`, an `f32`.
fn computed(declarations: &str, body: &str) -> Vec<f32> {
    let text = format!(
        "{declarations}
        @group(0) @binding(0) var<storage, read_write> data: array<f32>;
        @compute @workgroup_size(4)
        fn main(@builtin(local_invocation_index) i: u32) {{
            var r = 0.0;
            {body}
            data[i] = r;
        }}"
    );
    floats(&text, 4)
}

#[test]
fn matrices_are_columns() {
    let declare = "const m = mat2x3<f32>(1.0, 2.0, 3.0, 4.0, 5.0, 6.0);";
    let of = |body: &str| computed(declare, body);
    assert_eq!(of("let n = m * f32(i); r = n[1].z;"), [0.0, 6.0, 12.0, 18.0]);
    assert_eq!(of("let n = m * vec2(1.0, f32(i)); r = n.y;"), [2.0, 7.0, 12.0, 17.0]);
    assert_eq!(of("let n = vec3(1.0, 0.0, f32(i)) * m; r = n.y;"), [4.0, 10.0, 16.0, 22.0]);
    assert_eq!(of("var n = m; n[i % 2u].y = 50.0; r = n[0].y + n[1].y;"), [55.0, 52.0, 55.0, 52.0]);
    assert_eq!(of("let n = transpose(m * f32(i)); r = n[2].x;"), [0.0, 3.0, 6.0, 9.0]);
    assert_eq!(
        of("let n = transpose(m) * m; r = n[i % 2u].x + f32(i) * 0.0;"),
        [14.0, 32.0, 14.0, 32.0]
    );
    assert_eq!(of("let n = m + m - m * 0.5; r = n[0].x + f32(i);"), [1.5, 2.5, 3.5, 4.5]);
    assert_eq!(
        of("r = determinant(mat3x3(2.0, 0.0, f32(i), 1.0, 3.0, 0.0, 0.0, 1.0, 1.0));"),
        [6.0, 7.0, 8.0, 9.0]
    );
    assert_eq!(
        of("var n = mat4x4<f32>(); for (var k = 0u; k < 4u; k++) { n[k][k] = f32(k + i); }
            r = determinant(n);"),
        [0.0, 24.0, 120.0, 360.0]
    );
}

#[test]
fn matrices_in_memory_have_their_gaps() {
    let text = "
        struct Part { m: mat3x3<f32>, n: mat2x2<f32> }
        @group(0) @binding(0) var<storage, read_write> data: array<Part>;
        var<workgroup> tile: mat3x3<f32>;
        @compute @workgroup_size(1)
        fn main() {
            data[0].m = mat3x3(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0);
            data[0].n[1] = vec2(10.0, 11.0);
            tile = data[0].m;
            tile[2].y += data[0].n[1].y;
            data[1].m[0] = tile[2];
            data[1].n = mat2x2(data[0].n[1], data[0].n[0]);
        }";
    let words: Vec<f32> = result(text, 1, 32).into_iter().map(f32::from_bits).collect();
    assert_eq!(words[..11], [1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0, 0.0, 7.0, 8.0, 9.0]);
    assert_eq!(words[12..16], [0.0, 0.0, 10.0, 11.0]);
    assert_eq!(
        (&words[16..19], &words[28..32]),
        (&[7.0, 19.0, 9.0][..], &[10.0, 11.0, 0.0, 0.0][..])
    );
}

#[test]
fn halves_round_after_each_operation() {
    let of = |body: &str| computed("enable f16;", body);
    assert_eq!(of("let h = f16(i) * 0.1h; r = f32(h);")[3], 0.299_804_7);
    assert_eq!(
        of("var h = 2048.0h + f16(i); h += 1.0h; r = f32(h);"),
        [2048.0, 2048.0, 2052.0, 2052.0]
    );
    assert_eq!(
        of("let v = vec4<f16>(f16(i), 1.0h, 2.0h, 3.0h); r = f32(dot(v, v));"),
        [14.0, 15.0, 18.0, 23.0]
    );
    assert_eq!(of("r = f32(f16(f32(i) * 70000.0));")[..2], [0.0, f32::INFINITY]);
    assert_eq!(of("r = f32(i32(f16(i) * 1.5h)) + f32(sqrt(f16(i)) < 1.5h);"), [1.0, 2.0, 4.0, 4.0]);
    assert_eq!(
        of("let m = mat2x2<f16>(1.0h, 2.0h, 3.0h, 4.0h) * f16(i); r = f32((m * m)[1].y);")[1],
        22.0
    );
}

#[test]
fn halves_lie_side_by_side_in_memory() {
    let text = "
        enable f16;
        struct Data { pairs: array<vec2<f16>, 2>, odd: vec3<f16>, more: array<f16> }
        @group(0) @binding(0) var<storage, read_write> data: Data;
        var<workgroup> tile: array<f16, 8>;
        @compute @workgroup_size(8)
        fn main(@builtin(local_invocation_index) i: u32) {
            tile[i] = f16(i);
            workgroupBarrier();
            data.more[i] = tile[7u - i] + 0.5h;
            if (i < 2u) { data.pairs[i] = vec2(f16(i), -1.0h); }
            if (i == 2u) { data.odd = vec3(1.0h, 2.0h, f16(arrayLength(&data.more))); }
        }";
    let words = result(text, 8, 8);
    let halves: Vec<u32> = words.iter().flat_map(|word| [word & 0xffff, word >> 16]).collect();
    assert_eq!(halves[..7], [0, 0xbc00, 0x3c00, 0xbc00, 0x3c00, 0x4000, 0x4880]);
    // 7.5 to 0.5
    assert_eq!(halves[7..15], [0x4780, 0x4680, 0x4580, 0x4480, 0x4300, 0x4100, 0x3e00, 0x3800]);
}

#[test]
fn halves_of_a_word_race_by_themselves() {
    let text = |index: &str| {
        format!(
            "enable f16;
var<workgroup> tile: array<f16, 8>;
@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32) {{
    tile[{index}] = f16(i);
}}"
        )
    };
    assert_eq!(one_group(&text("i"), 8, 1).1, []);
    let (_, faults) = one_group(&text("i / 2u"), 8, 1);
    assert!(faults[0].what.contains("writes element 0 of 8 in `tile`, which work-item [0, 0, 0]"));
    let (_, faults) = one_group(&text("i + 1u"), 8, 1);
    assert!(faults[0].what.contains("writes element 8 of 8 in `tile`"), "{faults:?}");
}

#[test]
fn overrides_have_their_default_values() {
    let text = "
        @id(3) override width: u32 = 2u;
        override count = 2u * width;
        override scale: f32 = 0.5;
        var<workgroup> tile: array<f32, count>;
        @group(0) @binding(0) var<storage, read_write> data: array<f32>;
        @compute @workgroup_size(count)
        fn main(@builtin(local_invocation_index) i: u32) {
            tile[i] = f32(i) * scale;
            workgroupBarrier();
            data[i] = tile[(i + 1u) % count] + f32(width);
        }";
    assert_eq!(floats(text, 4), [2.5, 3.0, 3.5, 2.0]);
    let unset = "override n: u32;
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(1) fn main() { data[0] = n; }";
    let rejected = Emulator::new(&kernel("main.wgsl", unset, [1, 1, 1], &[])).unwrap_err();
    assert!(rejected.to_string().contains("main.wgsl:1"), "{rejected}");
}

/// What eight work-items in subgroups of four compute.
fn subgroups(body: &str) -> Vec<u32> {
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(10)
        fn main(
            @builtin(local_invocation_index) i: u32,
            @builtin(subgroup_size) size: u32,
            @builtin(subgroup_invocation_id) lane: u32,
            @builtin(subgroup_id) id: u32,
            @builtin(num_subgroups) count: u32,
        ) {{
            {body}
        }}"
    );
    let kernel = kernel("main.wgsl", &text, [10, 1, 1], &[]);
    let mut launch = Launch { groups: [1; 3], buffers: vec![vec![0; 10].into()], params: vec![] };
    let instrumentation = Instrumentation { subgroup: 4, ..Instrumentation::default() };
    let seen = Emulator::new(&kernel).unwrap().run(&mut launch, Groups::All, instrumentation);
    assert_eq!(seen.unwrap().faults, []);
    launch.buffers.remove(0).into_words()
}

#[test]
fn subgroups_combine_their_lanes() {
    assert_eq!(
        subgroups("data[i] = 1000u * size + 100u * count + 10u * id + lane;"),
        [4300, 4301, 4302, 4303, 4310, 4311, 4312, 4313, 4320, 4321]
    );
    assert_eq!(subgroups("data[i] = subgroupAdd(i);"), [6, 6, 6, 6, 22, 22, 22, 22, 17, 17]);
    assert_eq!(
        subgroups("data[i] = subgroupExclusiveAdd(i) + 100u * subgroupInclusiveAdd(1u);"),
        [100, 200, 301, 403, 100, 204, 309, 415, 100, 208]
    );
    assert_eq!(
        subgroups("if (i % 2u == 1u) { data[i] = subgroupMin(i) + 10u * subgroupMax(i); }"),
        [0, 31, 0, 31, 0, 75, 0, 75, 0, 99]
    );
    assert_eq!(
        subgroups("data[i] = subgroupBallot(i % 3u == 0u).x;"),
        [9, 9, 9, 9, 4, 4, 4, 4, 2, 2]
    );
    assert_eq!(
        subgroups("data[i] = u32(subgroupAll(i < 5u)) + 2u * u32(subgroupAny(i == 5u));"),
        [1, 1, 1, 1, 2, 2, 2, 2, 0, 0]
    );
    assert_eq!(subgroups("data[i] = u32(subgroupAdd(f32(i) * 0.5) * 2.0);")[..5], [6, 6, 6, 6, 22]);
}

#[test]
fn subgroups_pass_values_on() {
    assert_eq!(subgroups("data[i] = subgroupBroadcastFirst(i);")[..6], [0, 0, 0, 0, 4, 4]);
    assert_eq!(subgroups("data[i] = subgroupBroadcast(i, 2u);")[..6], [2, 2, 2, 2, 6, 6]);
    assert_eq!(subgroups("data[i] = subgroupShuffle(i, 3u - lane);")[..6], [3, 2, 1, 0, 7, 6]);
    assert_eq!(subgroups("data[i] = subgroupShuffleXor(i, 1u);")[..6], [1, 0, 3, 2, 5, 4]);
    assert_eq!(subgroups("data[i] = subgroupShuffleUp(i, 1u);")[1..4], [0, 1, 2]);
    assert_eq!(subgroups("data[i] = subgroupShuffleDown(i, 1u);")[4..7], [5, 6, 7]);
    assert_eq!(subgroups("data[i] = quadBroadcast(i, 1u);")[..6], [1, 1, 1, 1, 5, 5]);
    assert_eq!(
        subgroups("data[i] = quadSwapDiagonal(i) + 10u * quadSwapY(i);")[..4],
        [23, 32, 1, 10]
    );
}
