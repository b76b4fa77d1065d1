//! Buffers of types that not every language has: filled, verified to the last bit, or skipped.

mod common;

use common::{Place, text};
use gpubench::gpu::{Language, Scalar};
use gpubench::record::{Outcome, Record};
use std::fs;

const OPENCL: &str = "
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void saxpy(global double *y, global const double *x, double a, int n) {
    const int i = get_global_id(0);
    if (i < n) y[i] += a * x[i];
}
kernel void brighten(global const uchar *image, global uchar *out, uint n) {
    const uint i = get_global_id(0);
    if (i < n) out[i] = add_sat(image[i], (uchar)100);
}
kernel void difference(global const short2 *pairs, global short *out, int n) {
    const int i = get_global_id(0);
    if (i < n) out[i] = pairs[i].x - 2 * pairs[i].y;
}
kernel void scramble(global const ulong *x, global ulong *out, ulong shift, int n) {
    const int i = get_global_id(0);
    if (i < n) out[i] = (x[i] + shift) * 0x9e3779b97f4a7c15UL;
}
kernel void twice(global const half *x, global half *out, int n) {
    const int i = get_global_id(0);
    if (i < n) vstore_half(2 * vload_half(i, x), i, out);
}
";

const SUITE: &str = "version: 1
workloads:
  saxpy:
    kernel: { opencl: k.cl, entry: saxpy, group: [16], args: [y, x, { f64: 0.1 }, { i32: n }] }
    sizes: { n: [77] }
    buffers:
      x: { type: f64, count: n, fill: index }
      y: { type: f64, count: n, fill: { constant: 1e-9 }, access: read_write }
    grid: [n]
    verify: { file: saxpy.npy }
  brighten:
    kernel: { opencl: k.cl, entry: brighten, group: [16], args: [image, out, { u32: n }] }
    sizes: { n: [331] }
    buffers:
      image: { type: u8, count: n, fill: index }
      out: { type: u8, count: n }
    grid: [n]
    verify: { file: brighten.npy }
  difference:
    kernel: { opencl: k.cl, entry: difference, group: [16], args: [pairs, out, { i32: n }] }
    sizes: { n: [77] }
    buffers:
      pairs: { type: i16x2, count: n, fill: index }
      out: { type: i16, count: n }
    grid: [n]
    verify: { file: difference.npy }
  scramble:
    kernel: { opencl: k.cl, entry: scramble, group: [16], args: [x, out, { u64: 3 }, { i32: n }] }
    sizes: { n: [77] }
    buffers:
      x: { type: u64, count: n, fill: index }
      out: { type: u64, count: n }
    grid: [n]
    verify: { file: scramble.npy }
  twice:
    kernel: { opencl: k.cl, entry: twice, group: [16], args: [x, out, { i32: n }] }
    sizes: { n: [77] }
    buffers:
      x: { type: f16, count: n, fill: { uniform: [0, 2000] } }
      out: { type: f16, count: n }
    grid: [n]
    verify: { command: [python3, twice.py] }
";

/// Without NumPy: doubling a binary16 adds one to its exponent.
const TWICE: &str = "
import struct, sys
x = open(sys.argv[1] + '/x.npy', 'rb').read()
assert b\"'descr': '<f2'\" in x, x[:80]
start = 10 + struct.unpack('<H', x[8:10])[0]
halves = struct.unpack('<77e', x[start:])
assert all(0 <= half <= 2000 for half in halves) and len(set(halves)) > 9, halves
open(sys.argv[2] + '/out.npy', 'wb').write(x[:start] + struct.pack('<77e', *(2 * h for h in halves)))
";

