//! The order of devices that a model predicts from their profiles, beside the one measured.
//!
//! Both are over the same cases, so that they differ by nothing but the model. A model that was
//! fitted to those cases would only give back what was measured: one that a profile alone prices
//! never saw them.

use super::{Family, cells, describe_exclusion};
use crate::fit::Model;
use crate::result_matrix::{Cell, ResultMatrix};
use gpubench_core::workload::CaseKey;
use serde::Serialize;
use std::collections::BTreeMap;

/// What is predicted of the overall common set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PredictedRanking {
    /// The model, with the parameters that profiles give it.
    pub model: Model,
    /// The device whose two speeds are 1: the ranking's reference, where it is predicted.
    pub reference: usize,
    /// Every ranked device, fastest first, as measured over the predicted cases.
    pub rows: Vec<PredictedRank>,
    /// The cases of the overall common set that are predicted on every device that has a profile.
    pub common: Vec<CaseKey>,
    /// Those that are not, each with the reason.
    pub skipped: Vec<(CaseKey, String)>,
    /// Devices that nothing is predicted of, with the reason.
    pub unknown: Vec<(usize, String)>,
    /// Pairs of predicted devices whose order is the one measured, and all such pairs.
    pub pairs: [usize; 2],
}

/// A device, measured and predicted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PredictedRank {
    /// The device.
    pub device: usize,
    /// Geometric mean of the reference's measured times over its own.
    pub measured: f64,
    /// The same of the times predicted.
    pub predicted: Option<f64>,
    /// Its rank as measured and as predicted, from 1, among the devices that are predicted.
    pub ranks: Option<[usize; 2]>,
}

/// The times predicted of a device.
#[derive(Clone, Debug)]
pub struct DeviceTimes {
    /// The device.
    pub device: usize,
    /// Seconds of each case of the overall common set, in its order; or why there are none.
    pub seconds: Vec<Result<f64, String>>,
}

/// Puts what is predicted of `devices` beside what `overall` measured; `unknown` are the other ranked
/// devices. `None` where fewer than two devices are predicted, or no case is on all of them.
pub fn predict_ranking(
    matrix: &ResultMatrix,
    overall: &Family,
    model: Model,
    devices: &[DeviceTimes],
    unknown: Vec<(usize, String)>,
) -> Option<PredictedRanking> {
    let (common, skipped) = split(matrix, overall, devices);
    if devices.len() < 2 || common.is_empty() {
        return None;
    }
    let keys: Vec<CaseKey> = common.iter().map(|&place| overall.common[place].clone()).collect();
    let cases: Vec<usize> = keys.iter().filter_map(|key| matrix.find(key)).collect();
    let measured = |device: usize| mean(cells(matrix, device, &cases).map(Cell::log_seconds));
    let predicted = |device: usize| {
        let times = devices.iter().find(|times| times.device == device)?;
        let seconds = common.iter().filter_map(|&place| times.seconds[place].as_ref().ok());
        Some(mean(seconds.map(|seconds| seconds.ln())))
    };
    let mut all: Vec<(usize, f64, Option<f64>)> = overall
        .rows
        .iter()
        .map(|row| (row.device, measured(row.device), predicted(row.device)))
        .collect();
    all.sort_by(|a, b| a.1.total_cmp(&b.1));
    let known: Vec<(usize, [f64; 2])> =
        all.iter().filter_map(|&(device, m, f)| Some((device, [m, f?]))).collect();
    let is_reference = |one: &&(usize, [f64; 2])| Some(one.0) == overall.reference;
    let &(reference, base) = known.iter().find(is_reference).or(known.first())?;
    let rank = |logs: [f64; 2]| {
        [0, 1].map(|i| 1 + known.iter().filter(|(_, other)| other[i] < logs[i]).count())
    };
    let row = |&(device, measured, predicted): &(usize, f64, Option<f64>)| PredictedRank {
        device,
        measured: (base[0] - measured).exp(),
        predicted: predicted.map(|predicted| (base[1] - predicted).exp()),
        ranks: predicted.map(|predicted| rank([measured, predicted])),
    };
    let rows = all.iter().map(row).collect();
    let pairs = in_order(&known);
    Some(PredictedRanking { model, reference, rows, common: keys, skipped, unknown, pairs })
}

/// Positions of the cases that all predict, and the others with the reason.
fn split(
    matrix: &ResultMatrix,
    overall: &Family,
    devices: &[DeviceTimes],
) -> (Vec<usize>, Vec<(CaseKey, String)>) {
    let ranked = super::devices(matrix);
    let (mut common, mut skipped) = (vec![], vec![]);
    for (place, key) in overall.common.iter().enumerate() {
        let mut exclusions: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for times in devices {
            if let Err(why) = &times.seconds[place] {
                exclusions.entry(why).or_default().push(times.device);
            }
        }
        let reasons =
            exclusions.iter().map(|(why, lacking)| match lacking.len() == devices.len() {
                true => (*why).to_owned(),
                false => describe_exclusion(why, lacking, devices.len(), &ranked),
            });
        match exclusions.is_empty() {
            true => common.push(place),
            false => skipped.push((key.clone(), reasons.collect::<Vec<_>>().join("; "))),
        }
    }
    (common, skipped)
}

