//! WGSL's functions against what Rust, or a pencil, makes of the same numbers.

use super::result;

/// What an expression of `x`, one of eight numbers, gives as `f32`.
fn floats(expression: &str) -> Vec<f32> {
    words(&format!("bitcast<u32>(f32({expression}))")).into_iter().map(f32::from_bits).collect()
}

/// What an expression of `x` (an `f32`), `v` and `w` (vectors made of it) and `i` gives as `u32`.
fn words(expression: &str) -> Vec<u32> {
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
         @compute @workgroup_size(8)
         fn main(@builtin(local_invocation_index) i: u32) {{
             let x = f32(i) * 0.125 + 0.0625;
             let v = vec3<f32>(x, 1.0 - x, 0.5);
             let w = vec3<f32>(0.25, x, -x);
             data[i] = {expression};
         }}"
    );
    result(&text, 8, 8)
}

fn xs() -> impl Iterator<Item = f32> {
    (0..8u8).map(|i| f32::from(i) * 0.125 + 0.0625)
}

/// An expression, and what it is of an `x`.
type Known = (&'static str, fn(f64) -> f64);

#[test]
fn functions_of_a_number() {
    let functions: [Known; 22] = [
        ("asin(x)", f64::asin),
        ("acos(x)", f64::acos),
        ("atan(x)", f64::atan),
        ("atan2(x, -0.5)", |x| x.atan2(-0.5)),
        ("sinh(x)", f64::sinh),
        ("cosh(x)", f64::cosh),
        ("tanh(x)", f64::tanh),
        ("asinh(x)", f64::asinh),
        ("acosh(1.0 + x)", |x| (1.0 + x).acosh()),
        ("atanh(x)", f64::atanh),
        ("radians(x)", f64::to_radians),
        ("degrees(x)", f64::to_degrees),
        ("smoothstep(0.25, 0.75, x)", |x| {
            let t = ((x - 0.25) / 0.5).clamp(0.0, 1.0);
            t * t * (3.0 - 2.0 * t)
        }),
        ("ldexp(x, i32(4))", |x| x * 16.0),
        ("modf(3.0 + x).whole", |_| 3.0),
        ("modf(-3.0 - x).fract", |x| -x),
        ("frexp(x).fract * exp2(f32(frexp(x).exp))", |x| x),
        ("fma(x, x, 1.0)", |x| x * x + 1.0),
        ("length(x - 1.0)", |x| 1.0 - x),
        ("distance(1.0, x)", |x| 1.0 - x),
        ("quantizeToF16(1.0 + x)", |x| 1.0 + x),
        ("tan(x) * inverseSqrt(x)", |x| x.tan() / x.sqrt()),
    ];
    for (expression, function) in functions {
        for (found, x) in floats(expression).into_iter().zip(xs()) {
            let wanted = function(x.into());
            let error = (f64::from(found) - wanted).abs();
            assert!(
                error <= 1e-6 * wanted.abs().max(0.1),
                "{expression} of {x}: {found}, {wanted}"
            );
        }
    }
}

#[test]
fn functions_of_vectors() {
    let dot = |a: [f32; 3], b: [f32; 3]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let vectors = |x: f32| ([x, 1.0 - x, 0.5], [0.25, x, -x]);
    let about = |expression: &str, wanted: &dyn Fn([f32; 3], [f32; 3]) -> f32| {
        for (found, x) in floats(expression).into_iter().zip(xs()) {
            let (v, w) = vectors(x);
            let wanted = wanted(v, w);
            assert!((found - wanted).abs() < 1e-5, "{expression} of {x}: {found}, {wanted}");
        }
    };
    about("distance(v, w)", &|v, w| {
        let d = [v[0] - w[0], v[1] - w[1], v[2] - w[2]];
        dot(d, d).sqrt()
    });
    about("normalize(v).y", &|v, _| v[1] / dot(v, v).sqrt());
    about("cross(v, w).x", &|v, w| v[1] * w[2] - v[2] * w[1]);
    about("cross(v, w).y", &|v, w| v[2] * w[0] - v[0] * w[2]);
    about("cross(v, w).z", &|v, w| v[0] * w[1] - v[1] * w[0]);
    about("reflect(v, w).z", &|v, w| v[2] - 2.0 * dot(v, w) * w[2]);
    about("faceForward(v, w, v).x", &|v, w| if dot(w, v) < 0.0 { v[0] } else { -v[0] });
    about("refract(v, w, 0.5).x", &|v, w| {
        let d = dot(w, v);
        let k = 1.0 - 0.25 * (1.0 - d * d);
        if k < 0.0 { 0.0 } else { 0.5 * v[0] - (0.5 * d + k.sqrt()) * w[0] }
    });
    about("mix(v, w, 0.25).y + smoothstep(w, v, vec3(0.5)).z * 0.0", &|v, w| {
        v[1] + 0.25 * (w[1] - v[1])
    });
}

#[test]
fn bits_and_fields() {
    assert_eq!(words("firstLeadingBit(i)"), [u32::MAX, 0, 1, 1, 2, 2, 2, 2]);
    assert_eq!(
        words("bitcast<u32>(firstLeadingBit(-i32(i)))"),
        [u32::MAX, u32::MAX, 0, 1, 1, 2, 2, 2]
    );
    assert_eq!(words("firstTrailingBit(i)"), [u32::MAX, 0, 1, 0, 2, 0, 1, 0]);
    assert_eq!(words("extractBits(0xabcdu + i, 4u, 8u)"), [188, 188, 188, 189, 189, 189, 189, 189]);
    assert_eq!(words("bitcast<u32>(extractBits(-16i + i32(i), 0u, 4u))")[7], 7);
    assert_eq!(words("bitcast<u32>(extractBits(8i, i, 4u))")[..2], [u32::MAX - 7, 4]);
    assert_eq!(words("insertBits(0xffffu, i, 4u, 4u)")[..3], [0xff0f, 0xff1f, 0xff2f]);
    assert_eq!(words("insertBits(7u, 1u, 32u, i)"), [7; 8]);
    assert_eq!(words("countLeadingZeros(i) + countTrailingZeros(i)")[..3], [64, 31, 31]);
}

#[test]
fn numbers_are_packed_and_unpacked() {
    assert_eq!(words("pack4x8unorm(vec4(0.0, 0.5, 1.0, f32(i)))")[..2], [0x00ff_8000, 0xffff_8000]);
    assert_eq!(words("pack4x8snorm(vec4(-1.0, 0.0, 1.0, f32(i) - 2.0))")[0], 0x817f_0081);
    assert_eq!(words("pack2x16snorm(vec2(-1.0, f32(i)))")[1], 0x7fff_8001);
    assert_eq!(words("pack2x16unorm(vec2(1.0, f32(i) * 0.0))")[3], 0xffff);
    assert_eq!(
        words("pack2x16float(vec2(1.0, -f32(i)))")[..3],
        [0x8000_3c00, 0xbc00_3c00, 0xc000_3c00]
    );
    assert_eq!(words("pack4xI8(vec4<i32>(-1, 2, 3, i32(i) + 256))")[5], 0x0503_02ff);
    assert_eq!(words("pack4xU8(vec4<u32>(255u, 2u, 3u, i))")[5], 0x0503_02ff);
    assert_eq!(words("pack4xI8Clamp(vec4<i32>(-999, 999, 0, i32(i)))")[1], 0x0100_7f80);
    assert_eq!(words("pack4xU8Clamp(vec4<u32>(999u, 9u, 0u, i))")[1], 0x0100_09ff);
    assert_eq!(floats("unpack4x8unorm(0xff008000u + i).w"), [1.0; 8]);
    assert_eq!(floats("unpack4x8snorm(0x81000000u + i).w"), [-1.0; 8]);
    assert_eq!(floats("unpack2x16snorm(0x80007fffu - i * 0u).y"), [-1.0; 8]);
    assert_eq!(floats("unpack2x16unorm(0xffff0000u + i * 0u).y"), [1.0; 8]);
    assert_eq!(floats("unpack2x16float(0xc0003c00u + i * 0u).y")[0], -2.0);
    assert_eq!(words("bitcast<u32>(unpack4xI8(0xfe000000u + i).w)")[0], (-2i32).cast_unsigned());
    assert_eq!(words("unpack4xU8(0xfe000000u + i).x")[6], 6);
    assert_eq!(words("dot4U8Packed(0x01020304u, i)")[3], 12);
    assert_eq!(
        words("bitcast<u32>(dot4I8Packed(0xff000000u, i << 24u))")[3],
        (-3i32).cast_unsigned()
    );
}

#[test]
fn a_compare_and_exchange_takes_turns() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> data: array<atomic<u32>>;
        @compute @workgroup_size(8)
        fn main(@builtin(local_invocation_index) i: u32) {
            loop {
                let old = atomicLoad(&data[0]);
                let turn = atomicCompareExchangeWeak(&data[0], old, old + i);
                if (turn.exchanged) {
                    atomicStore(&data[1u + i], turn.old_value);
                    break;
                }
            }
        }";
    assert_eq!(result(text, 8, 9), [28, 0, 0, 1, 3, 6, 10, 15, 21]);
}

