//! Whether a layout transform of a buffer before its use pays, and from how many uses on: predicted (model 11)
//! and measured.
//!
//! Both are estimated once a turn, from times of that turn alone: a change of pace is in all of them alike. What counts
//! is the median over turns, with the interval of 95 % that their ranks give.

use crate::layout::data::{LayoutTransform, Uses};
use crate::timing::median_seconds;
use gpubench_model::layout_transform::{break_even, crossing};
use gpubench_stats::rank_interval_within;

/// More uses in a row are not looked at.
pub(super) const MAX_USES: f64 = 128.0;

/// What came of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct LayoutTransformSummary {
    /// Median seconds of a use in strides.
    pub strided: f64,
    /// Median seconds of the transform.
    pub transform: f64,
    /// Median seconds of a use of the transformed buffer.
    pub contiguous: f64,
    /// Which share of a use in strides the transform saves; negative where it costs.
    pub saved_fraction: f64,
    /// From how many uses on it should pay, by these three times.
    pub predicted: BreakEven,
    /// From how many uses on it paid, by sequences of uses; `None` where none were run.
    pub measured: Option<BreakEven>,
    /// All that were run.
    pub uses: Vec<UsesSummary>,
}

/// From how many uses on a transform pays, not rounded; infinite where it never does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BreakEven {
    /// The median over turns.
    pub uses: f64,
    /// Its interval. From 0 to infinity where there are too few turns for one.
    pub interval: [f64; 2],
}

impl BreakEven {
    fn of(turns: impl Iterator<Item = f64>) -> Option<Self> {
        let mut turns: Vec<f64> = turns.collect();
        turns.sort_by(f64::total_cmp);
        let last = turns.len().checked_sub(1)?;
        let [below, above] = [turns[last / 2], turns[last.div_ceil(2)]];
        let uses = if above.is_finite() { (below + above) / 2.0 } else { above };
        let ranks = rank_interval_within(turns.len(), 0.025);
        let interval = ranks.map_or([0.0, f64::INFINITY], |(low, high)| [turns[low], turns[high]]);
        Some(Self { uses, interval })
    }

    /// From which whole number of uses on: at least one. `None`: never.
    pub fn count(uses: f64) -> Option<u64> {
        uses.is_finite().then(|| (uses.ceil() as u64).max(1))
    }

    /// Whether the interval holds both that it pays some time and that it never does.
    pub fn is_undecided(&self) -> bool {
        let [low, high] = self.interval;
        low.is_finite() && high == f64::INFINITY
    }
}

/// Whether the measured break-even is the predicted one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// Within one use.
    WithinOne,
    /// Further apart, but their intervals meet.
    WithinIntervals,
    /// Neither.
    Apart,
    /// Both say that it does not pay within as many uses as are looked at.
    PaysInNeither,
    /// One of the intervals is open to never, or the sequences that ran do not enclose the break-even.
    Undecided,
}

/// Several uses in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UsesSummary {
    /// How many.
    pub count: u32,
    /// Median seconds in strides.
    pub strided: f64,
    /// Median seconds with the transform first.
    pub transformed: f64,
    /// From 0, which numbers of uses were timed in turn with each other.
    pub attempt: u32,
}

impl UsesSummary {
    /// Whether the transform paid.
    pub fn paid(&self) -> bool {
        self.transformed < self.strided
    }
}

impl LayoutTransformSummary {
    /// The smallest and the largest number of uses of the last attempt.
    pub fn range(&self) -> Option<[u32; 2]> {
        let last = self.uses.last()?.attempt;
        let counts = || self.uses.iter().filter(|of| of.attempt == last).map(|of| of.count);
        Some([counts().min()?, counts().max()?])
    }