/// How many pairs stand in one order by both, and how many pairs there are.
fn in_order(known: &[(usize, [f64; 2])]) -> [usize; 2] {
    let pairs =
        || known.iter().enumerate().flat_map(|(i, a)| known[..i].iter().map(move |b| (a, b)));
    let same = pairs().filter(|(a, b)| a.1[0].total_cmp(&b.1[0]) == a.1[1].total_cmp(&b.1[1]));
    [same.count(), pairs().count()]
}

fn mean(logs: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = logs.fold((0.0, 0.0), |(sum, n), log| (sum + log, n + 1.0));
    sum / n
}

#[cfg(test)]
mod tests {
    use super::super::{Options, Ranking, rank};
    use super::*;
    use crate::result_matrix::result_matrix;
    use gpubench_core::record::Record;
    use gpubench_core::record::sample::{device, header, key, record};

    /// Three devices and four cases; the second takes twice the time, the third three times.
    fn ranked() -> (ResultMatrix, Ranking) {
        let mut header = header(vec![device("opencl"), device("wgpu"), device("sim")]);
        header
            .devices
            .iter_mut()
            .for_each(|device| device.kind = gpubench_core::gpu::DeviceKind::Discrete);
        let records: Vec<Record> = (1..=4)
            .flat_map(|n| {
                (0..3).map(move |device| {
                    let seconds = (device + 1) as f64 * n as f64;
                    Record { device, ..record(key("a", n), seconds) }
                })
            })
            .collect();
        let matrix = result_matrix([(&header, &records[..])]);
        let ranking = rank(&matrix, &Options::default()).unwrap();
        (matrix, ranking)
    }

    fn times(device: usize, seconds: f64) -> DeviceTimes {
        DeviceTimes { device, seconds: vec![Ok(seconds); 4] }
    }

    fn predicted(
        devices: &[DeviceTimes],
        unknown: Vec<(usize, String)>,
    ) -> Option<PredictedRanking> {
        let (matrix, ranking) = ranked();
        predict_ranking(&matrix, &ranking.families[0], Model::COMPONENTS, devices, unknown)
    }

    #[test]
    fn a_model_that_is_right_has_the_measured_order() {
        let prediction =
            predicted(&[times(0, 5.0), times(1, 10.0), times(2, 15.0)], vec![]).unwrap();
        assert_eq!(
            (prediction.reference, prediction.pairs, prediction.common.len()),
            (0, [3, 3], 4)
        );
        for (place, row) in prediction.rows.iter().enumerate() {
            assert_eq!((row.device, row.ranks), (place, Some([place + 1; 2])));
            assert!((row.predicted.unwrap() - row.measured).abs() < 1e-12, "{row:?}");
        }
    }

    #[test]
    fn a_model_that_is_wrong_keeps_its_own_order() {
        let prediction =
            predicted(&[times(0, 5.0), times(1, 15.0), times(2, 10.0)], vec![]).unwrap();
        assert_eq!(prediction.pairs, [2, 3]);
        let ranks: Vec<_> = prediction.rows.iter().filter_map(|row| row.ranks).collect();
        assert_eq!(ranks, [[1, 1], [2, 3], [3, 2]]);
        let one = &prediction.rows[1];
        assert!((one.measured - 0.5).abs() < 1e-12);
        assert!((one.predicted.unwrap() - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn a_case_that_one_device_cannot_predict_is_skipped_for_all_and_reported() {
        let mut lame = times(1, 10.0);
        lame.seconds[2] = Err("its group does not fit".into());
        let mut blind = [times(0, 5.0), lame];
        blind.iter_mut().for_each(|times| times.seconds[0] = Err("it was not counted".into()));
        let prediction = predicted(&blind, vec![(2, "no profile".into())]).unwrap();
        assert_eq!(prediction.common, [key("a", 2), key("a", 4)]);
        let reasons: Vec<&str> = prediction.skipped.iter().map(|(_, why)| why.as_str()).collect();
        assert_eq!(reasons[0], "it was not counted");
        assert!(
            reasons[1].starts_with("its group does not fit on ") && reasons[1].contains("wgpu")
        );
        let unknown = prediction.rows[2];
        assert_eq!((unknown.device, unknown.predicted, unknown.ranks), (2, None, None));
        assert!((unknown.measured - 1.0 / 3.0).abs() < 1e-12, "it is measured all the same");
    }

    #[test]
    fn the_reference_is_a_predicted_device() {
        let prediction =
            predicted(&[times(1, 2.0), times(2, 3.0)], vec![(0, "no profile".into())]).unwrap();
        assert_eq!((prediction.reference, prediction.pairs), (1, [1, 1]));
        assert!((prediction.rows[0].measured - 2.0).abs() < 1e-12, "{:?}", prediction.rows);
    }

    #[test]
    fn one_device_alone_has_no_order() {
        assert_eq!(predicted(&[times(0, 1.0)], vec![]), None);
        let nothing = DeviceTimes { device: 1, seconds: vec![Err("not counted".into()); 4] };
        assert_eq!(predicted(&[times(0, 1.0), nothing], vec![]), None);
    }
}
