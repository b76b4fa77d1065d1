//! States saved while an iteration goes on: what they cost on simulated GPUs, and iterations that are
//! killed and go on from their file.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Place, finish, text};
use gpubench::backend;
use gpubench::backend::sim::Sim;
use gpubench::error::Error;
use gpubench::gpu::{DeviceInfo, Op};
use gpubench::measure::checkpoint::analysis::checkpoint;
use gpubench::measure::checkpoint::data::Checkpoint;
use gpubench::measure::iteration::{Iteration, save_buffer, shadow};
use gpubench::measure::load;
use gpubench::measure::plan;
use gpubench::measure::{Iterated, Policy, Session, initial, iterate, measure};
use gpubench::plan::{Case, Limits, Planned};
use gpubench::record::Outcome;
use gpubench::reference;
use gpubench::workload::Size;
use std::path::Path;

/// The shipped iteration over a matrix of `n` by `n` numbers.
fn case(device: &DeviceInfo, n: i64) -> Case {
    planned("checkpoint_floyd_warshall", device, n)
}

fn planned(name: &str, device: &DeviceInfo, n: i64) -> Case {
    let mut suite = load("checkpoint").unwrap();
    suite.workloads.retain(|workload| workload.name == name);
    suite.workloads[0].sizes = vec![Size::from([("n".to_owned(), n)])];
    let limits = Limits { memory: None, seconds: 60.0, seed: 3, cores: 2, host_memory: None };
    match plan(&suite, device, &limits).remove(0) {
        Planned::Case(case) => *case,
        Planned::Skipped(skip) => panic!("{skip:?}"),
    }
}

fn open(index: usize) -> Session {
    Session::new(backend::by_name("sim").unwrap().open(index).unwrap())
}

#[test]
fn on_simulated_gpus_a_save_on_eight_queues_costs_no_more_than_on_one_and_what_model_12_says() {
    for index in 0..Sim::shipped() {
        let mut session = open(index);
        let case = planned("checkpoint_walsh", session.device.info(), 1 << 17);
        let policy = Policy { min_samples: 5, max_samples: 9, ..Policy::default() };
        let measurement = measure(&mut session, &case, &policy, &mut |_| {});
        assert_eq!(measurement.outcome, Some(Outcome::Ok));
        let Some(raw) = measurement.detail.and_then(|detail| detail.read::<Checkpoint>()) else {
            panic!("{:?}", measurement.outcome)
        };
        let name = &session.device.info().name;
        assert_eq!((raw.passes, raw.saves, raw.bytes), (17, 4, 4 << 17), "{name}");
        assert!(raw.skipped.iter().any(|(_, why)| why.contains("has no disk")), "{raw:?}");
        let summary = checkpoint(&raw).unwrap();
        let queues: Vec<u32> = summary.runs.iter().map(|run| run.queues).collect();
        assert_eq!(queues, [1, 4, 8]);
        for run in &summary.runs {
            assert!(run.cost <= summary.runs[0].cost, "{name}: {summary:?}");
            // The model knows nothing of launches that wait for each other: 20 µs a save.
            assert!((run.cost - run.predicted_cost).abs() < 20e-6, "{name}: {summary:?}");
        }
    }
}

#[test]
#[cfg_attr(
    not(all(feature = "require-opencl", feature = "require-wgpu")),
    ignore = "needs an OpenCL driver and a wgpu driver"
)]
fn every_driver_here_saves_the_state_of_each_pass_and_goes_on_from_it() {
    for backend in backend::all() {
        let found = backend.devices().unwrap();
        assert!(!found.is_empty(), "no device through {}", backend.name());
        for device in found {
            let mut session = Session::new(backend.open(device.index).unwrap());
            for (name, n) in [("checkpoint_floyd_warshall", 100), ("checkpoint_walsh", 1 << 16)] {
                let case = planned(name, &device, n);
                let policy = Policy { verify_only: true, ..Policy::default() };
                let measurement = measure(&mut session, &case, &policy, &mut |_| {});
                assert_eq!(measurement.outcome, Some(Outcome::Ok), "{name} on {}", device.name);
            }
        }
    }
}

#[test]
fn what_is_downloaded_is_a_copy_that_no_pass_changes_before_it_has_arrived() {
    let device = open(0).device.info().clone();
    let case = case(&device, 512);
    let iteration = Iteration { case: &case, candidate: &case.candidates[0] };
    let (queues, saves) = (8, iteration.few_saves());
    let recording = iteration.saving(queues, &saves);
    let copies = |op: &Op| matches!(op, Op::Copy { .. });
    let copied: Vec<usize> =
        (0..recording.steps.len()).filter(|&i| copies(&recording.steps[i].op)).collect();
    assert_eq!(copied.len(), saves.len());
    for (save, &at) in copied.iter().enumerate() {
        let before = recording.steps[..at].iter();
        let passes = before.clone().filter(|step| matches!(step.op, Op::Dispatch { .. })).count();
        assert_eq!(passes, saves[save], "it is the state after that pass");
        let arrives = |op: &Op| matches!(op, Op::Download { to, .. } if to.buffer == save_buffer(&case, save));
        let downloaded: Vec<_> = recording.steps.iter().filter(|step| arrives(&step.op)).collect();
        assert!(downloaded.len() > 1, "on several queues");
        for step in &downloaded {
            let Op::Download { from, .. } = step.op else { unreachable!() };
            assert_eq!(from.buffer, shadow(&case, 1), "not from where the passes work");
            assert!(step.queue.0 > 0 && step.after.iter().any(|id| id.0 as usize == at));
        }
        if let Some(&next) = copied.get(save + 1) {
            assert_eq!(recording.steps[next].after.len(), downloaded.len(), "it waits for all");
        }
    }
}

