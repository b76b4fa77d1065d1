//! Result files.

use crate::common::{Place, text};
use crate::{every_kind, is_harmless, is_text, leaves, nonsense, printed, spoiled, taint, write};
use gpubench::measure::Experiment;
use gpubench::measure::characterise::Characterise;
use gpubench::measure::checkpoint::Checkpoint;
use gpubench::measure::concurrency::Concurrency;
use gpubench::measure::halo::Halo;
use gpubench::measure::layout::Layout;
use gpubench::measure::occupancy::Occupancy;
use gpubench::measure::overlap::Overlap;
use gpubench::measure::registry::recorded;
use gpubench::measure::schedule::Schedule;
use gpubench::measure::split::Split;
use gpubench::measure::transfer::Transfer;
use gpubench::measure::transfer_states::TransferStates;
use gpubench::record::{Detail, Line, VERSION};
use gpubench::store::read;
use serde_json::Value;
use std::path::Path;
use std::time::Instant;

/// Every format of reports.
const REPORTS: [&str; 6] = ["text", "html", "md", "csv", "figures", "json"];

/// Every format of comparisons and rankings.
const TABLES: [&str; 4] = ["text", "md", "csv", "json"];

/// Whether a detail is read, for each kind that the run has one of.
const KINDS: [fn(&Detail) -> bool; 11] = [
    is_read::<Halo>,
    is_read::<Occupancy>,
    is_read::<Layout>,
    is_read::<Checkpoint>,
    is_read::<Overlap>,
    is_read::<Concurrency>,
    is_read::<Characterise>,
    is_read::<Transfer>,
    is_read::<Schedule>,
    is_read::<TransferStates>,
    is_read::<Split>,
];

fn is_read<E: Experiment>(detail: &Detail) -> bool {
    detail.read::<E::Data>().is_some()
}

/// Whether a line is one that is used.
fn is_used(line: &Value) -> bool {
    match Line::parse(&serde_json::to_vec(line).unwrap(), VERSION) {
        Ok(Line::Header(header)) => header.validation_error().is_none(),
        Ok(Line::Record(record)) => {
            let is_read = |detail: &Detail| KINDS.iter().any(|is_read| is_read(detail));
            record.validation_error().is_none() && record.detail.as_ref().is_none_or(is_read)
        }
        Ok(Line::Noise(noise)) => noise.validation_error().is_none(),
        Ok(_) => true,
        Err(_) => false,
    }
}

/// Every command that reads a run, in every format.
fn readers(file: &str) -> Vec<Vec<String>> {
    let own = |args: &[&str]| args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>();
    let all = ["--include-simulated", "--include-cpu"];
    let mut commands = vec![];
    for format in REPORTS {
        let report = ["report", "--baseline", file, "--format", format, file];
        commands.push(own(&[&report[..], &all].concat()));
    }
    for format in TABLES {
        commands.push(own(&[&["rank", "--format", format, file][..], &all].concat()));
        commands.push(own(&["compare", "--format", format, file, file]));
    }
    let others = [
        &["export", file][..],
        &["export", "--format", "bencher", file],
        &["fit", file],
        &["fit", "--json", file],
        &["profile", file],
        &["predict", "all", "--from", file],
        &["predict", "quick", "--profile", file],
        &["predict", "quick", "--json", "--profile", file],
        &["model", "concurrency", file],
        &["trace", file],
        &["trace", file, "--case", "nothing like it"],
        &["baseline", "save", file],
        &["baseline", "show", file],
        &["baseline", "history", "--all", file],
        &["baseline", "list"],
        &["run", "quick", "--resume", file],
        &["run", "all", "--resume", file, "--sim", "k40c"],
    ];
    commands.extend(others.into_iter().map(own));
    commands
}

