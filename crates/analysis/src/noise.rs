//! A case's own noise floor: by how much whole runs differed when nothing had changed (A/A).

use super::DeviceCases;
use gpubench_core::record::Noise;
use gpubench_core::workload::CaseKey;
use std::collections::BTreeMap;

/// The floors that `runs` of one device teach: for each case that was verified and not hidden in at least two of
/// them, the largest ratio between two runs' means, less 1. No case should be called changed by
/// less than it changed by itself.
pub fn noise(runs: &[DeviceCases]) -> Noise {
    let mut means: BTreeMap<&CaseKey, Vec<f64>> = BTreeMap::new();
    for run in runs {
        for (key, case) in run.cases.iter().filter(|(_, case)| case.seconds().is_some()) {
            let n = case.medians.len() as f64;
            let mean = case.medians.iter().map(|m| m.ln()).sum::<f64>() / n;
            if mean.is_finite() {
                means.entry(key).or_default().push(mean);
            }
        }
    }
    let floor = |means: &[f64]| {
        let largest = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let smallest = means.iter().copied().fold(f64::INFINITY, f64::min);
        (largest - smallest).exp_m1()
    };
    let floors = means
        .into_iter()
        .filter(|(_, means)| means.len() > 1)
        .map(|(key, means)| (key.clone(), floor(&means)))
        .collect();
    Noise { runs: u32::try_from(runs.len()).unwrap_or(u32::MAX), floors, history: vec![] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect;
    use gpubench_core::record::sample::{device, header, key, record};
    use gpubench_core::record::{Grade, Record};

    #[test]
    fn the_floor_is_the_largest_difference_between_runs() {
        let header = header(vec![device("opencl")]);
        let run = |a: f64, b: Option<f64>| {
            let records = [Some(record(key("a", 1), a)), b.map(|b| record(key("b", 1), b))];
            collect(&header, records.iter().flatten()).remove(0)
        };
        let noise = noise(&[run(1.00, Some(2.0)), run(1.02, None), run(1.05, None)]);
        assert_eq!(noise.runs, 3);
        let [(key_a, floor)] = &noise.floors[..] else { panic!("b has one run only") };
        assert_eq!(*key_a, key("a", 1));
        assert!((floor - 0.05).abs() < 1e-12);
    }

    #[test]
    fn a_hidden_figure_teaches_no_floor() {
        let header = header(vec![device("opencl")]);
        let run = |seconds, grade| {
            let mut run = collect(&header, &[record(key("a", 1), seconds)]).remove(0);
            run.cases.values_mut().for_each(|case| case.grade = grade);
            run
        };
        let noise = noise(&[run(1.0, None), run(1.02, None), run(0.5, Some(Grade::Hidden))]);
        assert!((noise.floors[0].1 - 0.02).abs() < 1e-12, "{noise:?}");
    }

    /// Means of two rounds: of 1 and 4 ms 2 ms, a tenth less than 2.2 ms.
    #[test]
    fn a_run_is_the_geometric_mean_of_its_rounds() {
        let header = header(vec![device("opencl")]);
        let run = |seconds: [f64; 2]| {
            let rounds =
                [0, 1].map(|n| Record { round: n, ..record(key("a", 1), seconds[n as usize]) });
            collect(&header, &rounds).remove(0)
        };
        let noise = noise(&[run([1e-3, 4e-3]), run([2.2e-3; 2])]);
        assert!((noise.floors[0].1 - 0.1).abs() < 1e-9, "{noise:?}");
    }
}