    /// Whether prediction and measurement agree; `None` where nothing was measured.
    pub fn agreement(&self) -> Option<Agreement> {
        let (predicted, measured) = (self.predicted, self.measured?);
        let [fewest, max_uses] = self.range()?.map(f64::from);
        // Sequences that the time cut short say nothing of longer ones.
        if [predicted, measured].iter().all(|of| of.interval[0] > MAX_USES) {
            return Some(Agreement::PaysInNeither);
        }
        let encloses = (measured.uses >= fewest || fewest == 1.0) && measured.uses <= max_uses;
        if predicted.is_undecided() || measured.is_undecided() || !encloses {
            return Some(Agreement::Undecided);
        }
        let counts = BreakEven::count(predicted.uses).zip(BreakEven::count(measured.uses));
        let ([low, high], [from, to]) = (predicted.interval, measured.interval);
        Some(match counts {
            Some((predicted, measured)) if predicted.abs_diff(measured) <= 1 => {
                Agreement::WithinOne
            }
            Some(_) if low <= to && from <= high => Agreement::WithinIntervals,
            _ => Agreement::Apart,
        })
    }
}

/// From how many uses on the transform should pay, by each turn's three times.
pub(super) fn predicted(raw: &LayoutTransform) -> Option<BreakEven> {
    let saved =
        raw.strided.iter().zip(&raw.contiguous).map(|(strided, contiguous)| strided - contiguous);
    BreakEven::of(
        raw.transform.iter().zip(saved).map(|(&transform, saved)| break_even(transform, saved)),
    )
}

/// From how many uses on it paid, by each turn's sequences of the last attempt.
pub(super) fn measured(uses: &[Uses]) -> Option<BreakEven> {
    let attempt = uses.last()?.attempt;
    let last: Vec<&Uses> = uses.iter().filter(|of| of.attempt == attempt).collect();
    let turns = last.iter().map(|of| of.strided.len().min(of.transformed.len())).min()?;
    let excess =
        |of: &&Uses, turn: usize| (f64::from(of.count), of.transformed[turn] - of.strided[turn]);
    let turn = |turn| crossing(&last.iter().map(|of| excess(of, turn)).collect::<Vec<_>>());
    BreakEven::of((0..turns).map(turn))
}

