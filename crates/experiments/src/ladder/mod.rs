//! The same problem solved better and better: what each step gained, and whether another one is
//! worth it.
//!
//! Source of the chain of decisions: V13 §5.3.3.1 (model 3). A kernel that has a small share of the
//! run time, or that is near the time its operations and bytes need at the device's own ceilings, is
//! not worth more work: what perfecting it could save of the whole is
//! `share · (1 − t_ideal / t)`.

mod section;

pub use section::section;

use crate::registry::stages;
use crate::stages::LITTLE;
use gpubench_analysis::{Aggregate, ReportInput, Roof};
use gpubench_core::record::Record;
use gpubench_core::workload::Size;
use gpubench_model::roofline::{Bound, Ceilings, Reached};
use std::collections::BTreeMap;

/// The tag of workloads whose variants are the steps of a ladder, in the order of the numbers that
/// their names begin with.
pub const LADDER: &str = "ladder";

/// The steps of one workload at one size on one device.
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder {
    /// The workload, without its variant.
    pub workload: String,
    /// The size.
    pub size: Size,
    /// What bounds the problem, by the device's ceilings.
    pub bound: Option<Bound>,
    /// The steps.
    pub rungs: Vec<Rung>,
}

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub struct Rung {
    /// The variant.
    pub variant: String,
    /// Seconds of the kernel over all rounds.
    pub seconds: f64,
    /// Times as fast as the step before; 1 for the first.
    pub speedup: f64,
    /// How near it comes to its ideal time, where the device's ceilings are known.
    pub of_ideal: Option<Reached>,
    /// The kernel's share of uploading, computing and downloading, where these were measured.
    pub share: Option<f64>,
}

impl Rung {
    /// Which share of the run time a perfect kernel would save.
    pub fn possible(&self) -> Option<f64> {
        Some(self.share? * (1.0 - self.of_ideal?.share().value()))
    }

    /// Whether another step is worth it.
    pub fn worth(&self) -> Option<bool> {
        self.possible().map(|possible| possible >= LITTLE)
    }
}

/// Every ladder of device number `device`.
pub fn ladders(input: &ReportInput, device: usize) -> Vec<Ladder> {
    let cases: Vec<&Aggregate> = input.of(device).collect();
    let roof = Roof::of(cases.iter().flat_map(|case| case.records.iter().copied()));
    let mut found: BTreeMap<(&str, &Size), Steps> = BTreeMap::new();
    for &case in cases.iter().filter(|case| is_rung(case)) {
        let Some((workload, variant)) = case.key.workload.split_once('/') else { continue };
        found.entry((workload, &case.key.size)).or_default().insert(step(variant), case);
    }
    let ladder = |((workload, size), variants): ((&str, &Size), Steps)| {
        let mut rungs: Vec<Rung> = vec![];
        let mut bound = None;
        for ((_, variant), case) in variants {
            let (Some((record, work)), Some(time)) = (case.shown().next(), case.time) else {
                continue;
            };
            let seconds = time.value;
            let ceilings = ceilings(&roof, record);
            bound = ceilings.map(|ceilings| ceilings.bound(work.flops, work.bytes));
            rungs.push(Rung {
                variant: variant.to_owned(),
                seconds,
                speedup: rungs.last().map_or(1.0, |before: &Rung| before.seconds / seconds),
                of_ideal: ceilings.and_then(|of| of.reached(work.flops, work.bytes, seconds)),
                share: cases.iter().find_map(|other| share(other, case)),
            });
        }
        let (workload, size) = (workload.to_owned(), size.clone());
        (rungs.len() > 1).then_some(Ladder { workload, size, bound, rungs })
    };
    found.into_iter().filter_map(ladder).collect()
}

/// The device's ceilings for a kernel. Where no memory was measured only arithmetic bounds; where it was
/// measured at smaller sizes only, what they reached may be a cache's, and nothing is known.
fn ceilings(roof: &Roof, kernel: &Record) -> Option<Ceilings> {
    let bandwidth = match roof.bandwidth() {
        None => f64::INFINITY,
        Some(_) => roof.memory_of(kernel)?,
    };
    Some(Ceilings { peak: roof.peak_of(kernel)?, bandwidth })
}

/// Each variant by its place in the ladder.
type Steps<'a> = BTreeMap<(u64, &'a str), &'a Aggregate<'a>>;

/// Where a variant stands: by the number that its name begins with (those without one are last),
/// then by its name.
fn step(variant: &str) -> (u64, &str) {
    let digits = variant.find(|c: char| !c.is_ascii_digit()).unwrap_or(variant.len());
    (variant[..digits].parse().unwrap_or(u64::MAX), variant)
}

fn is_rung(case: &Aggregate) -> bool {
    case.described_by().tags.iter().any(|tag| tag == LADDER)
        && case.key.measure.is_kernel()
        && case.exclusion.is_none()
}

