//! Whether copies run concurrently with kernels, and with copies of the other direction.

use crate::engines::{either, middle, verdict};
use crate::overlap::analysis::hidden;
use crate::overlap::data::{Overlap, OverlapRun};
use gpubench_core::record::NamedStep;

/// The share of every stage's time concurrent with others below which nothing overlapped: what rounding
/// and the ends of intervals make.
const TOUCHING: f64 = 0.02;
/// The share of the whole that must be hideable for no saving to mean that nothing overlaps.
const MIN_HIDEABLE_SHARE: f64 = 0.2;

/// Whether chunks on queues of their own save time against the same chunks in order, with kernels
/// and copies that ran at the same time.
pub(super) fn overlaps_kernels(raw: &Overlap) -> Option<bool> {
    let pairs =
        raw.runs.iter().filter(|run| run.queues > 1 && run.chunks > 1).filter_map(|apart| {
            let in_order = |run: &&OverlapRun| run.queues == 1 && run.chunks == apart.chunks;
            Some((apart, raw.runs.iter().find(in_order)?))
        });
    let verdicts = pairs.map(|(apart, in_order)| chunks_overlap(raw, apart, in_order));
    verdicts.fold(None, either)
}

/// Whether more time was hidden than kernels take: copies of both directions ran at once. Where less was hidden, that
/// shows nothing, since other things than copies may have held it up.
pub(super) fn both_ways(raw: &Overlap) -> Option<bool> {
    let is_whole = |run: &&OverlapRun| run.queues == 1 && run.chunks == 1;
    let in_order = middle(&raw.runs.iter().find(is_whole)?.timed.walls)?;
    let [upload, kernel, download] =
        [&raw.upload, &raw.kernel, &raw.download].map(|timed| middle(&timed.walls));
    let (kernel, hideable) = (kernel?, upload?.value.min(download?.value));
    let is_more = |run: &OverlapRun| {
        let wall = middle(&run.timed.walls)?;
        let error = in_order.error.hypot(kernel.error).hypot(wall.error);
        verdict(in_order.value - wall.value - kernel.value, hideable, error).filter(|seen| *seen)
    };
    raw.runs.iter().filter(|run| run.queues > 1).find_map(is_more)
}

fn chunks_overlap(raw: &Overlap, apart: &OverlapRun, in_order: &OverlapRun) -> Option<bool> {
    let touched = hidden(&apart.timed.steps);
    let [upload, kernel, download] = [&raw.upload, &raw.kernel, &raw.download]
        .map(|timed| middle(&timed.walls).map(|middle| middle.value));
    let hideable = kernel?.min(upload? + download?) * (1.0 - 1.0 / f64::from(apart.chunks));
    if touched.is_some_and(|shares| shares.into_iter().all(|share| share < TOUCHING)) {
        // Intervals that do not touch hid nothing. Copies that are over before a kernel is
        // launched had nothing to overlap with, so only longer ones count, or one that waited.
        if waited(&apart.timed.steps) {
            return Some(false);
        }
        let copies = apart.timed.steps.iter().filter(|step| !is_kernel(step));
        let longest = copies.map(|step| step.ended - step.started).fold(0.0, f64::max);
        return (longest > launch(&in_order.timed.steps)?).then_some(false);
    }
    let (apart, in_order) = (middle(&apart.timed.walls)?, middle(&in_order.timed.walls)?);
    let error = apart.error.hypot(in_order.error);
    let found = verdict(in_order.value - apart.value, hideable, error);
    // Waiting between queues may cost as much as a small overlap saves.
    found.filter(|&seen| seen || hideable > MIN_HIDEABLE_SHARE * in_order.value)
}

/// Whether an upload, which needs nothing but its queue, began only after a whole kernel that was not
/// there when its queue became free.
fn waited(steps: &[NamedStep]) -> bool {
    let uploads: Vec<&NamedStep> = steps.iter().filter(|s| s.name.starts_with("upload")).collect();
    uploads.windows(2).any(|pair| {
        let within = |k: &&NamedStep| k.started >= pair[0].ended && k.ended <= pair[1].started;
        steps.iter().filter(|step| is_kernel(step)).any(|kernel| within(&kernel))
    })
}

fn is_kernel(step: &NamedStep) -> bool {
    step.name.starts_with("kernel")
}

