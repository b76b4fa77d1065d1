//! Of a run whose suite has changed since, the records of kernels that have not.

use crate::store::Run;
use gpubench_core::record::Record;
use gpubench_experiments::plan;
use gpubench_experiments::plan::{Case, Limits, Planned};
use gpubench_suite::Suite;

/// The run's records without those of kernels that `suite` no longer has as they were run.
pub(super) fn unchanged(suite: &Suite, run: &Run) -> Vec<Record> {
    let limits = Limits {
        memory: None,
        seconds: f64::INFINITY,
        seed: run.header.seed,
        cores: 1,
        host_memory: None,
    };
    let planned = run.header.devices.iter().map(|device| {
        let cases = plan(suite, device, &limits).into_iter();
        cases.filter_map(|planned| match planned {
            Planned::Case(case) => Some(*case),
            Planned::Skipped(_) => None,
        })
    });
    let planned: Vec<Vec<Case>> = planned.map(Iterator::collect).collect();
    let is_as_it_was = |record: &&Record| {
        record.kernel.is_none() || planned[record.device].iter().any(|case| has_run(case, record))
    };
    run.records.iter().filter(is_as_it_was).cloned().collect()
}

/// Whether the record is of this case: the same text in the same groups, for the same operations and bytes.
fn has_run(case: &Case, record: &Record) -> bool {
    let Some(built) = &record.kernel else { return false };
    let is_as_much = |flops: f64, bytes: f64| {
        record.measured.as_ref().is_none_or(|m| (m.flops, m.bytes) == (flops, bytes))
    };
    case.key == record.key
        && case.candidates.iter().any(|candidate| {
            candidate.groups == built.groups
                && is_as_much(candidate.flops, candidate.bytes)
                && candidate.hash() == built.hash
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::Built;
    use gpubench_core::record::sample;

    /// Records of the suite's cases on a device of WGSL, as a run would have left them.
    fn run_of(suite: &Suite) -> Run {
        let header = sample::header(vec![sample::device("vulkan")]);
        let limits =
            Limits { memory: None, seconds: f64::INFINITY, seed: 1, cores: 1, host_memory: None };
        let cases = plan(suite, &header.devices[0], &limits).into_iter();
        let records = cases.filter_map(|planned| {
            let Planned::Case(case) = planned else { return None };
            let mut record = sample::record(case.key.clone(), 1e-3);
            let last = case.candidates.last();
            record.kernel = last.map(|candidate| Built {
                groups: candidate.groups,
                ..sample::built(&candidate.hash())
            });
            if let (Some(measured), Some(candidate)) = (&mut record.measured, last) {
                (measured.flops, measured.bytes) = (candidate.flops, candidate.bytes);
            }
            Some(record)
        });
        Run {
            path: "before.jsonl".into(),
            records: records.collect(),
            header,
            noise: None,
            footer: None,
            warnings: vec![],
            whole: 0,
            unread: false,
        }
    }

    #[test]
    fn a_kernel_counts_where_text_groups_and_work_are_as_they_were() {
        let suite = gpubench_experiments::load("quick").unwrap();
        let mut run = run_of(&suite);
        assert_eq!(unchanged(&suite, &run), run.records);
        let kernels: Vec<usize> =
            (0..run.records.len()).filter(|i| run.records[*i].kernel.is_some()).collect();
        assert!(kernels.len() > 4 && kernels.len() < run.records.len(), "{kernels:?}");
        run.records[kernels[0]].kernel.as_mut().unwrap().hash = "00ff".into();
        run.records[kernels[1]].kernel.as_mut().unwrap().groups[0] += 1;
        run.records[kernels[2]].measured.as_mut().unwrap().bytes += 1.0;
        run.records[kernels[3]].key.workload = "renamed".into();
        let left = unchanged(&suite, &run);
        let changed = |i: &usize| kernels[..4].contains(i);
        let wanted: Vec<Record> = (0..run.records.len())
            .filter(|i| !changed(i))
            .map(|i| run.records[i].clone())
            .collect();
        assert_eq!(left, wanted);
    }
}
