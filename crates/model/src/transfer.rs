//! Model 8, transfer: how long does it take to upload and download at the same time?
//!
//! Source: C13, equations 4.18 and 4.35 (`H`). Beyond the paper, each direction is a latency plus
//! a bandwidth, fitted over sizes; the caller keeps one [`Link`] per kind of host memory.

use super::least_squares::Estimate;
use gpubench_core::error::{Error, Result};

/// One direction alone: `seconds = latency + bytes / bandwidth`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Seconds of an empty copy.
    pub latency: f64,
    /// Bytes per second.
    pub bandwidth: f64,
}

impl Line {
    /// Seconds of a copy of so many bytes alone; none for no bytes.
    pub fn seconds(self, bytes: f64) -> f64 {
        if bytes > 0.0 { self.latency + bytes / self.bandwidth } else { 0.0 }
    }
}

/// What is left of each direction's rate while both run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Duplex {
    /// `S_SR / S_S`, above 0 and at most 1.
    pub upload: f64,
    /// `R_SR / R_R`, above 0 and at most 1.
    pub download: f64,
}

impl Duplex {
    /// Both directions at their full rates.
    pub const FULL: Self = Self { upload: 1.0, download: 1.0 };

    /// The rates `[S_SR, R_SR]`, in the unit of `alone` (`[S_S, R_R]`), of an upload and a download of
    /// `amount` each, by when each started and ended: `H` solved for the rates. What did not run
    /// concurrently ran at its full rate. `None` where they shared less than a tenth of the
    /// shorter one: they took turns, and what is left shows nothing.
    pub fn rates(amount: f64, spans: [[f64; 2]; 2], alone: [f64; 2]) -> Option<[f64; 2]> {
        const MIN_SHARED_FRACTION: f64 = 0.1;
        let length = |[start, end]: [f64; 2]| end - start;
        let [upload, download] = spans;
        let shared = upload[1].min(download[1]) - upload[0].max(download[0]);
        let all_pass = length(upload) > 0.0 && length(download) > 0.0 && shared > 0.0;
        if !all_pass || shared < MIN_SHARED_FRACTION * length(upload).min(length(download)) {
            return None;
        }
        let concurrent_rate = |span: [f64; 2], rate: f64| {
            ((amount - (length(span) - shared) * rate) / shared).clamp(0.0, rate.max(0.0))
        };
        Some([concurrent_rate(upload, alone[0]), concurrent_rate(download, alone[1])])
    }

    /// `H` (4.18, 4.35): seconds until both of two copies are done that start together and would
    /// take `upload` and `download` seconds alone.
    pub fn seconds(self, upload: f64, download: f64) -> f64 {
        let (uploads, downloads) = (upload / self.upload, download / self.download);
        if uploads <= downloads {
            uploads + download - uploads * self.download
        } else {
            downloads + upload - downloads * self.upload
        }
    }
}

/// A link between host and device, with one kind of host memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Host to device alone.
    pub upload: Line,
    /// Device to host alone.
    pub download: Line,
    /// Both together.
    pub duplex: Duplex,
}

impl Link {
    /// Seconds to upload and download so many bytes, starting together. A latency slows nothing: the
    /// other direction runs at its full rate meanwhile.
    pub fn seconds(&self, uploaded: f64, downloaded: f64) -> f64 {
        if uploaded <= 0.0 || downloaded <= 0.0 {
            return self.upload.seconds(uploaded) + self.download.seconds(downloaded);
        }
        let (latency_s, latency_r) = (self.upload.latency, self.download.latency);
        let (upload, download) =
            (uploaded / self.upload.bandwidth, downloaded / self.download.bandwidth);
        let ahead = (latency_s - latency_r).abs();
        // What the direction with the shorter latency moves before the other begins.
        let (upload_left, download_left) = if latency_s < latency_r {
            ((upload - ahead).max(0.0), download)
        } else {
            (upload, (download - ahead).max(0.0))
        };
        latency_s.max(latency_r) + self.duplex.seconds(upload_left, download_left)
    }
}

/// A fitted [`Line`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FittedLine {
    /// Seconds of an empty copy, at least 0.
    pub latency: Estimate,
    /// Bytes per second.
    pub bandwidth: Estimate,
}

