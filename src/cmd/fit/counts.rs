//! What launches do, counted by emulating one work-group of each kernel.

use crate::emulate::{Class, Counts, Emulator, Groups, Rules, Watch};
use crate::measure::initial;
use crate::model::hybrid::Work;
use crate::plan::{Candidate, Case, Limits, Planned, emulated_device, emulated_launch, plan};
use crate::record::Record;
use crate::reference::Data;
use crate::suite::Suite;
use crate::workload::{CaseKey, Measure, Size};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// A kernel at one size, in the form that was measured.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kernel {
    workload: String,
    size: Size,
    form: String,
}

impl Kernel {
    /// The kernel of a record; `None` where it has none.
    pub fn of(record: &Record) -> Option<Self> {
        let (workload, size) = (record.key.workload.clone(), record.key.size.clone());
        Some(Self { workload, size, form: record.kernel.as_ref()?.form.clone() })
    }
}

/// Counted work of a suite's kernels.
pub struct Works {
    cases: Vec<Case>,
    counted: BTreeMap<Kernel, Option<Work>>,
}

impl Works {
    /// Of the suite's cases, each as the emulator would be given it.
    pub fn new(suite: &Suite) -> Self {
        let limits = Limits {
            memory: None,
            seconds: f64::INFINITY,
            seed: 1,
            cores: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
            host_memory: None,
        };
        let cases = plan(suite, &emulated_device(), &limits).into_iter();
        let cases = cases.filter_map(|planned| match planned {
            Planned::Case(case) if !case.candidates.is_empty() => Some(*case),
            _ => None,
        });
        Self { cases: cases.collect(), counted: BTreeMap::new() }
    }

    /// The first form of every kernel of the suite with the bytes that it must move and its key.
    pub fn kernels(&self) -> Vec<(CaseKey, Kernel, f64)> {
        let is_kernel =
            |case: &&Case| matches!(case.key.measure, Measure::Kernel | Measure::Launch);
        let cases = self.cases.iter().filter(is_kernel);
        cases
            .map(|case| {
                let (workload, size) = (case.key.workload.clone(), case.key.size.clone());
                let form = &case.candidates[0];
                let kernel = Kernel { workload, size, form: form.label.clone() };
                (case.key.clone(), kernel, form.bytes)
            })
            .collect()
    }

    /// Counts those kernels that are not counted yet, on all cores.
    pub fn count(&mut self, kernels: &[Kernel]) {
        let missing: Vec<&Kernel> =
            kernels.iter().filter(|kernel| !self.counted.contains_key(*kernel)).collect();
        let next = Mutex::new(missing.iter());
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let cases = &self.cases;
        let counted: Vec<(Kernel, Option<Work>)> = std::thread::scope(|scope| {
            let work = || {
                let take = || next.lock().ok().and_then(|mut next| next.next().copied());
                std::iter::from_fn(take)
                    .map(|kernel| (kernel.clone(), count(cases, kernel)))
                    .collect()
            };
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let joined = threads.into_iter().filter_map(|thread| thread.join().ok());
            joined.flat_map(|part: Vec<_>| part).collect()
        });
        self.counted.extend(counted);
    }

    /// The work of a launch that must move so many bytes; `None` where it could not be counted.
    pub fn of(&self, kernel: &Kernel, bytes: f64) -> Option<Work> {
        let work = self.counted.get(kernel).copied().flatten()?;
        Some(Work { bytes, ..work })
    }
}

fn count(cases: &[Case], kernel: &Kernel) -> Option<Work> {
    let is_it = |case: &&Case| case.key.workload == kernel.workload && case.key.size == kernel.size;
    let case = cases.iter().find(is_it)?;
    let measured = |candidate: &&Candidate| candidate.label == kernel.form;
    // OpenCL has forms that WGSL lacks: wider vectors for the same work.
    let forms = case.candidates.iter().filter(measured).chain(&case.candidates);
    let mut ready = forms.filter_map(|form| Some((form, Emulator::new(&form.kernel).ok()?)));
    let (candidate, emulator) = ready.next()?;
    let mut launch = emulated_launch(candidate, &contents(case));
    let middle = Groups::One(candidate.groups.map(|n| n / 2));
    let watch = Watch { counts: Some(Rules::default()), races: false };
    let counts = emulator.run(&mut launch, middle, watch).ok()?.counts?;
    Some(work(&counts, candidate.all_groups()))
}

/// Bytes of inputs beyond which a kernel is counted on zeros: what it does may not depend on data.
const REAL: u64 = 32 << 20;

fn contents(case: &Case) -> Vec<Data> {
    match case.buffers.iter().map(|buffer| buffer.bytes().0).sum::<u64>() > REAL {
        true => case.buffers.iter().map(|b| Data::U32(vec![0; b.bytes().as_usize() / 4])).collect(),
        false => initial(case),
    }
}

/// The whole launch's work from that of the middle one of its groups (of its first pass, where it
/// has several).
fn work(counts: &Counts, groups: f64) -> Work {
    let items = |class: Class| counts.of(class).items as f64 * groups;
    let sum = |classes: &[Class]| classes.iter().map(|&class| items(class)).sum::<f64>();
    let special = sum(&[
        Class::FloatDiv,
        Class::FloatSqrt,
        Class::FloatExp,
        Class::FloatLog,
        Class::FloatTrigonometry,
        Class::IntDiv,
    ]);
    let accesses = sum(&[Class::GlobalRead, Class::GlobalWrite]);
    let local = sum(&[Class::LocalRead, Class::LocalWrite]);
    let transactions = counts.global_reads.transactions + counts.global_writes.transactions;
    Work {
        simple: sum(&Class::ALL) - special - accesses - local - items(Class::Barrier),
        special,
        accesses,
        local,
        barriers: counts.barriers as f64 * f64::from(counts.group_size) * groups,
        traffic: transactions as f64 * f64::from(counts.rules.transaction) * groups,
        bytes: 0.0,
        groups,
    }
}