/// Puts a case's raw times together; `None` where one is missing.
pub fn layout_transform(raw: &LayoutTransform) -> Option<LayoutTransformSummary> {
    let strided = median_seconds(&raw.strided)?;
    let transform = median_seconds(&raw.transform)?;
    let contiguous = median_seconds(&raw.contiguous)?;
    let uses =
        raw.uses.iter().filter_map(|&Uses { count, ref strided, ref transformed, attempt }| {
            let (strided, transformed) = (median_seconds(strided)?, median_seconds(transformed)?);
            Some(UsesSummary { count, strided, transformed, attempt })
        });
    Some(LayoutTransformSummary {
        strided,
        transform,
        contiguous,
        saved_fraction: 1.0 - contiguous / strided,
        predicted: predicted(raw)?,
        measured: measured(&raw.uses),
        uses: uses.collect(),
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use gpubench_core::gpu::Clock;

    /// Nine turns, each at its own pace: a use in strides takes 0.5 s, a transformed one `contiguous`, the
    /// transform 0.35 s; sequences take these seconds (uses, in strides, transformed first).
    pub fn raw(contiguous: f64, uses: &[(u32, f64, f64)]) -> LayoutTransform {
        let turns = |seconds: f64| (0..9).map(|turn| seconds * (1.0 + f64::from(turn))).collect();
        let uses = uses.iter().map(|&(count, strided, transformed)| Uses {
            count,
            strided: turns(strided),
            transformed: turns(transformed),
            attempt: 0,
        });
        LayoutTransform {
            clock: Clock::Device,
            strided: turns(0.5),
            transform: turns(0.35),
            contiguous: turns(contiguous),
            uses: uses.collect(),
        }
    }

    #[test]
    fn a_speed_that_changes_from_turn_to_turn_changes_nothing() {
        // 0.35 s make up for 3.5 uses of 0.1 s. The sequences have 0.05 s more to make up for: 4 uses.
        let uses = [(2, 1.0, 1.2), (4, 2.0, 2.0), (6, 3.0, 2.8)];
        let summary = layout_transform(&raw(0.4, &uses)).unwrap();
        let (predicted, measured) = (summary.predicted, summary.measured.unwrap());
        let near = |one: BreakEven, uses: f64| {
            [one.uses, one.interval[0], one.interval[1]].iter().all(|of| (of - uses).abs() < 1e-9)
        };
        assert!(near(predicted, 3.5) && near(measured, 4.0), "{summary:?}");
        assert_eq!(summary.agreement(), Some(Agreement::WithinOne));
        assert!((summary.saved_fraction - 0.2).abs() < 1e-12);
    }

    #[test]
    fn agreement_is_within_one_or_within_intervals_or_none() {
        let of = |predicted: [f64; 3], measured: [f64; 3]| {
            let [predicted, measured] = [predicted, measured]
                .map(|[low, uses, high]| BreakEven { uses, interval: [low, high] });
            let uses = [4, 8, 12].map(|count| UsesSummary {
                count,
                strided: 1.0,
                transformed: 1.0,
                attempt: 0,
            });
            let summary = layout_transform(&raw(0.4, &[])).unwrap();
            LayoutTransformSummary {
                predicted,
                measured: Some(measured),
                uses: uses.into(),
                ..summary
            }
            .agreement()
        };
        const NEVER: f64 = f64::INFINITY;
        assert_eq!(of([6.9, 7.0, 7.1], [7.9, 8.0, 8.1]), Some(Agreement::WithinOne));
        assert_eq!(of([6.9, 7.0, 7.1], [8.2, 8.3, 8.4]), Some(Agreement::Apart), "7 and 9");
        assert_eq!(of([6.0, 7.0, 8.5], [8.2, 8.3, 8.4]), Some(Agreement::WithinIntervals));
        assert_eq!(of([6.0, 7.0, NEVER], [7.0, 7.0, 7.0]), Some(Agreement::Undecided));
        assert_eq!(of([2.0; 3], [2.0; 3]), Some(Agreement::Undecided), "no sequence is as short");
        assert_eq!(of([NEVER; 3], [130.0, 150.0, NEVER]), Some(Agreement::PaysInNeither));
        assert_eq!(
            of([NEVER; 3], [40.0, 50.0, 60.0]),
            Some(Agreement::Undecided),
            "none was as long"
        );
        assert_eq!(of([20.0; 3], [30.0, 50.0, 60.0]), Some(Agreement::Undecided), "the same");
        assert_eq!(of([NEVER; 3], [7.0; 3]), Some(Agreement::Apart));
    }

    #[test]
    fn where_contiguous_accesses_are_no_faster_it_never_pays() {
        let never = BreakEven { uses: f64::INFINITY, interval: [f64::INFINITY; 2] };
        let summary = layout_transform(&raw(0.5, &[(64, 32.0, 32.4), (128, 64.0, 64.4)])).unwrap();
        assert_eq!((summary.predicted, summary.measured), (never, Some(never)));
        assert_eq!(summary.agreement(), Some(Agreement::PaysInNeither));
        assert_eq!(layout_transform(&LayoutTransform { strided: vec![], ..raw(0.5, &[]) }), None);
    }

    #[test]
    fn a_saving_that_may_be_none_decides_nothing() {
        let mut noisy = raw(0.4, &[]);
        // Of nine turns the ranks leave out the first and the last.
        noisy.contiguous[..2].fill(9.0);
        let predicted = layout_transform(&noisy).unwrap().predicted;
        assert!((predicted.uses - 3.5).abs() < 1e-9 && predicted.is_undecided(), "{predicted:?}");
        assert_eq!([3.5, 0.2, 4.0].map(BreakEven::count), [Some(4), Some(1), Some(4)]);
        let few = BreakEven::of([3.0; 5].into_iter()).unwrap();
        assert!(few.uses == 3.0 && few.is_undecided(), "five turns show nothing: {few:?}");
    }
}
