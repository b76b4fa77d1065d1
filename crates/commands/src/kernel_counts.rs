//! What the kernels of a suite do, counted by emulating one work-group of each, or all.

use gpubench_analysis::fit::{Counted, Launch, OwnRoof};
use gpubench_core::error::{Error, Result};
use gpubench_core::record::Record;
use gpubench_core::workload::{CaseKey, Size};
use gpubench_emulator::{Buffer, Counts, Emulator, Groups, Instrumentation, Rules, middle};
use gpubench_experiments::plan::{
    Candidate, Case, Limits, Planned, emulated_device, emulated_launch,
};
use gpubench_experiments::{initial, plan, promised};
use gpubench_suite::Suite;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A kernel at one size, in the variant that was measured.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kernel {
    workload: String,
    size: Size,
    variant: String,
}

impl Kernel {
    /// The kernel of a record; `None` where it has none.
    pub fn of(record: &Record) -> Option<Self> {
        let (workload, size) = (record.key.workload.clone(), record.key.size.clone());
        Some(Self { workload, size, variant: record.kernel.as_ref()?.variant.clone() })
    }

    fn is_of(&self, case: &Case) -> bool {
        case.key.workload == self.workload && case.key.size == self.size
    }

    /// The variant that was measured, where there is one, then all. OpenCL has variants that WGSL lacks:
    /// wider vectors for the same work.
    fn variants<'c>(&self, case: &'c Case) -> impl Iterator<Item = &'c Candidate> + use<'c, '_> {
        let measured = |candidate: &&Candidate| candidate.label == self.variant;
        case.candidates.iter().filter(measured).chain(&case.candidates)
    }
}

/// A kernel counted by some rules, or why it could not be.
type By = (Rules, Result<Counted, String>);

/// Counted kernels of a suite. Each is emulated once for each set of rules.
pub struct KernelCounts {
    cases: Vec<Case>,
    counted: BTreeMap<Kernel, Vec<By>>,
    /// How long a kernel may take of which every group is emulated; `None`: one group is.
    whole_grid: Option<Duration>,
}

/// A kernel of a suite in its first variant.
pub struct Wanted {
    /// What is emulated.
    pub kernel: Kernel,
    /// It as a launch that nobody timed or counted.
    launch: Launch,
}

impl Wanted {
    /// Its case.
    pub fn key(&self) -> &CaseKey {
        &self.launch.key
    }

    /// It as a launch that nobody timed.
    pub fn launch(&self, counted: Counted) -> Launch {
        Launch { counted: Ok(counted), ..self.launch.clone() }
    }
}

impl KernelCounts {
    /// Of the suite's cases, each as the emulator would be given it, on inputs of this seed.
    pub fn new(suite: &Suite, seed: u64) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        let limits = Limits::unbounded(seed, cores);
        let cases = plan(suite, &emulated_device(), &limits).into_iter();
        let cases = cases.filter_map(Planned::case).filter(|case| !case.candidates.is_empty());
        Self { cases: cases.collect(), counted: BTreeMap::new(), whole_grid: None }
    }

    /// The same, of which every group of each kernel's first pass is emulated, for at most `limit` a kernel.
    pub fn of_whole_grids(self, limit: Duration) -> Self {
        Self { counted: BTreeMap::new(), whole_grid: Some(limit), ..self }
    }

    /// A kernel as a launch that nobody timed or counted; `None` where the suite has no such kernel.
    pub fn launch(&self, kernel: &Kernel) -> Option<Launch> {
        let case = self.cases.iter().find(|case| kernel.is_of(case))?;
        Some(untimed(case, kernel.variants(case).next()?))
    }

    /// Every kernel of the suite that is measured by itself.
    pub fn kernels(&self) -> Vec<Wanted> {
        // A program has no one kernel to count.
        let is_kernel =
            |case: &&Case| case.key.measure.is_kernel() && !case.candidates[0].is_program();
        let wanted = |case: &Case| {
            let variant = &case.candidates[0];
            let (workload, size) = (case.key.workload.clone(), case.key.size.clone());
            let kernel = Kernel { workload, size, variant: variant.label.clone() };
            Wanted { kernel, launch: untimed(case, variant) }
        };
        self.cases.iter().filter(is_kernel).map(wanted).collect()
    }

    /// Counts those kernels that are not counted yet by each of `rules`, on all cores.
    pub fn count(&mut self, kernels: &[Kernel], rules: &[Rules]) {
        let mut missing: Vec<(&Kernel, Vec<Rules>)> = vec![];
        for kernel in kernels {
            let known = self.counted.get(kernel);
            let is_new =
                |by: &&Rules| !known.is_some_and(|k| k.iter().any(|(known, _)| known == *by));
            let mut new: Vec<Rules> = vec![];
            for by in rules.iter().filter(is_new) {
                if !new.contains(by) {
                    new.push(*by);
                }
            }
            if !new.is_empty() {
                missing.push((kernel, new));
            }
        }
        let (cases, whole_grid) = (&self.cases, self.whole_grid);
        let done = missing.par_iter().map(|(kernel, rules)| {
            let counted =
                count(cases, kernel, rules, whole_grid).map_err(|error| error.to_string());
            let of = |(i, by): (usize, &Rules)| {
                (*by, counted.as_ref().map(|all| all[i].clone()).map_err(String::clone))
            };
            rules.iter().enumerate().map(of).collect::<Vec<_>>()
        });
        let done: Vec<_> = done.collect();
        for ((kernel, _), counted) in missing.into_iter().zip(done) {
            self.counted.entry(kernel.clone()).or_default().extend(counted);
        }
    }

    /// What a kernel does by `rules`, as [`Self::count`] found it.
    ///
    /// # Errors
    /// Why it could not be counted.
    pub fn of(&self, kernel: &Kernel, rules: Rules) -> Result<Counted, String> {
        let counted = self.counted.get(kernel).into_iter().flatten().find(|(by, _)| *by == rules);
        counted.map_or_else(|| Err("it was not counted".into()), |(_, counted)| counted.clone())
    }
}