/// A folder with the suite, the last number of every expected array a little wrong where `wrong`.
fn place(wrong: bool) -> Place {
    let place = Place::new();
    let write = |name: &str, contents: Vec<u8>| {
        fs::write(place.folder.path().join(name), contents).expect("writable");
    };
    let array = |name: &str, scalar: Scalar, mut bytes: Vec<u8>, byte: usize| {
        let last = bytes.len() - scalar.size();
        bytes[last + byte] ^= u8::from(wrong);
        let count = (bytes.len() / scalar.size()) as u64;
        write(name, gpubench_core::npy::file(scalar, &[count], &bytes));
    };
    write("k.cl", OPENCL.into());
    write("twice.py", TWICE.into());
    write("my.yaml", SUITE.into());
    let saxpy = (0..77).flat_map(|i| 0.1f64.mul_add(f64::from(i), 1e-9).to_ne_bytes());
    // Some 10⁻¹¹ of the number, which an `f32` would not show.
    array(
        "saxpy.npy",
        Scalar::F64,
        saxpy.collect(),
        if cfg!(target_endian = "big") { 5 } else { 2 },
    );
    let brighten = (0..331).map(|i| u8::try_from(i % 256 + 100).unwrap_or(255));
    array("brighten.npy", Scalar::U8, brighten.collect(), 0);
    let difference = (0..77i16).flat_map(|i| (2 * i - 2 * (2 * i + 1)).to_ne_bytes());
    array("difference.npy", Scalar::I16, difference.collect(), 0);
    // Beyond 2⁵³, where neighbours are the same binary64.
    let scramble =
        (0..77u64).flat_map(|i| (i + 3).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_ne_bytes());
    array("scramble.npy", Scalar::U64, scramble.collect(), 0);
    place
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn every_type_is_filled_and_verified_to_the_bit() {
    for wrong in [false, true] {
        let place = place(wrong);
        let args = ["run", "my.yaml", "--trust", "--verify", "--rounds", "1"];
        let ran = place.output(&[&args[..], &["--backend", "opencl"]].concat());
        let said = text(&ran.stdout) + &text(&ran.stderr);
        let run = place.run();
        assert_eq!(run.records.len() % 5, 0, "{said}");
        for record in &run.records {
            let mismatch = match &record.outcome {
                Outcome::Unverified(mismatch) => Some(mismatch),
                Outcome::Ok => None,
                other => panic!("{}: {other:?}: {said}", record.key.workload),
            };
            // The command computes what is right.
            let found = wrong && record.key.workload != "twice";
            assert_eq!(mismatch.is_some(), found, "{}: {said}", record.key.workload);
            assert!(mismatch.is_none_or(|found| found.wrong == 1 && found.index == found.of - 1));
        }
    }
}

const WGSL: &str = "
enable f16;
@group(0) @binding(0) var<storage, read> x: array<vec2<f16>>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<f16>>;
@compute @workgroup_size(GROUP_X)
fn halve(@builtin(global_invocation_id) gid: vec3<u32>) {
    let i = gid.x;
    if i < arrayLength(&x) { out[i] = x[i] * 0.5h + vec2(1.0h, -1.0h); }
}
";

const WGSL_SUITE: &str = "version: 1
workloads:
  halve:
    kernel: { wgsl: k.wgsl, entry: halve, group: [16] }
    sizes: { n: [78] }
    params: {}
    buffers:
      x: { type: f16x2, count: n, fill: random_bits }
      out: { type: f16x2, count: n }
    grid: [n]
    verify: { against: emulator }
  bytes:
    kernel: { wgsl: bytes.wgsl, entry: halve, group: [16] }
    sizes: { n: [78] }
    params: {}
    buffers:
      x: { type: u8, count: n, fill: index }
      out: { type: u8, count: n }
    grid: [n]
    verify: none
";

#[test]
#[cfg_attr(not(feature = "require-wgpu"), ignore = "needs a wgpu driver")]
fn wgsl_has_halves_and_no_bytes() {
    let place = Place::new();
    let folder = place.folder.path();
    fs::write(folder.join("k.wgsl"), WGSL).expect("writable");
    fs::write(folder.join("bytes.wgsl"), WGSL.replace("vec2<f16>", "u32")).expect("writable");
    fs::write(folder.join("my.yaml"), WGSL_SUITE).expect("writable");
    let ran = place.output(&["run", "my.yaml", "--trust", "--verify", "--rounds", "1"]);
    let said = text(&ran.stdout) + &text(&ran.stderr);
    let run = place.run();
    let skip = |outcome: &Outcome| match outcome {
        Outcome::Unsupported(reason) => Some(reason.to_string()),
        _ => None,
    };
    let device = |record: &Record| &run.header.devices[record.device];
    let takes_wgsl = |record: &&Record| device(record).language == Language::Wgsl;
    assert!(run.records.iter().any(|record| takes_wgsl(&record)), "{said}");
    for record in run.records.iter().filter(takes_wgsl) {
        let has = device(record).features.iter().any(|feature| feature == "f16");
        let outcome = &record.outcome;
        let reason = match record.key.workload.as_str() {
            "bytes" => Some("WGSL has no buffers of `u8`"),
            _ => (!has).then_some("holds `f16`, which the device does not offer"),
        };
        match reason {
            None => assert_eq!(*outcome, Outcome::Ok, "{said}"),
            Some(why) => assert!(skip(outcome).is_some_and(|is| is.contains(why)), "{said}"),
        }
    }
}
