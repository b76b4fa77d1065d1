//! Model 1, pipeline fitted: how many copy engines has a device, what does a command cost, and how
//! much do its copies slow each other?
//!
//! From problems that were run in 1, 2, 4 … 64 equal chunks, with each stage's time alone known.
//! Every number of engines is fitted by itself; the number is reported only when the others explain
//! the runs decidedly worse (a difference of 10 in the Bayesian information criterion, which Kass
//! and Raftery, 1995, call very strong evidence).

use super::least_squares::{Domain, Estimate, Problem};
use super::pipeline::Engines;
use super::streams::Stages;
use super::transfer::Duplex;
use gpubench_core::error::Result;

/// A problem run in equal chunks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Seconds of each stage alone, over the whole problem.
    pub whole: Stages,
    /// Chunks.
    pub chunks: u32,
    /// Seconds measured, above zero.
    pub seconds: f64,
}

/// The best fit with a given number of copy engines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Copy engines.
    pub count: u32,
    /// Seconds per command, `o`.
    pub command: Estimate,
    /// `S_SR / S_S`; 1 with an infinite error where it does not matter.
    pub upload_ratio: Estimate,
    /// `R_SR / R_R`; 1 with an infinite error where it does not matter.
    pub download_ratio: Estimate,
    /// Root mean square of the logarithms of predicted over measured.
    pub error: f64,
    /// Bayesian information criterion: lower is better.
    criterion: f64,
}

impl Candidate {
    /// The fitted device.
    pub fn engines(&self) -> Engines {
        let duplex =
            Duplex { upload: self.upload_ratio.value, download: self.download_ratio.value };
        Engines { count: self.count, command: self.command.value, duplex }
    }
}

/// The outcome of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// The fits with 0, 1 and 2 engines.
    pub candidates: [Candidate; 3],
    /// The simplest of those that explain the runs.
    pub best: Candidate,
    /// The number of copy engines, where the runs identify it: a kernel much longer than both copies
    /// hides whether one engine or two moved them.
    pub engines: Option<u32>,
}

/// How small a relative error counts as none.
const EXACT: f64 = 1e-6;
/// How much worse a candidate's criterion must be to be ruled out.
const RULED_OUT: f64 = 10.0;

/// Fits a device to `runs`.
///
/// # Errors
/// [`gpubench_core::error::Error::Unsupported`] with fewer than four runs.
pub fn fit(runs: &[Run]) -> Result<Fitted> {
    let candidates = [candidate(0, runs)?, candidate(1, runs)?, candidate(2, runs)?];
    let lowest = candidates.iter().map(|c| c.criterion).fold(f64::INFINITY, f64::min);
    let possible = candidates.into_iter().filter(|c| c.criterion <= lowest + RULED_OUT);
    let possible: Vec<Candidate> = possible.collect();
    let best = possible.first().copied().unwrap_or(candidates[2]);
    let identified =
        possible.iter().all(|other| other.count == best.count || imitates(other, &best));
    Ok(Fitted { candidates, best, engines: identified.then_some(best.count) })
}

/// Whether two engines are one in disguise: both directions together move what one does alone.
fn imitates(two: &Candidate, one: &Candidate) -> bool {
    let known = two.upload_ratio.error.is_finite() || two.download_ratio.error.is_finite();
    let combined = two.upload_ratio.value + two.download_ratio.value;
    one.count == 1 && two.count == 2 && known && combined < 1.1
}

fn candidate(count: u32, runs: &[Run]) -> Result<Candidate> {
    let device = |p: &[f64]| Engines {
        count,
        command: p[0],
        duplex: Duplex {
            upload: p.get(1).copied().unwrap_or(1.0),
            download: p.get(2).copied().unwrap_or(1.0),
        },
    };
    let residuals = |p: &[f64]| {
        let engines = device(p);
        let error =
            |run: &Run| (engines.makespan(&run.whole.equal_chunks(run.chunks)) / run.seconds).ln();
        runs.iter().map(error).collect()
    };
    let ratio = Domain::Between(0.25, 1.0);
    let domains = &[Domain::Positive, ratio, ratio][..if count > 1 { 3 } else { 1 }];
    let solution =
        Problem { residuals: &residuals, domains }.solve(&starts(runs, domains.len()))?;
    let n = runs.len() as f64;
    let variance = (solution.squares / n).max(EXACT * EXACT);
    let unknown = Estimate { value: 1.0, error: f64::INFINITY, margin: f64::INFINITY };
    let value = |i: usize| solution.values.get(i).copied().unwrap_or(unknown);
    Ok(Candidate {
        count,
        command: value(0),
        upload_ratio: value(1),
        download_ratio: value(2),
        error: (solution.squares / n).sqrt(),
        criterion: n * variance.ln() + domains.len() as f64 * n.ln(),
    })
}