/// Runs the iteration of `n` by `n` numbers on one queue, with its states in `file`.
fn iterated(n: i64, queues: u32, file: &Path) -> Result<Iterated, Error> {
    let mut session = open(0);
    let case = case(session.device.info(), n);
    iterate(&mut session, &case, queues, file, &mut |_| {})
}

fn expected(n: i64) -> Vec<u8> {
    let case = case(open(0).device.info(), n);
    let contents = initial(&case);
    let names = case.buffers.iter().map(|buffer| buffer.name.clone());
    let mut buffers: Vec<_> = names.zip(contents).collect();
    for via in 0..n {
        let numbers = vec![("n".to_owned(), n as f64), ("via".to_owned(), via as f64)];
        let problem = reference::Problem::new(numbers, buffers);
        let (_, distance) = reference::find("floyd_warshall").unwrap()(&problem).unwrap().remove(0);
        buffers = problem.into_buffers();
        buffers[1].1 = distance;
    }
    buffers[1].1.as_bytes().to_vec()
}

#[test]
fn an_iteration_goes_on_from_its_file_to_the_same_end() {
    let folder = tempfile::tempdir().unwrap();
    for queues in [1, 4, 8] {
        let file = folder.path().join(format!("{queues}.checkpoint"));
        let first = iterated(64, queues, &file).unwrap();
        assert_eq!((first.from, first.state == expected(64)), (0, true));
        let again = iterated(64, queues, &file).unwrap();
        assert!(again.from >= 32, "{}", again.from);
        assert!(again.state == first.state);
    }
}

#[test]
fn a_file_that_is_cut_short_altered_or_of_other_work_is_rejected_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.checkpoint");
    iterated(64, 1, &file).unwrap();
    let whole = std::fs::read(&file).unwrap();
    let message = |n: i64, bytes: &[u8]| {
        std::fs::write(&file, bytes).unwrap();
        let error = iterated(n, 1, &file).unwrap_err();
        assert!(matches!(error, Error::Usage(_)), "{error:?}");
        let message = error.to_string();
        assert!(
            message.contains("state.checkpoint: ") && message.contains("remove it"),
            "{message}"
        );
        assert!(std::fs::read(&file).unwrap() == bytes, "what is rejected is left as it is");
        message
    };
    let short = message(64, &whole[..whole.len() - 1000]);
    assert!(short.contains(&format!("cut short: {} of {}", whole.len() - 1000, whole.len())));
    let mut altered = whole.clone();
    let middle = altered.len() / 2;
    altered[middle] ^= 0x10;
    assert!(message(64, &altered).contains("altered or damaged"));
    assert!(message(64, &[]).contains("cut short"));
    assert!(message(64, b"no checkpoint\n").contains("no checkpoint of gpubench"));
    assert!(message(65, &whole).contains("`checkpoint_floyd_warshall n=64`"));
    // As another kernel would have saved it.
    let mut other = gpubench::record::CheckpointFile::parse(&whole).unwrap();
    other.of.kernel = "0".repeat(64);
    assert!(
        message(64, &other.to_bytes().unwrap()).contains("of another kernel (SHA-256 00000000")
    );
}

/// Kills workers of `device` a given number of times, their files in memory or on the disk; the text of it.
fn recovered(device: &str, size: &str, tries: &str, in_memory: bool) -> String {
    let place = Place::new();
    let args = ["recover", "--device", device, "--filter", "floyd", "--filter", size];
    let mut command = place.gpubench(&[&args[..], &["--tries", tries]].concat());
    // What dies is a process: the file need not lie on a disk, which takes longer than all the rest.
    let memory = tempfile::tempdir_in("/dev/shm");
    if let (Ok(memory), true) = (&memory, in_memory) {
        command.env("TMPDIR", memory.path());
    }
    let output = finish(command.spawn().unwrap());
    let (report, log) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{report}{log}");
    report
}

#[test]
fn killed_at_100_random_moments_an_iteration_ends_as_it_does_undisturbed() {
    let report = recovered("sim:Tesla K40c", "n=192", "100", true);
    assert!(report.contains("100 of 100 equal to the bit"), "{report}");
    // The moments are spread over the whole.
    let number = |before: &str| -> u32 {
        let rest = report.split_once(before).unwrap_or_else(|| panic!("{report}")).1;
        rest.split_whitespace().next().unwrap().parse().unwrap()
    };
    assert!(number("killed ") >= 50 && number("gone on ") >= 30, "{report}");
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn on_a_real_driver_and_on_the_disk_where_most_moments_are_spent_on_the_file_too() {
    let place = Place::new();
    let devices = text(&place.output(&["devices"]).stdout);
    let mut words = devices.split_whitespace();
    let device = words.find(|word| word.starts_with("opencl:")).expect("an OpenCL device");
    let report = recovered(device, "n=64", "10", false);
    assert!(report.contains("10 of 10 equal to the bit"), "{report}");
}
