//! The order of devices that a model foresees from their profiles, beside the one measured.
//!
//! Both are over the same cases, so that they differ by nothing but the model. A model that was
//! fitted to those cases would only give back what was measured: one that a profile alone prices
//! never saw them.

use super::{Family, cells, lack};
use crate::field::{Cell, Field};
use crate::fit::Model;
use gpubench_core::workload::CaseKey;
use serde::Serialize;
use std::collections::BTreeMap;

/// What is foreseen of the overall common set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Foresight {
    /// The model, with the parameters that profiles give it.
    pub model: Model,
    /// The device whose two speeds are 1: the ranking's reference, where it is foreseen.
    pub reference: usize,
    /// Every ranked device, fastest first, as measured over the foreseen cases.
    pub rows: Vec<Foreseen>,
    /// The cases of the overall common set that are foreseen on every device that has a profile.
    pub common: Vec<CaseKey>,
    /// Those that are not, each with the reason.
    pub left_out: Vec<(CaseKey, String)>,
    /// Devices that nothing is foreseen of, with the reason.
    pub unknown: Vec<(usize, String)>,
    /// Pairs of foreseen devices whose order is the one measured, and all such pairs.
    pub pairs: [usize; 2],
}

/// A device, measured and foreseen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Foreseen {
    /// The device.
    pub device: usize,
    /// Geometric mean of the reference's measured times over its own.
    pub measured: f64,
    /// The same of the times foreseen.
    pub foreseen: Option<f64>,
    /// Its rank as measured and as foreseen, from 1, among the devices that are foreseen.
    pub ranks: Option<[usize; 2]>,
}

/// A device's cases, foreseen.
#[derive(Clone, Debug)]
pub struct Seer {
    /// The device.
    pub device: usize,
    /// Seconds of each case of the overall common set, in its order; or why there are none.
    pub seconds: Vec<Result<f64, String>>,
}

/// Puts what `seers` foresee beside what `overall` measured; `unknown` are the other ranked
/// devices. `None` where fewer than two devices are foreseen, or no case is on all of them.
pub fn foresight(
    field: &Field,
    overall: &Family,
    model: Model,
    seers: &[Seer],
    unknown: Vec<(usize, String)>,
) -> Option<Foresight> {
    let (common, left_out) = split(field, overall, seers);
    if seers.len() < 2 || common.is_empty() {
        return None;
    }
    let keys: Vec<CaseKey> = common.iter().map(|&place| overall.common[place].clone()).collect();
    let cases: Vec<usize> = keys.iter().filter_map(|key| field.find(key)).collect();
    let measured = |device: usize| mean(cells(field, device, &cases).map(Cell::log_seconds));
    let foreseen = |device: usize| {
        let seer = seers.iter().find(|seer| seer.device == device)?;
        let seconds = common.iter().filter_map(|&place| seer.seconds[place].as_ref().ok());
        Some(mean(seconds.map(|seconds| seconds.ln())))
    };
    let mut all: Vec<(usize, f64, Option<f64>)> = overall
        .rows
        .iter()
        .map(|row| (row.device, measured(row.device), foreseen(row.device)))
        .collect();
    all.sort_by(|a, b| a.1.total_cmp(&b.1));
    let told: Vec<(usize, [f64; 2])> =
        all.iter().filter_map(|&(device, m, f)| Some((device, [m, f?]))).collect();
    let is_reference = |one: &&(usize, [f64; 2])| Some(one.0) == overall.reference;
    let &(reference, base) = told.iter().find(is_reference).or(told.first())?;
    let rank = |logs: [f64; 2]| {
        [0, 1].map(|i| 1 + told.iter().filter(|(_, other)| other[i] < logs[i]).count())
    };
    let row = |&(device, measured, foreseen): &(usize, f64, Option<f64>)| Foreseen {
        device,
        measured: (base[0] - measured).exp(),
        foreseen: foreseen.map(|foreseen| (base[1] - foreseen).exp()),
        ranks: foreseen.map(|foreseen| rank([measured, foreseen])),
    };
    let rows = all.iter().map(row).collect();
    let pairs = in_order(&told);
    Some(Foresight { model, reference, rows, common: keys, left_out, unknown, pairs })
}