/// By each of `rules`.
fn count(
    cases: &[Case],
    kernel: &Kernel,
    rules: &[Rules],
    whole_grid: Option<Duration>,
) -> Result<Vec<Counted>> {
    let missing = |what: &str| Error::Unsupported(what.into());
    let case = cases
        .iter()
        .find(|case| kernel.is_of(case))
        .ok_or_else(|| missing("the suite has no such kernel"))?;
    let mut ready =
        kernel.variants(case).map(|variant| Some((variant, Emulator::new(&variant.kernel).ok()?)));
    let Some((candidate, emulator)) = ready.find_map(|variant| variant) else {
        let first = kernel.variants(case).next().ok_or_else(|| missing("it has no WGSL source"))?;
        return Err(Emulator::new(&first.kernel).err().unwrap_or_else(|| missing("no variant")));
    };
    let counts = match whole_grid {
        // Some kernels go where their inputs say: all of these are there for a whole grid.
        Some(limit) => {
            let contents = initial(case).iter().map(Buffer::from).collect::<Vec<_>>();
            emulator.count_grid(&mut emulated_launch(candidate, contents), rules, limit)?
        }
        None => {
            let group = middle(candidate.groups);
            emulator.count(&mut emulated_launch(candidate, promised(case)), group, rules)?
        }
    };
    Ok(counts.into_iter().map(|group| counted(candidate, group)).collect())
}

/// The kernel of a case's first variant as a launch that nobody timed; one group of it is counted by `rules`, for at most
/// `limit`.
///
/// # Errors
/// Where the emulator does not take it, or it takes longer.
pub fn counted_launch(case: &Case, rules: Rules, limit: Duration) -> Result<Launch> {
    let missing = || Error::Unsupported("there is nothing to count".into());
    let candidate = case.candidates.first().ok_or_else(missing)?;
    let emulator = Emulator::new(&candidate.kernel)?;
    let groups = Groups::One(middle(candidate.groups));
    let counting = Instrumentation {
        counts: Some(rules),
        limit,
        subgroup: candidate.kernel.settings.subgroup.unwrap_or(rules.warp),
        ..Instrumentation::default()
    };
    let mut launch = emulated_launch(candidate, promised(case));
    let group = emulator.run(&mut launch, groups, counting)?.counts.ok_or_else(missing)?;
    Ok(Launch { counted: Ok(counted(candidate, group)), ..untimed(case, candidate) })
}

/// Of a kernel of several passes the first one's group stands for all.
fn counted(candidate: &Candidate, group: Counts) -> Counted {
    let groups = candidate.all_groups() / candidate.pass_count() as f64;
    Counted { group: Arc::new(group), groups }
}

fn untimed(case: &Case, variant: &Candidate) -> Launch {
    Launch {
        key: case.key.clone(),
        // Whatever variant a device was fastest with, it is the same kernel.
        kernel: case.candidates[0].kernel.hash(),
        passes: variant.pass_count() as f64,
        operations: variant.flops,
        bytes: variant.bytes,
        buffers: case.working_set().0 as f64,
        own_roof: OwnRoof::default(),
        counted: Err("it was not counted".into()),
        seconds: f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workloads_that_run_one_kernel_name_it_alike_and_passes_are_counted() {
        let kernel_counts = KernelCounts::new(&gpubench_experiments::load("all").unwrap(), 1);
        let of = |name: &str| {
            let mut all =
                kernel_counts.kernels().into_iter().filter(|one| one.key().workload == name);
            kernel_counts.launch(&all.next().unwrap().kernel).unwrap()
        };
        let naive = of("matmul_naive");
        assert_eq!(naive.kernel, of("matmul_small_n/naive").kernel);
        assert_ne!(naive.kernel, of("matmul_coalesced").kernel);
        assert_eq!((naive.passes, naive.buffers), (1.0, naive.bytes));
        let paths = of("floyd_warshall");
        assert_eq!(paths.passes, paths.key.size[0].1 as f64);
    }
}
