//! Model 9, schedule: into which parts should a divisible problem be cut, so that uploading, kernel
//! and downloading overlap best?
//!
//! Source: C13 §4.1 and §4.2 (task partitioning and scheduling, TPSM). In step `i` the upload of part
//! `i`, the kernel of part `i − 1` and the download of part `i − 2` run together. The paper's six
//! rules are in [`super::schedule_rules`]; [`super::schedule_search`] looks further. Sizes are
//! shares of the problem and stages are seconds alone, in which the paper's bytes and rates cancel
//! out: `D_s / S_S` is `whole.upload`.

use super::pipeline::Engines;
use super::streams::Stages;

/// Most parts that a problem is cut into.
pub const MAX_PARTS: u32 = 1000;

/// A divisible problem on a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Problem {
    /// Seconds of each stage alone, over the whole problem.
    pub whole: Stages,
    /// How the device overlaps; the cost of a command is also the paper's `t_sync` of a step.
    pub engines: Engines,
    /// The smallest share of the problem that a part may be (`ds_min / D_s`), such as one row's.
    pub smallest: f64,
}

/// What bounds a problem, and which copies weigh most: the paper's application types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// Whether the kernel takes longer than the busier direction of copies.
    pub kernel_bound: bool,
    /// Which copies weigh most.
    pub heavy: Heavy,
}

/// Which copies weigh most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heavy {
    /// Uploads take at least [`HEAVY`] of the time of both directions alone.
    Upload,
    /// Downloads do.
    Download,
    /// Neither.
    General,
}

/// The share from which one direction counts as heavy. The paper gives no figure.
pub const HEAVY: f64 = 0.8;

impl Class {
    /// All six, in the order in which their rules are tried.
    pub const ALL: [Self; 6] = [
        Self { kernel_bound: true, heavy: Heavy::Upload },
        Self { kernel_bound: true, heavy: Heavy::Download },
        Self { kernel_bound: true, heavy: Heavy::General },
        Self { kernel_bound: false, heavy: Heavy::Upload },
        Self { kernel_bound: false, heavy: Heavy::Download },
        Self { kernel_bound: false, heavy: Heavy::General },
    ];

    /// `kernel bound, upload heavy`.
    pub fn label(self) -> &'static str {
        match (self.kernel_bound, self.heavy) {
            (true, Heavy::Upload) => "kernel bound, upload heavy",
            (true, Heavy::Download) => "kernel bound, download heavy",
            (true, Heavy::General) => "kernel bound, general",
            (false, Heavy::Upload) => "transfer bound, upload heavy",
            (false, Heavy::Download) => "transfer bound, download heavy",
            (false, Heavy::General) => "transfer bound, general",
        }
    }

    /// Of a problem with these stages alone. Kernel bound means `T_k > max(D_s/S_S, D_r/R_R)`: only then
    /// can parts grow (or shrink) by the ratio of the kernel to the copies that they hide.
    pub fn of(Stages { upload, kernel, download }: Stages) -> Self {
        let heavy = match HEAVY * (upload + download) {
            limit if upload >= limit && upload > 0.0 => Heavy::Upload,
            limit if download >= limit && download > 0.0 => Heavy::Download,
            _ => Heavy::General,
        };
        Self { kernel_bound: kernel > upload.max(download), heavy }
    }
}

impl Problem {
    /// The smallest share, within what makes sense: at most all, and not more than
    /// [`MAX_PARTS`] of them.
    pub fn smallest(&self) -> f64 {
        self.smallest.clamp(1.0 / f64::from(MAX_PARTS), 1.0)
    }

    /// `H`: seconds of two copies that take `upload` and `download` seconds alone and start together.
    pub fn both(&self, upload: f64, download: f64) -> f64 {
        match self.engines.count {
            0 | 1 => upload + download,
            _ => self.engines.duplex.seconds(upload, download),
        }
    }

    /// The longest of upload, kernel and download: no plan is faster.
    pub fn lower_bound(&self) -> f64 {
        self.whole.longest()
    }
}

/// A problem cut into parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Each part's share of the problem, in order; they add up to 1.
    pub sizes: Vec<f64>,
    /// Whether everything is uploaded before the first part.
    pub upload_all_first: bool,
    /// Whether everything is downloaded after the last part.
    pub download_all_last: bool,
}

impl Plan {
    /// Parts of these shares, each uploaded and downloaded by itself.
    pub fn of(sizes: Vec<f64>) -> Self {
        Self { sizes, upload_all_first: false, download_all_last: false }
    }

    /// `count` equal parts (one is no partition).
    pub fn equal(count: u32) -> Self {
        let count = count.clamp(1, MAX_PARTS);
        Self::of(vec![1.0 / f64::from(count); count as usize])
    }