/// The kernel's share of the stages, where `case` measured those of `rung`'s workload.
fn share(case: &Aggregate, rung: &Aggregate) -> Option<f64> {
    let same = case.key.workload == rung.key.workload
        && case.key.size == rung.key.size
        && case.outcome.is_ok();
    let part = |record: &&Record| {
        let stages = stages(record.detail.as_ref()?)?;
        Some(stages.kernel / stages.serial())
    };
    case.records.iter().filter(|_| same).find_map(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlap::data::Overlap;
    use gpubench_analysis::Source;
    use gpubench_core::gpu::{Clock, MemoryKind};
    use gpubench_core::record::{Detail, Timed, sample};
    use gpubench_core::workload::{Ceiling, Kind};

    fn of(records: &[Record], device: usize) -> Vec<Ladder> {
        let header = sample::header(vec![sample::device("opencl"), sample::device("wgpu")]);
        let name = "sample.jsonl".into();
        let source = Source { name, header: &header, records, footer: None, warnings: vec![] };
        ladders(&ReportInput::new(vec![source]), device)
    }

    fn rung(variant: &str, seconds: f64) -> Record {
        let key = sample::key(&format!("matmul/{variant}"), 512);
        let mut record = sample::record(key, seconds);
        record.tags = vec![LADDER.into()];
        let measured = record.measured.as_mut().unwrap();
        (measured.flops, measured.bytes) = (2e9, 1e6);
        record
    }

    /// Two billion operations in a hundredth of a second: 200 GFLOP/s.
    fn ceiling() -> Record {
        let mut record = sample::record(sample::key("fma", 1), 0.01);
        record.ceiling = Some(Ceiling::Flops);
        let measured = record.measured.as_mut().unwrap();
        (measured.flops, measured.bytes) = (2e9, 0.0);
        record
    }

    fn stages(variant: &str, kernel: f64) -> Record {
        let timed = |seconds: f64| Timed { walls: vec![seconds], steps: vec![] };
        let mut record = rung(variant, kernel);
        record.key.measure = Kind::new("overlap");
        record.detail = Some(Detail::new(&Overlap {
            clock: Clock::Device,
            host_memory: MemoryKind::Pinned,
            rows: 512,
            bytes: [1, 1],
            upload: timed(0.06),
            kernel: timed(kernel),
            download: timed(0.04),
            runs: vec![],
            turns: None,
        }));
        record
    }

    #[test]
    fn steps_gain_until_another_is_not_worth_it() {
        let records = [
            rung("2_tiled", 0.1),
            stages("2_tiled", 0.1),
            ceiling(),
            rung("1_naive", 0.4),
            stages("1_naive", 0.4),
            rung("3_best", 0.0105),
            stages("3_best", 0.0105),
        ];
        let ladders = of(&records, 0);
        let [ladder] = ladders.as_slice() else { panic!("{ladders:?}") };
        assert_eq!((ladder.workload.as_str(), ladder.bound), ("matmul", Some(Bound::Compute)));
        let names: Vec<_> = ladder.rungs.iter().map(|rung| rung.variant.as_str()).collect();
        assert_eq!(names, ["1_naive", "2_tiled", "3_best"]);
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(ladder.rungs[1].speedup, 4.0);
        near(ladder.rungs[1].of_ideal.unwrap().share().value(), 0.1);
        near(ladder.rungs[1].share.unwrap(), 0.5);
        near(ladder.rungs[1].possible().unwrap(), 0.45);
        let worth: Vec<_> = ladder.rungs.iter().map(Rung::worth).collect();
        assert_eq!(worth, [Some(true), Some(true), Some(false)]);
    }

    #[test]
    fn the_tenth_step_comes_after_the_second_and_one_without_samples_is_skipped() {
        let mut lost = rung("3_lost", 0.2);
        lost.measured = None;
        let records = [rung("10_best", 0.1), rung("2_tiled", 0.2), lost, rung("1_naive", 0.4)];
        let ladder = of(&records, 0).remove(0);
        let names: Vec<_> = ladder.rungs.iter().map(|rung| rung.variant.as_str()).collect();
        assert_eq!(names, ["1_naive", "2_tiled", "10_best"]);
        assert!((ladder.rungs[2].speedup - 2.0).abs() < 1e-12);
    }

    #[test]
    fn stages_of_a_failed_run_are_no_share() {
        let mut failed = stages("2_tiled", 0.1);
        failed.outcome = gpubench_core::record::Outcome::Unchecked;
        assert!(!failed.outcome.is_ok());
        let records = [rung("1_naive", 0.4), rung("2_tiled", 0.1), failed];
        assert_eq!(of(&records, 0).remove(0).rungs[1].share, None);
    }

    #[test]
    fn a_kernel_that_touches_more_than_any_ceiling_has_none() {
        let triad = |bytes: f64| {
            let mut record = sample::record(sample::key("triad", bytes as i64), bytes / 2e8);
            record.ceiling = Some(Ceiling::Bandwidth);
            let measured = record.measured.as_mut().unwrap();
            (measured.flops, measured.bytes) = (0.0, bytes);
            record
        };
        // The rungs move a million bytes.
        let ideal = |largest: f64| {
            let rungs = [rung("1_naive", 0.4), rung("2_tiled", 0.1), ceiling(), triad(largest)];
            of(&rungs, 0).remove(0).rungs[1].of_ideal
        };
        assert!((ideal(2e6).unwrap().share().value() - 0.1).abs() < 1e-9);
        assert_eq!(ideal(5e5), None);
    }

    #[test]
    fn without_ceilings_or_stages_nothing_is_decided() {
        let records = [rung("1_naive", 0.4), rung("2_tiled", 0.1)];
        let ladder = of(&records, 0).remove(0);
        assert_eq!(ladder.rungs[1].worth(), None);
        assert_eq!(of(&records, 1), []);
        assert_eq!(of(&records[..1], 0), [], "one step is no ladder");
    }
}
