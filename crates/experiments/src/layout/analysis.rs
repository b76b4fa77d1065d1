//! Whether a layout transform of a buffer before its use pays, and after how many uses: predicted (model 11)
//! and measured.

use crate::layout::data::LayoutTransform;
use gpubench_model::layout_transform::break_even_uses;
use gpubench_stats::median_of;

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
    /// After how many uses it pays, by these three times; `None` where it never does.
    pub predicted: Option<u64>,
    /// The least number of uses, of those that were run, from which on it paid; `None` where it did
    /// not in any.
    pub measured: Option<u32>,
    /// All that were run.
    pub uses: Vec<UsesSummary>,
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
}

impl UsesSummary {
    /// Whether the transform paid.
    pub fn paid(&self) -> bool {
        self.transformed < self.strided
    }
}

/// Puts a case's raw times together; `None` where one is missing.
pub fn layout_transform(raw: &LayoutTransform) -> Option<LayoutTransformSummary> {
    let strided = middle(&raw.strided)?;
    let transform = middle(&raw.transform)?;
    let contiguous = middle(&raw.contiguous)?;
    let uses = raw.uses.iter().filter_map(|uses| {
        let (strided, transformed) = (middle(&uses.strided)?, middle(&uses.transformed)?);
        Some(UsesSummary { count: uses.count, strided, transformed })
    });
    let uses: Vec<UsesSummary> = uses.collect();
    let lost = uses.iter().rposition(|uses| !uses.paid()).map_or(0, |last| last + 1);
    Some(LayoutTransformSummary {
        strided,
        transform,
        contiguous,
        saved_fraction: 1.0 - contiguous / strided,
        predicted: break_even_uses(transform, strided, contiguous),
        measured: uses.get(lost).map(|uses| uses.count),
        uses,
    })
}

fn middle(samples: &[f64]) -> Option<f64> {
    median_of(samples.iter().copied()).filter(|middle| *middle > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::data::Uses;
    use gpubench_core::gpu::Clock;

    fn raw(contiguous: f64, uses: &[(u32, f64, f64)]) -> LayoutTransform {
        let uses = uses.iter().map(|&(count, strided, transformed)| Uses {
            count,
            strided: vec![strided; 3],
            transformed: vec![transformed; 3],
        });
        LayoutTransform {
            clock: Clock::Device,
            strided: vec![0.4, 0.5, 0.6],
            transform: vec![0.35],
            contiguous: vec![contiguous],
            uses: uses.collect(),
        }
    }

    #[test]
    fn it_pays_from_where_it_never_fails_to_again() {
        let uses = [(1, 0.5, 0.75), (2, 1.0, 0.99), (3, 1.5, 1.6), (4, 2.0, 1.95)];
        let summary = layout_transform(&raw(0.4, &uses)).unwrap();
        assert_eq!((summary.predicted, summary.measured), (Some(4), Some(4)));
        assert!((summary.saved_fraction - 0.2).abs() < 1e-12);
        assert_eq!(layout_transform(&raw(0.4, &uses[..3])).unwrap().measured, None);
    }

    #[test]
    fn where_contiguous_accesses_are_no_faster_it_never_pays() {
        let summary = layout_transform(&raw(0.5, &[(1, 0.5, 0.9), (64, 32.0, 32.4)])).unwrap();
        assert_eq!((summary.predicted, summary.measured), (None, None));
        assert_eq!(layout_transform(&LayoutTransform { strided: vec![], ..raw(0.5, &[]) }), None);
    }
}