#[test]
fn no_text_of_a_result_file_commands_a_terminal() {
    let place = Place::new();
    let lines = every_kind();
    assert!(lines.iter().all(is_used));
    let each = |line: &Value| spoiled(line, is_text, &taint, &is_used);
    let (whole, rejected): (Vec<_>, Vec<_>) = lines.iter().map(each).unzip();
    let tainted: usize =
        whole.iter().map(|line| line.to_string().matches("\\u001b[31m").count()).sum();
    assert!(tainted > 500, "{tainted} texts");
    let file = write(&place, "whole.jsonl", &whole);
    for args in readers(&file) {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        is_harmless(&place, &args);
    }
    let run = read(Path::new(&file)).unwrap();
    assert_eq!(run.records.len(), lines.len() - 3, "{:?}", run.warnings);
    assert_eq!(run.noise.as_ref().unwrap().history.len(), 7, "{:?}", run.warnings);
    let drawn = run.records.iter().find(|record| !recorded(record).is_empty()).unwrap();
    let trace = is_harmless(&place, &["trace", &file, "--case", &drawn.key.to_string()]);
    assert_eq!(trace.status.code(), Some(0), "{}", text(&trace.stderr));
    is_harmless(&place, &["export", "--format", "parquet", "--output", "rows.parquet", &file]);
    let rows = std::fs::read(place.folder.path().join("rows.parquet")).unwrap();
    assert!(!rows.windows(2).any(|two| two == b"\x1b["), "Parquet holds them");
    // What is not used is shown in a message.
    let flawed: Vec<Value> = rejected[1..].iter().flatten().cloned().collect();
    assert!(flawed.len() > 100, "{} lines", flawed.len());
    for part in flawed.chunks(900) {
        let file = write(&place, "flawed.jsonl", &[&lines[..3], part].concat());
        is_harmless(&place, &["report", &file]);
        is_harmless(&place, &["trace", &file]);
        is_harmless(&place, &["rank", &file]);
    }
    for header in &rejected[0] {
        let file =
            write(&place, "header.jsonl", &[std::slice::from_ref(header), &lines[1..]].concat());
        let output = is_harmless(&place, &["report", &file]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    }
}

/// Names that end in the beginning of an escape sequence: nothing of what stands behind them goes.
#[test]
fn no_text_takes_what_stands_behind_it_away() {
    let place = Place::new();
    let named = |behind: &str| {
        let mut lines = every_kind();
        for line in &mut lines {
            if let Some(Value::String(name)) = line.pointer_mut("/record/key/workload") {
                name.push_str(behind);
            }
        }
        write(&place, "run.jsonl", &lines)
    };
    for format in ["text", "html", "md", "csv", "figures"] {
        let shown = |file: String| {
            let report = ["report", "--include-simulated", "--format", format, &file];
            let output = is_harmless(&place, &report);
            assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
            text(&output.stdout)
        };
        // Marks of another length would break lines elsewhere.
        let plain = shown(named("~~"));
        for begun in ["\u{1b}~~", "\u{1b}\u{1b}~~"] {
            assert_eq!(shown(named(begun)), plain, "{format} {begun:?}");
        }
        let open = shown(named("\u{1b}[1"));
        assert_eq!(open, shown(named("[1")), "{format}");
    }
}

#[test]
fn no_number_of_a_result_file_is_shown_as_nonsense() {
    let place = Place::new();
    let lines = every_kind();
    for number in [0.0, 5e-324, 1e-99, 1e24, 1e99, 1e308] {
        let spoil = |leaf: &mut Value| *leaf = serde_json::json!(number);
        let each = |line: &Value| spoiled(line, Value::is_f64, &spoil, &is_used);
        let (whole, rejected): (Vec<_>, Vec<_>) = lines.iter().map(each).unzip();
        let file = write(&place, "whole.jsonl", &whole);
        for args in readers(&file) {
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let (_, all) = printed(&place, &args);
            assert_eq!(nonsense(&all), None, "{number:e} {args:?}\n{all}");
        }
        let flawed: Vec<Value> = rejected[1..].iter().flatten().take(900).cloned().collect();
        let file = write(&place, "flawed.jsonl", &[&lines[..3], &flawed].concat());
        let (_, all) = printed(&place, &["report", &file]);
        assert_eq!(nonsense(&all), None, "{number:e}\n{all}");
    }
}

/// A report makes no list of so many chunks, and does not go through so many groups.
#[test]
fn no_count_of_a_result_file_takes_time_or_memory() {
    let place = Place::new();
    for name in ["/chunks", "/groups"] {
        let (mut spoiled, mut counts) = (every_kind(), 0);
        for line in &mut spoiled {
            for at in leaves(line, Value::is_u64) {
                if at.starts_with("/record/detail") && at.ends_with(name) {
                    *line.pointer_mut(&at).unwrap() = u32::MAX.into();
                    counts += 1;
                }
            }
        }
        assert!(counts > 1, "{name}");
        let file = write(&place, "counts.jsonl", &spoiled);
        let begun = Instant::now();
        printed(&place, &["report", "--format", "csv", &file]);
        assert!(begun.elapsed().as_secs() < 60, "{name}");
    }
}
