//! Small kernels with known results, counts and mistakes.

mod bundles;
mod closed_forms;
mod faults;
mod functions;
mod language;
mod limits;
mod numbers;
mod outputs;

use super::{Counts, Emulator, Fault, Groups, Instrumentation, Launch, Rules, Seen};
use gpubench_core::error::Result;
use gpubench_core::gpu::{Constant, KernelSource, Language, Origin};

/// A kernel in `file` with whole-number constants.
fn kernel(file: &str, text: &str, group: [u32; 3], constants: &[(&str, i64)]) -> KernelSource {
    let entry = file.trim_end_matches(".wgsl").rsplit('/').next().unwrap();
    KernelSource {
        origin: Origin::Shipped(file.to_owned()),
        group,
        constants: constants.iter().map(|(n, v)| ((*n).to_owned(), Constant::Int(*v))).collect(),
        ..KernelSource::new(Language::Wgsl, entry, text)
    }
}

/// A shipped kernel.
macro_rules! shipped {
    ($file:literal, $group:expr, $constants:expr) => {
        super::kernel(
            $file,
            include_str!(concat!("../../../../shaders/", $file)),
            $group,
            $constants,
        )
    };
}
use shipped;

fn run(kernel: &KernelSource, launch: &mut Launch, groups: Groups) -> Result<Seen> {
    let instrumentation = Instrumentation {
        counts: Some(Rules::default()),
        races: true,
        ..Instrumentation::default()
    };
    Emulator::new(kernel)?.run(launch, groups, instrumentation)
}

/// The counts of group `group`, which makes no mistake.
fn counts(kernel: &KernelSource, launch: &mut Launch, group: [u32; 3]) -> Counts {
    let seen = run(kernel, launch, Groups::One(group)).unwrap();
    assert_eq!(seen.faults, []);
    seen.counts.unwrap()
}

/// Runs a kernel called `main` on one group of `lanes` with one buffer of `words`.
fn result(text: &str, lanes: u32, words: usize) -> Vec<u32> {
    let (buffer, faults) = one_group(text, lanes, words);
    assert_eq!(faults, []);
    buffer
}

fn one_group(text: &str, lanes: u32, words: usize) -> (Vec<u32>, Vec<Fault>) {
    let kernel = kernel("main.wgsl", text, [lanes, 1, 1], &[]);
    let mut launch =
        Launch { groups: [1; 3], buffers: vec![vec![0; words].into()], params: vec![] };
    let seen = run(&kernel, &mut launch, Groups::All).unwrap();
    (launch.buffers.remove(0).into_words(), seen.faults)
}

/// Runs all `groups` of a kernel called `main`, whose one buffer is an output of `words`; what is
/// wrong, also with what was left unwritten.
fn output_faults(text: &str, lanes: u32, groups: u32, words: usize) -> Vec<String> {
    let kernel = kernel("main.wgsl", text, [lanes, 1, 1], &[]);
    let mut out = super::Buffer::from(vec![0x5a5a_5a5a; words]);
    out.track_writes();
    let mut launch = Launch { groups: [groups, 1, 1], buffers: vec![out], params: vec![] };
    let emulator = Emulator::new(&kernel).unwrap();
    let mut faults =
        emulator.run(&mut launch, Groups::All, Instrumentation::default()).unwrap().faults;
    faults.extend(emulator.never_written(&launch));
    faults.iter().map(ToString::to_string).collect()
}
