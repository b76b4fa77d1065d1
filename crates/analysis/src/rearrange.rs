//! Whether rearranging a buffer before using it pays, and after how many uses: foreseen (model 11)
//! and measured.

use gpubench_core::record::Rearrange;
use gpubench_model::rearrange::break_even_uses;
use gpubench_stats::median_of;

/// What came of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct RearrangeSummary {
    /// Median seconds of a use in strides.
    pub strided: f64,
    /// Median seconds of rearranging.
    pub rearranging: f64,
    /// Median seconds of a use of the rearranged buffer.
    pub contiguous: f64,
    /// Which share of a use in strides rearranging saves; negative where it costs.
    pub saved: f64,
    /// After how many uses it pays, by these three times; `None` where it never does.
    pub foreseen: Option<u64>,
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
    /// Median seconds with rearranging first.
    pub rearranged: f64,
}

impl UsesSummary {
    /// Whether rearranging paid.
    pub fn paid(&self) -> bool {
        self.rearranged < self.strided
    }
}

/// Puts a case's raw times together; `None` where one is missing.
pub fn rearrange(raw: &Rearrange) -> Option<RearrangeSummary> {
    let strided = middle(&raw.strided)?;
    let rearranging = middle(&raw.rearranging)?;
    let contiguous = middle(&raw.contiguous)?;
    let uses = raw.uses.iter().filter_map(|uses| {
        let (strided, rearranged) = (middle(&uses.strided)?, middle(&uses.rearranged)?);
        Some(UsesSummary { count: uses.count, strided, rearranged })
    });
    let uses: Vec<UsesSummary> = uses.collect();
    let lost = uses.iter().rposition(|uses| !uses.paid()).map_or(0, |last| last + 1);
    Some(RearrangeSummary {
        strided,
        rearranging,
        contiguous,
        saved: 1.0 - contiguous / strided,
        foreseen: break_even_uses(rearranging, strided, contiguous),
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
    use gpubench_core::gpu::Clock;
    use gpubench_core::record::Uses;

    fn raw(contiguous: f64, uses: &[(u32, f64, f64)]) -> Rearrange {
        let uses = uses.iter().map(|&(count, strided, rearranged)| Uses {
            count,
            strided: vec![strided; 3],
            rearranged: vec![rearranged; 3],
        });
        Rearrange {
            clock: Clock::Device,
            strided: vec![0.4, 0.5, 0.6],
            rearranging: vec![0.35],
            contiguous: vec![contiguous],
            uses: uses.collect(),
        }
    }

    #[test]
    fn it_pays_from_where_it_never_fails_to_again() {
        let uses = [(1, 0.5, 0.75), (2, 1.0, 0.99), (3, 1.5, 1.6), (4, 2.0, 1.95)];
        let summary = rearrange(&raw(0.4, &uses)).unwrap();
        assert_eq!((summary.foreseen, summary.measured), (Some(4), Some(4)));
        assert!((summary.saved - 0.2).abs() < 1e-12);
        assert_eq!(rearrange(&raw(0.4, &uses[..3])).unwrap().measured, None);
    }

    #[test]
    fn where_contiguous_accesses_are_no_faster_it_never_pays() {
        let summary = rearrange(&raw(0.5, &[(1, 0.5, 0.9), (64, 32.0, 32.4)])).unwrap();
        assert_eq!((summary.foreseen, summary.measured), (None, None));
        assert_eq!(rearrange(&Rearrange { strided: vec![], ..raw(0.5, &[]) }), None);
    }
}
