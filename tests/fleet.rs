//! Many writers and one folder: what a fleet leaves there is whole, and is ranked.
#![cfg(target_os = "linux")]

mod common;

use common::{LONG, Place, finish, suite, text, until};
use gpubench::store::read;
use std::process::Child;
use std::time::Instant;

const GPUS: [&str; 4] = ["Tesla C1060", "Tesla C2050", "Tesla C2075", "Tesla K40c"];

/// A run on one simulated device into the folder that all share.
fn writer(place: &Place, gpu: &str, rounds: &str) -> Child {
    let suite = suite("flow/flow.yaml");
    let device = format!("sim:{gpu}");
    let args = ["run", &suite, "--device", &device, "--rounds", rounds, "--output", "shared"];
    place.gpubench(&args).spawn().expect("the binary starts")
}

/// Files of the shared folder whose name has `part` in it.
fn files(place: &Place, part: &str) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(place.folder.path().join("shared")).into_iter().flatten();
    let paths = entries.map(|entry| entry.expect("readable").path());
    let mut found: Vec<_> =
        paths.filter(|path| path.display().to_string().contains(part)).collect();
    found.sort();
    found
}

#[test]
fn four_writers_at_once_and_one_is_killed() {
    let place = Place::new();
    // The one to be killed has much more to do than the others.
    let mut writers: Vec<Child> = GPUS
        .iter()
        .map(|gpu| writer(&place, gpu, if *gpu == GPUS[3] { "90" } else { "2" }))
        .collect();
    let mut victim = writers.pop().expect("four of them");
    until("the victim's first records", || {
        let file = files(&place, "Tesla-K40c").into_iter().next();
        file.and_then(|file| read(&file).ok()).is_some_and(|run| run.records.len() >= 8)
    });
    victim.kill().expect("it runs");
    let _ = victim.wait();
    for writer in writers {
        let output = finish(writer);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
    assert_eq!(files(&place, ".jsonl").len(), 4, "a file each, and nothing else");
    for gpu in &GPUS[..3] {
        let named = gpu.replace(' ', "-");
        let found = files(&place, &named);
        assert_eq!(found.len(), 1, "the device is in the name: {found:?}");
        let run = read(&found[0]).expect("a result");
        assert!(run.warnings.is_empty() && run.footer.is_some(), "{gpu}: the file is whole");
        assert!(run.records.iter().all(|record| record.outcome.is_ok()));
    }
    let cut = read(&files(&place, "Tesla-K40c")[0]).expect("a result");
    assert!(cut.footer.is_none() && !cut.records.is_empty());
    // The folder also holds what is none of gpubench's.
    for (name, bytes) in [
        ("slurm-4711.out", &b"srun: job 4711\n"[..]),
        ("events.jsonl", b"{\"event\":\"start\"}\n"),
        ("empty.jsonl", b""),
        ("noise.jsonl", b"\x00\xff\xfe"),
        ("begun.jsonl", b"{\"header\":{\"vers"),
    ] {
        std::fs::write(place.folder.path().join("shared").join(name), bytes).expect("written");
    }
    std::fs::create_dir(place.folder.path().join("shared/deeper.jsonl")).expect("a folder");
    let link = place.folder.path().join("shared/link.jsonl");
    std::os::unix::fs::symlink("/nowhere.jsonl", link).expect("a link");
    let output = place.output(&["rank", "shared", "--include-simulated"]);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    for gpu in GPUS {
        assert!(stdout.contains(gpu), "{gpu} is ranked: {stdout}");
    }
    for foreign in ["events.jsonl", "empty.jsonl", "noise.jsonl", "begun.jsonl", "link.jsonl"] {
        let reported = stderr.lines().any(|l| l.contains("skipped") && l.contains(foreign));
        assert!(reported, "{foreign}: {stderr}");
    }
    assert!(!stderr.contains("slurm-4711") && !stderr.contains("deeper"), "{stderr}");
}

/// Names that would be equal get numbers: many processes begin within one second.
#[test]
fn writers_on_one_device_do_not_collide() {
    let place = Place::new();
    let begun = Instant::now();
    let spawned: Vec<Child> = (0..4)
        .map(|_| {
            let suite = suite("flow/flow.yaml");
            let args = ["run", &suite, "--device", "sim:Tesla K40c", "--no-lock", "--rounds", "1"];
            place
                .gpubench(&[&args[..], &["--output", "shared"]].concat())
                .spawn()
                .expect("it starts")
        })
        .collect();
    for writer in spawned {
        assert_eq!(finish(writer).status.code(), Some(0));
    }
    assert!(begun.elapsed() < LONG);
    let found = files(&place, ".jsonl");
    assert_eq!(found.len(), 4, "{found:?}");
    for file in found {
        let run = read(&file).expect("a result");
        assert!(run.warnings.is_empty() && run.footer.is_some());
    }
}

#[test]
fn a_run_can_write_one_file_a_device() {
    let place = Place::new();
    let suite = suite("flow/flow.yaml");
    let run = ["run", &suite, "--rounds", "1", "--per-device", "--sim", "c1060", "k40c"];
    let output = place.output(&run);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let results = place.results();
    assert_eq!(results.len(), 2, "{results:?}");
    for (file, gpu) in results.iter().zip(["Tesla C1060", "Tesla K40c"]) {
        let run = read(file).expect("a result");
        assert_eq!(run.header.devices.len(), 1);
        assert!(file.display().to_string().contains(&gpu.replace(' ', "-")), "{results:?}");
    }
    let args = ["run", &suite, "--per-device", "--output", "one.jsonl", "--sim", "c1060", "k40c"];
    let output = place.output(&args);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("name a folder"), "{}", text(&output.stderr));
}

#[test]
fn a_folder_of_foreign_files_only_has_no_ranking() {
    let place = Place::new();
    let folder = place.folder.path().join("shared");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::write(folder.join("events.jsonl"), "{\"event\":1}\n").expect("written");
    let output = place.output(&["rank", "shared"]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("skipped") && stderr.contains("no result of gpubench"), "{stderr}");
}
