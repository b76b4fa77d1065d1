//! When the second of two kernels ran, inferred from when both ended.
//!
//! An event's start is when the device, or its driver, took the command, which may be long before a
//! work-group of it runs: PoCL stamps it before it queues the groups behind those of the kernel
//! before (`pocl_pthread_prepare_kernel`), and a GPU's command processor may do so while no unit has
//! room. The end is when the last group is done, and after the end of one kernel the other runs as
//! fast as by itself. So what it takes from there on is what was left of it, and the rest of it has run
//! concurrently with the other. A start that left time for much of that while nothing was done is not believed.

use crate::concurrency::data::Pair;
use gpubench_core::record::{NamedStep, Timed};
use gpubench_model::concurrency::Case;

/// From this share of a kernel's run on, another did not start with it.
const WITH_THE_FIRST: f64 = 0.1;
/// Up to this share of the shorter kernel, concurrent work counts as none.
const MIN_CONCURRENT_WORK: f64 = 0.1;
/// A start is believed, whatever was done since, when it left less time than this share of the
/// shorter kernel.
const RELIABLE_SHARE: f64 = 0.5;

/// How two kernels ran that were queued at the same moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Observed {
    /// When the one that ended later started.
    pub case: Case,
    /// The device began the one queued second first.
    pub swapped: bool,
    /// Either kernel's time over its isolated time; one that started after the other is counted from the
    /// other's end.
    pub slowdown: [f64; 2],
}

/// What the ends of a pair's steps show; `None` without steps, and where isolated times scatter by more
/// than half of the shorter kernel, so that nothing can be concluded.
pub(super) fn observed(pair: &Pair) -> Option<Observed> {
    let [first, second] = pair.concurrent_a_first.steps.as_slice() else { return None };
    let isolated =
        [length(pair.first_isolated.steps.first()?), length(pair.second_isolated.steps.first()?)];
    let shorter = isolated[0].min(isolated[1]);
    let later = usize::from(second.ended >= first.ended);
    let (before, after) = if later == 1 { (first, second) } else { (second, first) };
    let scatter = scatter([&pair.first_isolated, &pair.second_isolated][later])?;
    let valid = shorter > 0.0 && length(before) > 0.0 && length(after) > 0.0;
    if !valid || scatter > RELIABLE_SHARE * shorter {
        return None;
    }
    // Time for the later one to run concurrently, if its start is true, and what was done in it.
    let window = before.ended - after.started;
    let done = isolated[later] - (after.ended - before.ended);
    let idle =
        done <= scatter.max(MIN_CONCURRENT_WORK * shorter) && window > RELIABLE_SHARE * shorter;
    let case = if window <= scatter || idle {
        Case::C
    } else if later_start(first, second) {
        Case::B
    } else {
        Case::A
    };
    let mut slowdown = [length(first) / isolated[0], length(second) / isolated[1]];
    if case == Case::C {
        slowdown[later] = (after.ended - after.started.max(before.ended)) / isolated[later];
    }
    let swapped = match case {
        Case::A => false,
        Case::B => second.started < first.started,
        Case::C => later == 0,
    };
    Some(Observed { case, swapped, slowdown })
}

/// Whether the one that started second did so well into the other's run.
fn later_start(first: &NamedStep, second: &NamedStep) -> bool {
    let one = if first.started <= second.started { first } else { second };
    (second.started - first.started).abs() >= WITH_THE_FIRST * length(one)
}

fn length(step: &NamedStep) -> f64 {
    step.ended - step.started
}

/// Half of what the middle half of the times spans.
fn scatter(timed: &Timed) -> Option<f64> {
    let mut walls = timed.walls.clone();
    walls.sort_by(f64::total_cmp);
    let spread = (!walls.is_empty())
        .then(|| gpubench_stats::quantile(&walls, 0.75) - gpubench_stats::quantile(&walls, 0.25))?;
    Some(spread / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::concurrency::data::Launched;

    fn timed(walls: [f64; 3], steps: &[(f64, f64)]) -> Timed {
        let step = |&(started, ended): &(f64, f64)| NamedStep {
            name: String::new(),
            queue: 0,
            started,
            ended,
        };
        Timed { walls: walls.to_vec(), steps: steps.iter().map(step).collect() }
    }

    /// The first takes 4 s by itself, the second 2 s.
    fn pair(steps: &[(f64, f64)]) -> Pair {
        Pair {
            second: Launched { groups: 1, group_size: 1, ..Launched::default() },
            first_isolated: timed([4.0; 3], &[(0.0, 4.0)]),
            second_isolated: timed([2.0; 3], &[(0.0, 2.0)]),
            concurrent_a_first: timed([6.0; 3], steps),
            concurrent_b_first: timed([6.0; 3], &[]),
        }
    }

    fn classified(first: (f64, f64), second: (f64, f64)) -> (Case, bool, [f64; 2]) {
        let Observed { case, swapped, slowdown } = observed(&pair(&[first, second])).unwrap();
        (case, swapped, slowdown)
    }

    #[test]
    fn the_ends_show_when_the_second_ran() {
        assert_eq!(classified((0.0, 4.0), (4.0, 6.0)), (Case::C, false, [1.0, 1.0]), "after");
        assert_eq!(
            classified((0.0, 4.0), (0.0, 4.0)),
            (Case::A, false, [1.0, 2.0]),
            "concurrent, slowed"
        );
        assert_eq!(
            classified((0.0, 4.0), (0.0, 2.0)),
            (Case::A, false, [1.0, 1.0]),
            "concurrent, done first"
        );
        assert_eq!(
            classified((0.0, 4.0), (3.0, 5.0)),
            (Case::B, false, [1.0, 1.0]),
            "in the last wave"
        );
        assert_eq!(
            classified((3.0, 7.0), (0.0, 4.0)),
            (Case::B, true, [1.0, 2.0]),
            "second queued first"
        );
        assert_eq!(
            classified((0.0, 6.0), (0.0, 4.0)),
            (Case::A, false, [1.5, 2.0]),
            "half of all units each"
        );
    }

    #[test]
    fn a_start_that_is_stamped_when_the_command_is_taken_does_not_count() {
        assert_eq!(classified((0.0, 4.0), (0.0, 6.0)), (Case::C, false, [1.0, 1.0]));
        assert_eq!(
            classified((0.0, 6.0), (0.0, 2.0)),
            (Case::C, true, [1.0, 1.0]),
            "the second ran first"
        );
    }

    #[test]
    fn what_scatters_by_more_than_the_shorter_is_not_classified() {
        let mut noisy = pair(&[(0.0, 4.0), (4.0, 6.0)]);
        noisy.second_isolated.walls = vec![1.0, 2.0, 8.0];
        assert_eq!(observed(&noisy), None);
        assert_eq!(observed(&pair(&[])), None, "no clock distinguishes the steps");
    }
}
