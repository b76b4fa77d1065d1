//! Domains in parts that exchange their halos: on a simulated GPU and on every device of this machine.
#![expect(clippy::unwrap_used, reason = "a helper of tests panics as tests do")]

use gpubench::backend::{self, Device};
use gpubench::measure::domain::Spec;
use gpubench::measure::halo::analysis::halo;
use gpubench::measure::halo::data::Halo;
use gpubench::measure::load;
use gpubench::measure::plan;
use gpubench::measure::{Measurement, Policy, Session, measure};
use gpubench::plan::{Case, Limits, Planned};
use gpubench::record::Outcome;
use gpubench::suite::{Suite, Workload};
use gpubench::units::Bytes;
use gpubench::workload::{Faces, Kind};

/// Sides of the domains, and parts along x, y and z: every axis alone, and all at once.
const CUTS: [[i64; 4]; 4] = [[12, 3, 1, 1], [12, 1, 2, 1], [12, 1, 1, 4], [8, 2, 2, 2]];

/// The shipped domain in parts, at sizes quickly computed.
fn parts() -> Suite {
    let mut suite = load("seismic").unwrap();
    for workload in
        suite.workloads.iter_mut().filter(|workload| workload.measures(Kind::new("halo")))
    {
        let names = ["n", "px", "py", "pz"].map(str::to_owned);
        let size = |cut: &[i64; 4]| names.iter().cloned().zip(cut.iter().copied()).collect();
        workload.sizes = CUTS.iter().map(size).collect();
    }
    suite
}

/// Changes how a domain is cut, behind the suite's checks.
fn change(workload: &mut Workload, how: impl FnOnce(&mut Spec)) {
    let mut spec = workload.options::<Spec>().unwrap().clone();
    how(&mut spec);
    let options = std::sync::Arc::new(spec);
    let mine = workload.measure.iter_mut().find(|requested| requested.kind() == Kind::new("halo"));
    mine.unwrap().options = options;
}

fn cases(suite: &Suite, device: &dyn Device, memory: Option<Bytes>) -> Vec<Result<Case, String>> {
    let limits = Limits { memory, seconds: 60.0, seed: 5, cores: 2, host_memory: None };
    let mut suite = suite.clone();
    let names: Vec<String> = suite.workloads.iter().map(|w| w.name.clone()).collect();
    assert!(names.contains(&"pack_box".to_owned()), "{names:?}");
    // What packs is looked for in the suite, and not measured here.
    suite
        .workloads
        .iter_mut()
        .filter(|w| !w.measures(Kind::new("halo")))
        .for_each(|w| w.measure = vec![]);
    let planned = plan(&suite, device.info(), &limits).into_iter();
    planned
        .map(|planned| match planned {
            Planned::Case(case) => Ok(*case),
            Planned::Skipped(skip) => Err(skip.reason.to_string()),
        })
        .collect()
}

/// One whose grids have three dimensions: the oldest have two.
fn simulated() -> Box<dyn Device> {
    let sim = backend::by_name("sim").unwrap();
    let at = sim.devices().unwrap().iter().position(|gpu| gpu.name == "Tesla K40c").unwrap();
    sim.open(at).unwrap()
}

fn measured(device: Box<dyn Device>, case: &Case, verify_only: bool) -> Measurement {
    let policy = Policy { min_samples: 3, max_samples: 3, verify_only, ..Policy::default() };
    measure(&mut Session::new(device), case, &policy, &mut |_| {})
}