/// A kernel's own order of arguments: a value, the second buffer, another value, the first one.
#[test]
fn arguments_stand_where_the_suite_puts_them() {
    use super::{Emulator, Groups, Instrumentation, Launch, kernel};
    use gpubench_core::gpu::{Argument, ValueType};
    let text = "@group(0) @binding(0) var<uniform> factor: f32;
        @group(0) @binding(1) var<storage, read_write> out: array<f32>;
        @group(0) @binding(2) var<uniform> add: vec2<u32>;
        @group(0) @binding(3) var<storage, read> in: array<f32>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {
            out[i] = factor * in[i] + f32(add.y);
        }";
    let value = |offset, name: &str| Argument::Value {
        offset,
        r#type: ValueType::try_from(name.to_owned()).unwrap(),
    };
    let args = vec![value(0, "f32"), Argument::Buffer(1), value(8, "u32x2"), Argument::Buffer(0)];
    let mut source = kernel("main.wgsl", text, [4, 1, 1], &[]);
    source.args = Some(args);
    let emulator = Emulator::new(&source).unwrap();
    let words = |numbers: [f32; 4]| numbers.map(f32::to_bits).to_vec();
    let mut launch = Launch {
        groups: [1; 3],
        buffers: vec![words([1.0, 2.0, 3.0, 4.0]).into(), vec![0; 4].into()],
        params: vec![2f32.to_bits(), 0, 7, 10],
    };
    let seen = emulator.run(&mut launch, Groups::All, Instrumentation::default()).unwrap();
    assert_eq!(seen.faults, []);
    let out = launch.buffers.remove(1).into_words();
    assert_eq!(out, words([12.0, 14.0, 16.0, 18.0]));
}
