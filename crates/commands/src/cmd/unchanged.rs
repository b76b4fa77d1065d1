//! Of a run whose suite has changed since, the kernels that have not.

use crate::store::Run;
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::{Header, Record};
use gpubench_core::workload::CaseKey;
use gpubench_experiments::plan;
use gpubench_experiments::plan::{Candidate, Case, Limits, Planned};
use gpubench_suite::Suite;
use std::collections::{HashMap, HashSet};

/// A run's records without those of kernels that its suite no longer has.
pub(super) struct Unchanged {
    /// The records, in their order.
    pub records: Vec<Record>,
    /// How many results of kernels the run has.
    pub all: usize,
    /// How many of them are left.
    pub left: usize,
}

/// What `suite` still has of the run. A case is left out whole where any of its rounds ran what has changed.
pub(super) fn unchanged(suite: &Suite, run: &Run) -> Unchanged {
    let mut records = run.records.clone();
    let mut changed: HashSet<(usize, CaseKey)> = HashSet::new();
    for (number, device) in run.header.devices.iter().enumerate() {
        let cases = cases(suite, &run.header, device);
        for record in records.iter_mut().filter(|r| r.device == number && is_kernel(r)) {
            let as_it_was = cases.get(&record.key).and_then(|case| as_run(case, record));
            match (as_it_was, &mut record.kernel) {
                // A search along another axis calls the same text otherwise.
                (Some(candidate), Some(built)) => built.variant.clone_from(&candidate.label),
                _ => {
                    changed.insert((number, record.key.clone()));
                }
            }
        }
    }
    let kernel_count = |records: &[Record]| records.iter().filter(|r| is_kernel(r)).count();
    let all = kernel_count(&records);
    records.retain(|r| !is_kernel(r) || !changed.contains(&(r.device, r.key.clone())));
    Unchanged { left: kernel_count(&records), all, records }
}

/// Whether it is of a kernel that is timed by itself: of other experiments no kernel is counted.
fn is_kernel(record: &Record) -> bool {
    record.key.measure.is_kernel() && record.kernel.is_some()
}

/// The suite's cases on a device, as that run would have planned them.
fn cases(suite: &Suite, header: &Header, device: &DeviceInfo) -> HashMap<CaseKey, Case> {
    let limits = Limits::unbounded(header.seed, header.host_of(device).cores);
    let cases = plan(suite, device, &limits).into_iter().filter_map(Planned::case);
    cases.map(|case| (case.key.clone(), case)).collect()
}