/// Positions of the cases that all foresee, and the others with the reason.
fn split(field: &Field, overall: &Family, seers: &[Seer]) -> (Vec<usize>, Vec<(CaseKey, String)>) {
    let (mut common, mut left_out) = (vec![], vec![]);
    for (place, key) in overall.common.iter().enumerate() {
        let mut lacks: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for seer in seers {
            if let Err(why) = &seer.seconds[place] {
                lacks.entry(why).or_default().push(seer.device);
            }
        }
        let told = lacks.iter().map(|(why, devices)| match devices.len() == seers.len() {
            true => (*why).to_owned(),
            false => lack(why, devices, seers.len(), field),
        });
        match lacks.is_empty() {
            true => common.push(place),
            false => left_out.push((key.clone(), told.collect::<Vec<_>>().join("; "))),
        }
    }
    (common, left_out)
}

/// How many pairs stand in one order by both, and how many pairs there are.
fn in_order(told: &[(usize, [f64; 2])]) -> [usize; 2] {
    let pairs = || told.iter().enumerate().flat_map(|(i, a)| told[..i].iter().map(move |b| (a, b)));
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
    use crate::field::field;
    use gpubench_core::record::Record;
    use gpubench_core::record::sample::{device, header, key, record};

    /// Three devices and four cases; the second takes twice the time, the third three times.
    fn ranked() -> (Field, Ranking) {
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
        let field = field([(&header, &records[..])]);
        let ranking = rank(&field, &Options::default()).unwrap();
        (field, ranking)
    }

    fn seer(device: usize, seconds: f64) -> Seer {
        Seer { device, seconds: vec![Ok(seconds); 4] }
    }

    fn foreseen(seers: &[Seer], unknown: Vec<(usize, String)>) -> Option<Foresight> {
        let (field, ranking) = ranked();
        foresight(&field, &ranking.families[0], Model::Components, seers, unknown)
    }

    #[test]
    fn a_model_that_is_right_has_the_measured_order() {
        let told = foreseen(&[seer(0, 5.0), seer(1, 10.0), seer(2, 15.0)], vec![]).unwrap();
        assert_eq!((told.reference, told.pairs, told.common.len()), (0, [3, 3], 4));
        for (place, row) in told.rows.iter().enumerate() {
            assert_eq!((row.device, row.ranks), (place, Some([place + 1; 2])));
            assert!((row.foreseen.unwrap() - row.measured).abs() < 1e-12, "{row:?}");
        }
    }

    #[test]
    fn a_model_that_is_wrong_keeps_its_own_order() {
        let told = foreseen(&[seer(0, 5.0), seer(1, 15.0), seer(2, 10.0)], vec![]).unwrap();
        assert_eq!(told.pairs, [2, 3]);
        let ranks: Vec<_> = told.rows.iter().filter_map(|row| row.ranks).collect();
        assert_eq!(ranks, [[1, 1], [2, 3], [3, 2]]);
        let one = &told.rows[1];
        assert!((one.measured - 0.5).abs() < 1e-12);
        assert!((one.foreseen.unwrap() - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn what_one_cannot_foresee_counts_for_none_and_is_told() {
        let mut lame = seer(1, 10.0);
        lame.seconds[2] = Err("its group does not fit".into());
        let mut blind = [seer(0, 5.0), lame];
        blind.iter_mut().for_each(|seer| seer.seconds[0] = Err("it was not counted".into()));
        let told = foreseen(&blind, vec![(2, "no profile".into())]).unwrap();
        assert_eq!(told.common, [key("a", 2), key("a", 4)]);
        let reasons: Vec<&str> = told.left_out.iter().map(|(_, why)| why.as_str()).collect();
        assert_eq!(reasons[0], "it was not counted");
        assert!(
            reasons[1].starts_with("its group does not fit on ") && reasons[1].contains("wgpu")
        );
        let unknown = told.rows[2];
        assert_eq!((unknown.device, unknown.foreseen, unknown.ranks), (2, None, None));
        assert!((unknown.measured - 1.0 / 3.0).abs() < 1e-12, "it is measured all the same");
    }

    #[test]
    fn the_reference_is_one_that_is_foreseen() {
        let told = foreseen(&[seer(1, 2.0), seer(2, 3.0)], vec![(0, "no profile".into())]).unwrap();
        assert_eq!((told.reference, told.pairs), (1, [1, 1]));
        assert!((told.rows[0].measured - 2.0).abs() < 1e-12, "{:?}", told.rows);
    }

    #[test]
    fn one_device_alone_has_no_order() {
        assert_eq!(foreseen(&[seer(0, 1.0)], vec![]), None);
        let nothing = Seer { device: 1, seconds: vec![Err("not counted".into()); 4] };
        assert_eq!(foreseen(&[seer(0, 1.0), nothing], vec![]), None);
    }
}