/// Where descents begin: small and large costs of a command, strong and weak slowing.
fn starts(runs: &[Run], parameters: usize) -> Vec<Vec<f64>> {
    let shortest = runs.iter().map(|run| run.seconds).fold(f64::INFINITY, f64::min);
    let mut starts = Vec::new();
    for share in [1e-4, 1e-2] {
        for (upload, download) in [(0.85, 0.85), (0.6, 0.6)] {
            starts.push([share * shortest, upload, download][..parameters].to_vec());
        }
    }
    starts.dedup();
    starts
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    /// Problems that a device is given: upload heavy, download heavy, even, and kernel heavy.
    const WHOLES: [Stages; 4] = [
        Stages { upload: 8e-3, kernel: 3e-3, download: 4e-3 },
        Stages { upload: 3e-3, kernel: 2e-3, download: 7e-3 },
        Stages { upload: 5e-3, kernel: 4e-3, download: 5e-3 },
        Stages { upload: 2e-3, kernel: 9e-3, download: 2e-3 },
    ];

    fn runs(engines: &Engines, wholes: &[Stages], mut noise: impl FnMut() -> f64) -> Vec<Run> {
        let mut runs = Vec::new();
        for &whole in wholes {
            for chunks in [1, 2, 4, 8, 16, 32, 64] {
                let seconds = engines.makespan(&whole.equal_chunks(chunks)) * (1.0 + noise());
                runs.push(Run { whole, chunks, seconds });
            }
        }
        runs
    }

    fn random_engines(rng: &mut Pcg64Mcg) -> Engines {
        Engines {
            count: rng.random_range(0..3),
            command: rng.random_range(1e-6..3e-5),
            duplex: Duplex {
                upload: rng.random_range(0.6..1.0),
                download: rng.random_range(0.6..1.0),
            },
        }
    }

    #[test]
    fn exact_runs_give_the_device_back() {
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        for _ in 0..10 {
            let truth = random_engines(&mut rng);
            let fitted = fit(&runs(&truth, &WHOLES, || 0.0)).unwrap();
            assert_eq!(fitted.engines, Some(truth.count), "{truth:?} {fitted:#?}");
            let near = |e: Estimate, x: f64| assert!((e.value / x - 1.0).abs() < 0.02, "{e:?} {x}");
            near(fitted.best.command, truth.command);
            if truth.count == 2 {
                near(fitted.best.upload_ratio, truth.duplex.upload);
                near(fitted.best.download_ratio, truth.duplex.download);
            }
        }
    }

    #[test]
    fn with_one_percent_noise_the_number_of_engines_is_still_identified() {
        let mut rng = Pcg64Mcg::seed_from_u64(2);
        for _ in 0..10 {
            let truth = random_engines(&mut rng);
            let mut noise_rng = Pcg64Mcg::seed_from_u64(rng.random());
            let noise = || noise_rng.random_range(-0.017..0.017); // standard deviation 1 %
            let fitted = fit(&runs(&truth, &WHOLES, noise)).unwrap();
            assert_eq!(fitted.engines, Some(truth.count), "{truth:?} {fitted:#?}");
        }
    }

    #[test]
    fn a_kernel_that_hides_all_copies_does_not_identify_the_number_of_engines() {
        let whole = Stages { upload: 1e-3, kernel: 50e-3, download: 1e-3 };
        let fitted = fit(&runs(&Engines::ideal(2), &[whole], || 0.0)).unwrap();
        assert_eq!(fitted.engines, None, "{fitted:#?}");
        assert_eq!(fitted.best.count, 1, "the simplest that explains it");
        assert!(fit(&[]).is_err());
    }

    #[test]
    fn two_engines_that_move_what_one_does_are_no_second_one() {
        let known = |value| Estimate { value, error: 0.1, margin: 0.2 };
        let unknown = Estimate { error: f64::INFINITY, ..known(0.5) };
        let of = |count, upload_ratio, download_ratio| Candidate {
            count,
            command: known(1e-6),
            upload_ratio,
            download_ratio,
            error: 0.0,
            criterion: 0.0,
        };
        let one = of(1, known(1.0), known(1.0));
        for (count, upload, download, disguised) in [
            (2, known(0.5), known(0.5), true),
            (2, unknown, known(0.5), true),
            (2, unknown, unknown, false),
            (2, known(0.55), known(0.55), false),
            (2, known(0.8), known(0.8), false),
            (1, known(0.5), known(0.5), false),
        ] {
            assert_eq!(
                imitates(&of(count, upload, download), &one),
                disguised,
                "{upload:?} {download:?}"
            );
        }
        assert!(!imitates(&of(2, known(0.5), known(0.5)), &of(0, known(1.0), known(1.0))));
    }

    /// Each run twice, a factor `e^d` too long and too short: what is left of each is `d`.
    #[test]
    fn the_criterion_weighs_what_is_left_and_what_it_took() {
        let (d, truth) = (0.1f64, Engines { command: 1e-5, ..Engines::ideal(1) });
        let exact = runs(&truth, &WHOLES, || 0.0);
        let off = |factor: f64| {
            exact.iter().map(move |run| Run { seconds: run.seconds * factor, ..*run })
        };
        let both: Vec<Run> = off(d.exp()).chain(off((-d).exp())).collect();
        let near =
            |is: f64, wanted: f64| assert!((is - wanted).abs() < 1e-6, "{is} is not {wanted}");
        let one = candidate(1, &both).unwrap();
        near(one.error, 0.1);
        near(one.criterion, 56.0 * 0.01f64.ln() + 56f64.ln());
        assert_eq!((one.upload_ratio.value, one.upload_ratio.error), (1.0, f64::INFINITY));
        let exactly = candidate(1, &exact).unwrap();
        assert!(exactly.error < 1e-6, "{exactly:?}");
        near(exactly.criterion, 28.0 * 1e-12f64.ln() + 28f64.ln());
        let truth = Engines { count: 2, duplex: Duplex { upload: 0.8, download: 0.7 }, ..truth };
        let exactly = candidate(2, &runs(&truth, &WHOLES, || 0.0)).unwrap();
        near(exactly.criterion, 28.0 * 1e-12f64.ln() + 3.0 * 28f64.ln());
    }
}