/// Seconds from the end of a step to the start of the kernel behind it, in order on one queue.
fn launch(in_order: &[NamedStep]) -> Option<f64> {
    let behind = in_order.windows(2).filter(|pair| is_kernel(&pair[1]));
    let gaps: Vec<f64> = behind.map(|pair| pair[1].started - pair[0].ended).collect();
    middle(&gaps).map(|middle| middle.value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::engines;
    use gpubench_core::gpu::{Clock, MemoryKind};
    use gpubench_core::record::{Detail, Timed};

    /// Steps of (name, start, end), whose wall is the last end.
    fn run(chunks: u32, queues: u32, steps: &[(&str, f64, f64)]) -> OverlapRun {
        let step = |&(name, started, ended): &(&str, f64, f64)| NamedStep {
            name: name.into(),
            queue: 0,
            started,
            ended,
        };
        let wall = steps.iter().map(|step| step.2).fold(0.0, f64::max);
        let timed = Timed { walls: vec![wall; 9], steps: steps.iter().map(step).collect() };
        OverlapRun { chunks, queues, timed }
    }

    const IN_ORDER: [(&str, f64, f64); 6] = [
        ("upload 0", 0.0, 2.0),
        ("kernel 0", 3.0, 6.0),
        ("download 0", 6.0, 8.0),
        ("upload 1", 8.0, 10.0),
        ("kernel 1", 11.0, 14.0),
        ("download 1", 14.0, 16.0),
    ];

    fn overlap_of(apart: &[(&str, f64, f64)]) -> Option<bool> {
        let alone = |seconds: f64| Timed { walls: vec![seconds; 9], steps: vec![] };
        let raw = Overlap {
            clock: Clock::Device,
            host_memory: MemoryKind::Pinned,
            rows: 2,
            bytes: [1, 1],
            upload: alone(4.0),
            kernel: alone(8.0),
            download: alone(4.0),
            runs: vec![run(2, 3, apart), run(2, 1, &IN_ORDER)],
            turns: None,
        };
        engines(&[&Detail::new(&raw)]).overlaps_kernels
    }

    #[test]
    fn copies_overlapping_kernels_are_seen_by_the_time_saved() {
        let mut apart = IN_ORDER;
        (apart[3], apart[4], apart[5]) =
            (("upload 1", 2.0, 4.0), ("kernel 1", 7.0, 10.0), ("download 1", 10.0, 12.0));
        assert_eq!(overlap_of(&apart), Some(true));
        // The same intervals, but nothing gained: everything took longer.
        let slower = apart.map(|(name, start, end)| (name, start * 4.0 / 3.0, end * 4.0 / 3.0));
        assert_eq!(overlap_of(&slower), Some(false));
    }

    #[test]
    fn what_hides_more_than_kernels_take_copied_both_ways_at_once() {
        let alone = |seconds: f64| Timed { walls: vec![seconds; 9], steps: vec![] };
        let raw = |[upload, kernel, download]: [f64; 3], [whole, best]: [f64; 2]| Overlap {
            clock: Clock::Device,
            host_memory: MemoryKind::Pinned,
            rows: 2,
            bytes: [1, 1],
            upload: alone(upload),
            kernel: alone(kernel),
            download: alone(download),
            runs: vec![
                run(1, 1, &[("upload 0", 0.0, whole)]),
                run(8, 3, &[("upload 0", 0.0, best)]),
            ],
            turns: None,
        };
        // The sepia filter on an H100 by OpenCL, and by Vulkan: each isolated stage holds a submission.
        assert_eq!(both_ways(&raw([322e-6, 31.4e-6, 319e-6], [651e-6, 456e-6])), Some(true));
        assert_eq!(both_ways(&raw([397e-6, 60.4e-6, 372e-6], [735e-6, 707e-6])), None);
    }

    #[test]
    fn copies_that_wait_for_kernels_or_are_longer_than_a_launch_show_that_nothing_overlaps() {
        assert_eq!(overlap_of(&IN_ORDER), Some(false));
        // All over before the kernel that they could have overlapped.
        let short = [
            ("upload 0", 0.0, 0.4),
            ("upload 1", 0.4, 0.8),
            ("kernel 0", 3.0, 6.0),
            ("download 0", 6.0, 6.4),
            ("kernel 1", 7.0, 10.0),
            ("download 1", 10.0, 10.4),
        ];
        assert_eq!(overlap_of(&short), None);
    }
}