#[test]
fn both_designs_compute_what_the_undivided_domain_does() {
    let cases = cases(&parts(), simulated().as_ref(), None);
    assert_eq!(cases.len(), CUTS.len());
    for (case, [n, px, py, pz]) in cases.into_iter().zip(CUTS) {
        let measurement = measured(simulated(), &case.unwrap(), false);
        assert_eq!(measurement.outcome, Some(Outcome::Ok), "{measurement:?}");
        let Some(raw) = measurement.detail.and_then(|detail| detail.read::<Halo>()) else {
            panic!("nothing was exchanged")
        };
        assert_eq!((raw.cells, raw.cuts), ([n as u64; 3], [px, py, pz].map(|p| p as u64)));
        assert_eq!(raw.identical, [true; 2], "{px} x {py} x {pz}");
        // Between two parts travel three fields after velocities and three after stresses.
        let borders = (px - 1) * py * pz + px * (py - 1) * pz + px * py * (pz - 1);
        assert_eq!(raw.copies[0], 4 * borders as u64);
        let summary = halo(&raw).unwrap();
        assert!(summary.packed > summary.parts && summary.bulk > summary.parts, "{summary:?}");
        let layer = |p: [i64; 3]| {
            let [x, y, z] = p.map(|parts| n / parts);
            [y * z, x * z, x * y]
        };
        let [x, y, z] = layer([px, py, pz]);
        let cells = (px - 1) * py * pz * x + px * (py - 1) * pz * y + px * py * (pz - 1) * z;
        assert_eq!(raw.bytes[0], 6 * 4 * cells as u64, "three fields twice");
    }
}

#[test]
#[cfg_attr(
    not(all(feature = "require-opencl", feature = "require-wgpu")),
    ignore = "needs an OpenCL driver and a wgpu driver"
)]
fn every_device_of_this_machine_exchanges_halos_rightly() {
    for backend in backend::all() {
        let found = backend.devices().unwrap();
        assert!(!found.is_empty(), "no device through {}", backend.name());
        for info in found {
            for case in cases(&parts(), backend.open(info.index).unwrap().as_ref(), None) {
                let case = case.unwrap();
                let measurement = measured(backend.open(info.index).unwrap(), &case, true);
                assert_eq!(measurement.outcome, Some(Outcome::Ok), "{} {}", info.name, case.key);
            }
        }
    }
}

/// Every list of fields is needed: without any one of them the result is wrong.
#[test]
fn a_face_that_stays_behind_is_noticed() {
    let mut suite = parts();
    let at =
        suite.workloads.iter().position(|workload| workload.measures(Kind::new("halo"))).unwrap();
    suite.workloads[at].sizes.drain(..3);
    let whole = suite.workloads[at].options::<Spec>().unwrap().exchange.clone();
    for (pass, axis, side) in (0..12).map(|i| (i / 6, i / 2 % 3, i % 2)) {
        let mut exchange = whole.clone();
        let Faces { behind, ahead } = &mut exchange[pass];
        [behind, ahead][side][axis].clear();
        change(&mut suite.workloads[at], |spec| spec.exchange = exchange);
        let case = cases(&suite, simulated().as_ref(), None).remove(0).unwrap();
        let measurement = measured(simulated(), &case, true);
        let Some(Outcome::Unverified(wrong)) = measurement.outcome else {
            panic!("{measurement:?}")
        };
        assert_eq!(wrong.when, "first steps, packed", "pass {pass}, axis {axis}, side {side}");
    }
}

#[test]
fn what_does_not_fit_is_rejected_with_its_place() {
    let rejected = |memory: u64| {
        let all = cases(&parts(), simulated().as_ref(), Some(Bytes(memory)));
        all.into_iter().next().unwrap().unwrap_err()
    };
    let said = rejected(200 << 10);
    assert!(
        said.contains("seismic.yaml") && said.contains("it, whole and in parts, needs"),
        "{said}"
    );
    let mut suite = parts();
    let at =
        suite.workloads.iter().position(|workload| workload.measures(Kind::new("halo"))).unwrap();
    change(&mut suite.workloads[at], |spec| spec.exchange[0].ahead[0] = vec![9]);
    let said = cases(&suite, simulated().as_ref(), None).remove(0).unwrap_err();
    assert!(said.contains("field 9 is exchanged, and there are 9"), "{said}");
    change(&mut suite.workloads[at], |spec| {
        spec.unpack.0 = "pack_box".to_owned();
        spec.exchange[0].ahead[0] = vec![1, 2];
    });
    let said = cases(&suite, simulated().as_ref(), None).remove(0).unwrap_err();
    assert!(
        said.contains("`pack_box` binds field and face, and face and field are asked of it"),
        "{said}"
    );
}