    /// Seconds alone of each part's stages.
    pub fn chunks(&self, whole: Stages) -> Vec<Stages> {
        let last = self.sizes.len().saturating_sub(1);
        let part = |(i, &share): (usize, &f64)| {
            let lumped = |lump: bool, at: usize| match (lump, i == at) {
                (false, _) => share,
                (true, true) => 1.0,
                (true, false) => 0.0,
            };
            Stages {
                upload: whole.upload * lumped(self.upload_all_first, 0),
                kernel: whole.kernel * share,
                download: whole.download * lumped(self.download_all_last, last),
            }
        };
        self.sizes.iter().enumerate().map(part).collect()
    }

    /// Seconds of the plan when every command starts as soon as it can ([`super::pipeline`]).
    pub fn makespan(&self, problem: &Problem) -> f64 {
        problem.engines.makespan(&self.chunks(problem.whole))
    }

    /// Seconds of the plan in the paper's steps, each ending with a synchronisation:
    /// `Σ t_i + (m + 2)·t_sync`.
    pub fn stepwise(&self, problem: &Problem) -> f64 {
        let chunks = self.chunks(problem.whole);
        let at = |i: Option<usize>, stage: fn(&Stages) -> f64| {
            i.and_then(|i| chunks.get(i)).map_or(0.0, stage)
        };
        let step = |i: usize| {
            let copies =
                problem.both(at(Some(i), |c| c.upload), at(i.checked_sub(2), |c| c.download));
            copies.max(at(i.checked_sub(1), |c| c.kernel)) + problem.engines.command
        };
        (0..chunks.len() + 2).map(step).sum()
    }

    /// The parts as numbers of `rows` that add up to them; parts without a row are left out.
    pub fn rows(&self, rows: u32) -> Vec<u32> {
        let mut share = 0.0;
        let mut before = 0;
        let mut counts = Vec::with_capacity(self.sizes.len());
        for (i, size) in self.sizes.iter().enumerate() {
            share += size;
            let end = match i + 1 == self.sizes.len() {
                true => rows, // whatever the shares' rounding
                false => ((share * f64::from(rows)).round() as u32).min(rows),
            };
            if end > before {
                counts.push(end - before);
                before = end;
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::super::transfer::Duplex;
    use super::*;

    fn problem(upload: f64, kernel: f64, download: f64) -> Problem {
        let whole = Stages { upload, kernel, download };
        let engines =
            Engines { count: 2, command: 0.25, duplex: Duplex { upload: 0.5, download: 0.5 } };
        Problem { whole, engines, smallest: 0.01 }
    }

    #[test]
    fn classes_follow_the_busier_direction_and_the_shares() {
        let class = |upload, kernel, download| {
            let class = Class::of(Stages { upload, kernel, download });
            (class.kernel_bound, class.heavy)
        };
        assert_eq!(class(1.0, 10.0, 1.0), (true, Heavy::General));
        assert_eq!(class(4.0, 10.0, 1.0), (true, Heavy::Upload));
        assert_eq!(class(1.0, 10.0, 4.0), (true, Heavy::Download));
        assert_eq!(class(6.0, 10.0, 5.0), (true, Heavy::General));
        assert_eq!(class(6.0, 6.0, 5.0), (false, Heavy::General));
        assert_eq!(class(0.0, 1.0, 0.0), (true, Heavy::General));
        assert_eq!(class(9.0, 2.0, 0.0), (false, Heavy::Upload));
    }

    #[test]
    fn steps_overlap_three_neighbours_and_synchronise() {
        let plan = Plan::equal(2);
        // Steps: upload 2; upload 2 during kernel 3; kernel 3 during download 1; download 1.
        assert_eq!(plan.stepwise(&problem(4.0, 6.0, 2.0)), 2.0 + 3.0 + 3.0 + 1.0 + 4.0 * 0.25);
        let lumped = Plan { upload_all_first: true, download_all_last: true, ..plan };
        assert_eq!(lumped.stepwise(&problem(4.0, 6.0, 2.0)), 4.0 + 3.0 + 3.0 + 2.0 + 1.0);
    }

    #[test]
    fn the_pipeline_is_not_slower_than_the_steps() {
        let problem = problem(4.0, 6.0, 2.0);
        for count in [1, 2, 5, 10] {
            let plan = Plan::equal(count);
            assert!(plan.makespan(&problem) <= plan.stepwise(&problem) + 1e-12, "{count}");
        }
    }

    #[test]
    fn rows_add_up_and_none_is_empty() {
        assert_eq!(Plan::equal(3).rows(10), [3, 4, 3]);
        assert_eq!(Plan::equal(100).rows(3), [1, 1, 1]);
        assert_eq!(Plan::of(vec![0.001, 0.999]).rows(10), [10]);
        assert_eq!(Plan::of(vec![0.1, 0.2, 0.7]).rows(1_000_003).iter().sum::<u32>(), 1_000_003);
        assert_eq!(Plan::equal(4).rows(0), [] as [u32; 0]);
    }
}