/// The variant that the record is of: the same text in the same groups, on as large buffers, for the same operations and
/// bytes.
fn as_run<'c>(case: &'c Case, record: &Record) -> Option<&'c Candidate> {
    let built = record.kernel.as_ref()?;
    let touched = case.touched.unwrap_or(case.working_set().0);
    if record.working_set.is_some_and(|bytes| bytes != touched) {
        return None;
    }
    let is_as_much = |candidate: &Candidate| {
        let work = (candidate.flops, candidate.bytes);
        record.measured.as_ref().is_none_or(|measured| (measured.flops, measured.bytes) == work)
    };
    case.candidates.iter().find(|candidate| {
        candidate.groups == built.groups && is_as_much(candidate) && candidate.hash() == built.hash
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::known;
    use gpubench_core::record::{Built, sample};

    /// Records of the suite's cases on two devices, as a run would have left them.
    fn run_of(suite: &Suite) -> Run {
        let header = sample::header(vec![sample::device("vulkan"), sample::device("wgpu")]);
        let mut records = vec![];
        for (number, device) in header.devices.iter().enumerate() {
            let mut cases: Vec<Case> = cases(suite, &header, device).into_values().collect();
            cases.sort_by_key(|case| case.key.to_string());
            records.extend(cases.iter().map(|case| Record { device: number, ..record(case) }));
        }
        Run { path: "before.jsonl".into(), header, records, ..Run::default() }
    }

    /// Of the last variant. Experiments other than of a kernel by itself do no work that is counted.
    fn record(case: &Case) -> Record {
        let mut record = sample::record(case.key.clone(), 1e-3);
        let Some(candidate) = case.candidates.last() else { return record };
        let variant = candidate.label.clone();
        let built = sample::built(&candidate.hash());
        record.kernel = Some(Built { groups: candidate.groups, variant, ..built });
        record.working_set = Some(case.touched.unwrap_or(case.working_set().0));
        let measured = record.measured.as_mut().unwrap();
        (measured.flops, measured.bytes) = match case.key.measure.is_kernel() {
            true => (candidate.flops, candidate.bytes),
            false => (0.0, 0.0),
        };
        record
    }

    #[test]
    fn a_kernel_counts_where_text_groups_buffers_and_work_are_as_they_were() {
        let suite = gpubench_experiments::load("quick").unwrap();
        let mut run = run_of(&suite);
        let kernels: Vec<usize> =
            (0..run.records.len()).filter(|i| is_kernel(&run.records[*i])).collect();
        assert!(kernels.len() > 10 && kernels.len() < run.records.len(), "{kernels:?}");
        let whole = unchanged(&suite, &run);
        assert_eq!(whole.records, run.records);
        assert_eq!([whole.all, whole.left], [kernels.len(); 2]);

        let changed = [0, 1, 2, 3, kernels.len() - 1].map(|i| kernels[i]);
        run.records[changed[0]].kernel.as_mut().unwrap().hash = "00ff".into();
        run.records[changed[1]].kernel.as_mut().unwrap().groups[0] += 1;
        run.records[changed[2]].measured.as_mut().unwrap().bytes += 1.0;
        run.records[changed[3]].key.workload = "renamed".into();
        run.records[changed[4]].working_set = Some(1);
        let some = unchanged(&suite, &run);
        let is_left = |i: &usize| !changed.contains(i);
        let wanted = (0..run.records.len()).filter(is_left).map(|i| run.records[i].clone());
        assert_eq!(some.records, wanted.collect::<Vec<_>>());
        assert_eq!([some.all, some.left], [kernels.len(), kernels.len() - 5]);
    }

    #[test]
    fn a_variant_is_known_by_its_text_whatever_it_was_called() {
        let suite = gpubench_experiments::load("quick").unwrap();
        let mut run = run_of(&suite);
        let before = run.records.clone();
        for record in run.records.iter_mut().filter(|record| is_kernel(record)) {
            record.kernel.as_mut().unwrap().variant = "as it was called then".into();
        }
        assert_eq!(unchanged(&suite, &run).records, before);
    }

    #[test]
    fn a_case_is_dropped_whole_where_one_of_its_rounds_has_changed() {
        let suite = gpubench_experiments::load("quick").unwrap();
        let mut run = run_of(&suite);
        let at = run.records.iter().position(is_kernel).unwrap();
        let mut later = Record { round: 1, ..run.records[at].clone() };
        later.kernel.as_mut().unwrap().hash = "00ff".into();
        run.records.push(later);
        let some = unchanged(&suite, &run);
        assert_eq!(some.records.len(), run.records.len() - 2);
        assert_eq!(some.all - some.left, 2);
    }

    #[test]
    fn a_run_with_nothing_left_is_skipped_unless_its_suite_was_named() {
        let mut run = run_of(&gpubench_experiments::load("quick").unwrap());
        (run.header.suite, run.header.suite_hash) = ("quick".into(), "as it was then".into());
        let (_, records) = known::suite(&run, None, "--suite").unwrap().unwrap();
        assert_eq!(records.as_ref(), run.records);
        for record in &mut run.records {
            record.kernel.iter_mut().for_each(|built| built.hash = "00ff".into());
        }
        assert!(known::suite(&run, None, "--suite").unwrap().is_none());
        let named = known::suite(&run, Some("quick"), "--suite");
        let error = named.map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("has none of its kernels as they were run"), "{error}");
    }
}
