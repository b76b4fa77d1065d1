//! A case whose rounds ended differently: every command says the same of it, in whatever order they came.
#![cfg(target_os = "linux")]

mod common;

use common::{Place, invented, suite, text};
use gpubench::record::{Outcome, Record};
use gpubench::store::{Writer, read};

fn timeout() -> Outcome {
    Outcome::Timeout("launch".into())
}

fn crash() -> Outcome {
    Outcome::Crash { how: "killed by SIGSEGV".into(), stderr: vec![] }
}

/// A run of `bad n=1` with these rounds, and with two verified ones of `copy n=1` where that is wanted.
fn write(place: &Place, name: &str, bad: &[Outcome], with_copy: bool) {
    let rounds = 2.max(bad.len() as u32);
    let header = invented::header(vec![invented::device("Card A")], rounds);
    let path = place.folder.path().join(name);
    let mut writer = Writer::create_at(&path, &header).expect("a new file");
    for (round, outcome) in (0..).zip(bad) {
        let record = invented::record(invented::key("bad", 1), 0, round, vec![1e-3; 15]);
        let measured = record.measured.clone().filter(|_| outcome.is_ok());
        let record = Record { outcome: outcome.clone(), measured, ..record };
        writer.append(&record).expect("written");
    }
    for round in (0..2).filter(|_| with_copy) {
        let record = invented::record(invented::key("copy", 1), 0, round, vec![1e-3; 15]);
        writer.append(&record).expect("written");
    }
    writer.leave().expect("on disk");
}

fn says(place: &Place, args: &[&str]) -> String {
    let output = place.output(args);
    text(&output.stdout) + &text(&output.stderr)
}

#[test]
fn a_timeout_and_a_crash_are_a_crash_to_every_command() {
    for both in [[timeout(), crash()], [crash(), timeout()]] {
        let place = Place::new();
        write(&place, "bad.jsonl", &both, true);
        write(&place, "good.jsonl", &[Outcome::Ok, Outcome::Ok], true);
        for (args, wanted) in [
            (&["report", "bad.jsonl"][..], "✗ bad n=1 on Card A · 1.0 · opencl: crash"),
            (&["report", "bad.jsonl", "--format", "md"], "crash"),
            (&["report", "bad.jsonl", "--format", "html"], "crash"),
            (&["report", "bad.jsonl", "--format", "csv"], "kernel,,crash,killed by SIGSEGV"),
            (&["report", "bad.jsonl", "--format", "json"], "\"outcome\": \"crash\""),
            (&["rank", "bad.jsonl"], "crash on Card A · 1.0 · opencl"),
            (&["compare", "bad.jsonl", "good.jsonl"], "crash in the new run"),
            (&["compare", "good.jsonl", "bad.jsonl"], "crash in the old run"),
            (&["baseline", "save", "bad.jsonl", "--allow", "few-rounds"], "bad n=1 (crash)"),
            (&["baseline", "show", "bad.jsonl"], "crash"),
            (&["trace", "bad.jsonl", "--case", "bad"], "outcome: crash"),
        ] {
            let said = says(&place, args);
            assert!(said.contains(wanted), "{args:?} after {both:?}: {said}");
            assert!(!said.contains("timeout"), "{args:?} after {both:?}: {said}");
        }
    }
}

#[test]
fn one_failed_round_of_three_leaves_nothing_to_fit_or_to_rank() {
    for bad in [[Outcome::Ok, timeout(), crash()], [crash(), timeout(), Outcome::Ok]] {
        let place = Place::new();
        write(&place, "bad.jsonl", &bad, false);
        let said = says(&place, &["fit", "bad.jsonl"]);
        assert!(said.contains("no kernel is verified"), "{said}");
        let said = says(&place, &["report", "bad.jsonl"]);
        assert!(
            said.contains("✗ bad n=1 on Card A · 1.0 · opencl in 2 of 3 rounds: crash"),
            "{said}"
        );
        let said = says(&place, &["rank", "bad.jsonl"]);
        assert!(!said.contains("1.00"), "{said}");
    }
}

/// Whether the builds of a suite were the run's first, by round.
fn builds(place: &Place, name: &str, own_cache: bool) -> Vec<Vec<Option<bool>>> {
    let suite = suite("flow/flow.yaml");
    let mut command =
        place.gpubench(&["run", &suite, "--sim", "k20c", "--rounds", "2", "-q", "-o", name]);
    let names = std::env::vars_os().map(|(name, _)| name);
    let own = names.filter(|name| name.to_string_lossy().contains("_CACHE_"));
    for name in own {
        command.env_remove(name);
    }
    if own_cache {
        command.env("CUDA_CACHE_PATH", place.folder.path());
    }
    let output = common::finish(command.spawn().expect("it starts"));
    assert!(output.status.success(), "{}", text(&output.stderr));
    let run = read(&place.folder.path().join(name)).expect("a result");
    let of = |round| {
        let records = run.records.iter().filter(|record| record.round == round);
        let built = records.filter_map(|record| Some(record.kernel.as_ref()?.report.first));
        built.collect()
    };
    [0, 1].map(of).into()
}

#[test]
fn a_round_that_builds_again_says_so_and_a_user_s_own_cache_leaves_it_open() {
    let place = Place::new();
    let [first, again] = &builds(&place, "a.jsonl", false)[..] else { panic!("two rounds") };
    assert!(first.contains(&Some(true)), "{first:?}");
    assert!(!again.is_empty() && again.iter().all(|first| *first == Some(false)), "{again:?}");
    // Another run has another cache.
    assert!(builds(&place, "b.jsonl", false)[0].contains(&Some(true)));
    let unknown = builds(&place, "c.jsonl", true).concat();
    assert!(!unknown.is_empty() && unknown.iter().all(Option::is_none), "{unknown:?}");
}