/// Fits a latency and a bandwidth to `samples` of (bytes, seconds), by least squares of the
/// relative errors, so that small copies count as much as large ones.
///
/// # Errors
/// [`Error::Unsupported`] with fewer than three samples, fewer than two sizes, a time that is not
/// above zero, or times that do not grow with the size.
pub fn fit_line(samples: &[(f64, f64)]) -> Result<FittedLine> {
    if samples.len() < 3 || samples.iter().any(|&(_, t)| !(t.is_finite() && t > 0.0)) {
        return Err(Error::Unsupported(
            "a latency and a bandwidth need at least three positive times".into(),
        ));
    }
    // Minimise Σ ((latency + x/bandwidth − t) / t)²: weighted linear regression.
    let sum = |f: fn(f64, f64) -> f64| samples.iter().map(|&(x, t)| f(x, 1.0 / t)).sum::<f64>();
    let (w, wx, wxx) = (sum(|_, v| v * v), sum(|x, v| x * v * v), sum(|x, v| x * x * v * v));
    let (wt, wxt) = (sum(|_, v| v), sum(|x, v| x * v));
    let determinant = w * wxx - wx * wx;
    if determinant <= 1e-12 * w * wxx {
        return Err(Error::Unsupported("a bandwidth needs copies of two sizes".into()));
    }
    let mut slope = (w * wxt - wx * wt) / determinant;
    let mut latency = (wxx * wt - wx * wxt) / determinant;
    if latency < 0.0 {
        (latency, slope) = (0.0, wxt / wxx); // a copy of no bytes takes no negative time
    }
    if slope <= 0.0 {
        return Err(Error::Unsupported("the times do not grow with the size".into()));
    }
    let residual = |&(x, t): &(f64, f64)| ((latency + slope * x) / t - 1.0).powi(2);
    let variance = samples.iter().map(residual).sum::<f64>() / (samples.len() - 2) as f64;
    let freedom = samples.len() - 2;
    let of_latency = (variance * wxx / determinant).sqrt();
    let bandwidth = 1.0 / slope;
    let of_bandwidth = bandwidth * bandwidth * (variance * w / determinant).sqrt();
    Ok(FittedLine {
        latency: Estimate::new(latency, of_latency, freedom),
        bandwidth: Estimate::new(bandwidth, of_bandwidth, freedom),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: Link = Link {
        upload: Line { latency: 0.0, bandwidth: 6e9 },
        download: Line { latency: 0.0, bandwidth: 6.5e9 },
        duplex: Duplex { upload: 0.65, download: 0.65 },
    };

    fn near(x: f64, y: f64) {
        assert!((x - y).abs() <= 1e-9 * y.abs(), "{x} is not {y}");
    }

    /// 4.18 as the paper writes it, with rates.
    fn h(x_s: f64, x_r: f64) -> f64 {
        let (s_s, r_r) = (LINK.upload.bandwidth, LINK.download.bandwidth);
        let (s_sr, r_sr) = (0.65 * s_s, 0.65 * r_r);
        if x_s / s_sr <= x_r / r_sr {
            x_s / s_sr + (x_r - x_s / s_sr * r_sr) / r_r
        } else {
            x_r / r_sr + (x_s - x_r / r_sr * s_sr) / s_s
        }
    }

    #[test]
    fn without_latency_it_is_equation_4_18() {
        for (x_s, x_r) in [(1e9, 1e9), (1e9, 5e9), (5e9, 1e9), (0.0, 1e9), (1e9, 0.0), (0.0, 0.0)] {
            near(LINK.seconds(x_s, x_r), h(x_s, x_r));
        }
    }

    #[test]
    fn both_directions_take_at_least_the_longer_and_at_most_their_sum_at_half_rates() {
        let half = Duplex { upload: 0.5, download: 0.5 };
        near(half.seconds(2.0, 3.0), 5.0);
        near(Duplex::FULL.seconds(2.0, 3.0), 3.0);
    }

    #[test]
    fn rates_while_both_run_follow_from_when_each_ran() {
        let rates = |upload, download| Duplex::rates(12.0, [upload, download], [4.0, 6.0]);
        // Six seconds together at 2 and 1, then the download alone for a second.
        assert_eq!(rates([0.0, 6.0], [0.0, 7.0]), Some([2.0, 1.0]));
        // The download first: a second alone, then the same.
        assert_eq!(rates([1.0, 7.0], [0.0, 7.0]), Some([2.0, 1.0]));
        // Nothing is faster than alone.
        assert_eq!(rates([0.0, 1.0], [0.0, 1.0]), Some([4.0, 6.0]));
    }

    #[test]
    fn copies_that_take_turns_have_no_concurrent_rates() {
        let rates = |upload, download| Duplex::rates(12.0, [upload, download], [4.0, 6.0]);
        assert_eq!(rates([0.0, 3.0], [3.0, 5.0]), None);
        assert_eq!(rates([2.0, 5.0], [0.0, 2.0]), None, "the download first");
        assert_eq!(rates([0.0, 3.0], [2.9, 4.9]), None, "touching");
        assert_eq!(rates([0.0, 0.0], [0.0, 0.0]), None, "no time");
        assert_eq!(rates([0.0, f64::NAN], [0.0, 1.0]), None);
    }

    #[test]
    fn latencies_pass_during_the_other_direction() {
        let line = |latency| Line { latency, bandwidth: 1.0 };
        let duplex = Duplex { upload: 0.5, download: 0.5 };
        let link = Link { upload: line(1.0), download: line(3.0), duplex };
        assert_eq!(link.seconds(2.0, 4.0), 7.0, "uploaded before the download's data begin");
        assert_eq!(link.seconds(4.0, 4.0), 9.0, "2 s together at half rates: 4 s");
        assert_eq!(link.seconds(2.0, 0.0), 3.0);
        assert_eq!(link.seconds(0.0, 0.0), 0.0);
        assert_eq!(link.seconds(1.0, 0.0), 2.0, "no latency of what is not copied");
        // At full rates the longer counts: 6 s behind 1 s, of which 2 s pass before the other begins.
        let full = Link { duplex: Duplex::FULL, ..link };
        assert_eq!(full.seconds(6.0, 2.0), 7.0);
        let turned = Link { upload: link.download, download: link.upload, ..full };
        assert_eq!(turned.seconds(2.0, 6.0), 7.0);
    }

    #[test]
    fn latency_and_bandwidth_are_recovered_with_errors_that_cover_them() {
        let truth = Line { latency: 8e-6, bandwidth: 12e9 };
        let sizes = (12..28).map(|k| f64::from(1 << k));
        let exact: Vec<_> = sizes.map(|x| (x, truth.seconds(x))).collect();
        let fitted = fit_line(&exact).unwrap();
        near(fitted.latency.value, truth.latency);
        near(fitted.bandwidth.value, truth.bandwidth);
        let noisy: Vec<_> = exact
            .iter()
            .enumerate()
            .map(|(i, &(x, t))| (x, t * (1.0 + 0.01 * ((i * 7 % 5) as f64 - 2.0) / 2.0)))
            .collect();
        let fitted = fit_line(&noisy).unwrap();
        assert!((fitted.latency.value - 8e-6).abs() < 3.0 * fitted.latency.error, "{fitted:?}");
        assert!((fitted.bandwidth.value - 12e9).abs() < 3.0 * fitted.bandwidth.error);
        assert!(fitted.bandwidth.error < 0.02 * 12e9, "{fitted:?}");
    }

    #[test]
    fn the_line_and_its_errors_are_those_of_weighted_least_squares() {
        // Of rows (1/t, x/t) that should give 1, by Cramer's rule in another program.
        let fitted = fit_line(&[(1.0, 3.0), (2.0, 4.2), (4.0, 9.0), (8.0, 16.0)]).unwrap();
        near(fitted.latency.value, 0.971_307_007_16);
        near(fitted.latency.error, 0.402_213_507_134);
        near(fitted.bandwidth.value, 0.538_830_276_359);
        near(fitted.bandwidth.error, 0.056_530_924_267_6);
        // t(0.975, 2) = 4.302653.
        assert!((fitted.latency.margin / fitted.latency.error - 4.302_653).abs() < 1e-5);
        // A fifth, so that the degrees of freedom are 3: t(0.975, 3) = 3.182446.
        let samples = [(1.0, 3.0), (2.0, 4.2), (4.0, 9.0), (8.0, 16.0), (16.0, 33.0)];
        let fitted = fit_line(&samples).unwrap();
        near(fitted.latency.value, 0.869745133682);
        near(fitted.latency.error, 0.308375464574);
        near(fitted.bandwidth.error, 0.035565756920);
        assert!((fitted.latency.margin / fitted.latency.error - 3.182_446).abs() < 1e-5);
        // Where the latency would be −1.8 it is none, and the line goes through the origin.
        let fitted = fit_line(&[(1.0, 1.0), (2.0, 4.2), (4.0, 9.0)]).unwrap();
        assert_eq!(fitted.latency.value, 0.0);
        near(fitted.bandwidth.value, 0.741_571_559_753);
    }

    #[test]
    fn points_that_determine_no_line_are_rejected() {
        for samples in [
            vec![(1.0, 1.0), (2.0, 2.0)],
            vec![(1.0, 1.0), (1.0, 1.1), (1.0, 0.9)],
            vec![(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)],
            vec![(1.0, 1.0), (2.0, 0.0), (3.0, 1.0)],
        ] {
            assert!(fit_line(&samples).is_err(), "{samples:?}");
        }
    }
}
