use super::*;
use crate::store::{Run, Writer, read};
use gpubench_core::record::sample::{device, header, key, outcome, record};
use gpubench_core::record::{Footer, Header, Host, InTurn, Noise, Outcome, Record};
use serde_json::{Value, json};
use std::path::Path;

#[test]
fn a_run_counts_once_however_often_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = vec![];
    for n in 0..2u32 {
        let header = Header { seed: u64::from(n), ..header(vec![device("opencl")]) };
        let mut writer = Writer::create(folder.path(), &format!("run{n}"), &header).unwrap();
        writer.append(&record(key("a", 1), 1e-3 * f64::from(n + 1))).unwrap();
        paths.push(writer.leave().unwrap());
    }
    let copy = folder.path().join("a copy.jsonl");
    std::fs::copy(folder.path().join("run0.jsonl"), &copy).unwrap();
    let run0 = folder.path().join("run0.jsonl");
    let found = find(&[run0.clone(), run0.clone(), folder.path().to_owned()]).unwrap();
    assert_eq!(found.files, [&run0, &folder.path().join("run1.jsonl")].map(RunFile::from));
    assert_eq!(found.copies.len(), 3, "{:?}", found.copies);
    assert!(found.copies.iter().all(|copy| copy.kept == run0), "{:?}", found.copies);

    // A copy that another program wrote again: blanks, other names first, 1 for 1.0, a mark of the order of bytes.
    let text = std::fs::read_to_string(&copy).unwrap();
    let lines = text.lines().map(|line| rewritten(&serde_json::from_str(line).unwrap()));
    let lines: Vec<String> = lines.collect();
    assert!(text.contains("1000000000.0") && lines[0].starts_with(r#"{"header" : {"version" : "#));
    std::fs::write(&copy, format!("\u{feff}{}\r\n", lines.join("\r\n"))).unwrap();
    let found = find(&[run0.clone(), copy.clone()]).unwrap();
    assert_eq!(found.files.len(), 1, "{:?}", found.files);
    // By one that keeps thousandths of a second, fifteen digits or seven, or writes what is not there.
    for (exact, other) in [
        ("05Z", "05.000+00:00"),
        ("05Z", "05.0007Z"),
        ("05Z", "04.9997Z"),
        ("0.001", "0.0010000000000000002"),
        ("0.001", "0.0010000000474974513"),
        ("0.001", "0.0010000004999"),
        (r#""measure":"kernel""#, r#""measure":"kernel","host_memory":null"#),
    ] {
        assert!(text.contains(exact), "{exact}: {text}");
        std::fs::write(&copy, text.replace(exact, other)).unwrap();
        let found = find(&[run0.clone(), copy.clone()]).unwrap();
        assert_eq!(found.files.len(), 1, "{other}: {:?}", found.files);
    }
    std::fs::copy(&run0, &copy).unwrap();

    // A copy of what the run was before it went on.
    let whole = std::fs::read_to_string(&run0).unwrap();
    std::fs::write(&run0, format!("{whole}{}\n", whole.lines().nth(1).unwrap())).unwrap();
    let found = find(&[copy.clone(), run0.clone()]).unwrap();
    let copied = Copied { file: copy, kept: run0.clone(), missing: 0 };
    assert_eq!((found.files, found.copies), (vec![RunFile::from(&run0)], vec![copied]));
}

#[test]
fn of_two_copies_the_one_with_more_records_stays_and_not_the_one_with_more_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer =
        Writer::create(folder.path(), "whole", &header(vec![device("opencl")])).unwrap();
    (0..3).for_each(|case| writer.append(&record(key("a", case), 1e-3)).unwrap());
    let whole = writer.leave().unwrap();
    let text = std::fs::read_to_string(&whole).unwrap();
    let two = text.lines().take(3).collect::<Vec<_>>().join("\n");
    let copy = folder.path().join("copy.jsonl");
    // By a program that spends more blanks, or on a disk that lost what followed.
    let blanks = "\":".to_owned() + &" ".repeat(99);
    for longer in [two.replace("\":", &blanks), two + &"\0".repeat(9999)] {
        assert!(longer.len() > text.len());
        std::fs::write(&copy, longer).unwrap();
        let found = find(&[copy.clone(), whole.clone()]).unwrap();
        assert_eq!(found.files, [RunFile::from(&whole)]);
        let copied = Copied { file: copy.clone(), kept: whole.clone(), missing: 0 };
        assert_eq!(found.copies, [copied]);
    }
}

/// A run: the outcome and the samples by device, case and round, and the footer's seconds.
type Held = (BTreeMap<[String; 3], String>, Option<f64>);

/// The runs that these files hold, and how many files are copies.
fn runs(files: &[&PathBuf]) -> (Vec<Held>, usize) {
    let found = find(&files.iter().map(|file| (*file).clone()).collect::<Vec<_>>()).unwrap();
    let of_run = |file: &RunFile| {
        let Run { records, warnings, footer, .. } = read(file).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        let mut of_run = BTreeMap::new();
        for record in &records {
            let at = [record.device.to_string(), record.key.to_string(), record.round.to_string()];
            let samples = record.measured.as_ref().map(|measured| &measured.samples);
            let came = format!("{:?} {samples:?}", record.outcome);
            assert_eq!(of_run.insert(at, came), None, "counted twice");
        }
        (of_run, footer.map(|footer| footer.wall))
    };
    (found.files.iter().map(of_run).collect(), found.copies.len())
}

/// A file with these lines of another one, behind its header.
fn part(whole: &Path, name: &str, places: &[usize]) -> PathBuf {
    let text = std::fs::read_to_string(whole).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let part: Vec<&str> = [0].iter().chain(places).map(|place| lines[*place]).collect();
    let file = whole.with_file_name(name);
    std::fs::write(&file, part.join("\n") + "\n").unwrap();
    file
}

/// A run of six records and one that was skipped, on two equal devices.
fn run_of_seven(folder: &Path) -> PathBuf {
    let header = header(vec![device("opencl"), device("opencl")]);
    let mut writer = Writer::create(folder, "whole", &header).unwrap();
    for (round, case) in [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3)] {
        // The second device is as fast, as one that is simulated is.
        for device in 0..2 {
            let record = record(key("a", case), 1e-3 + f64::from(round));
            writer.append(&Record { round, device, ..record }).unwrap();
        }
    }
    let skipped = Outcome::Skipped("no time".to_owned().into());
    writer.append(&outcome(key("b", 1), skipped)).unwrap();
    let ended = "2025-01-31T12:31:05Z".into();
    writer.finish(&Footer { ended, wall: 1.0, estimated: None, records: 13 }).unwrap()
}

#[test]
fn parts_of_a_run_are_read_as_one_and_each_record_once() {
    let folder = tempfile::tempdir().unwrap();
    let whole = run_of_seven(folder.path());
    let wanted = runs(&[&whole]).0;
    assert_eq!((wanted.len(), wanted[0].0.len(), wanted[0].1), (1, 13, Some(1.0)));
    let of = |name: &str, places: &[usize]| part(&whole, name, places);
    let all: Vec<usize> = (1..15).collect();
    // With records that both hold, with none, in a chain, and one whose records all came to nothing.
    for parts in [
        [&all[..8], &all[5..], &all[..1]],
        [&all[..7], &all[7..], &[]],
        [&all[..4], &all[2..10], &all[8..]],
        [&all[..12], &all[12..], &all[..2]],
        // The second device's alone.
        [&[1, 3, 5, 7, 9, 11, 13, 14], &[2, 4, 6, 8, 10, 12], &[]],
    ] {
        let files = ["x", "y", "z"].into_iter().zip(parts).map(|(name, places)| of(name, places));
        let files: Vec<PathBuf> = files.collect();
        let [x, y, z] = [&files[0], &files[1], &files[2]];
        for order in [[x, y, z], [z, y, x], [y, z, x]] {
            assert_eq!(runs(&order).0, wanted, "{parts:?}");
        }
        assert_eq!(runs(&[y, x, y, x, z]).0, wanted, "{parts:?}");
        assert_eq!(runs(&[&whole, x, y, z]), (wanted.clone(), 3), "{parts:?}");
    }
}

#[test]
fn a_baseline_of_a_part_is_no_second_run() {
    let folder = tempfile::tempdir().unwrap();
    let whole = run_of_seven(folder.path());
    let [one, other] = [part(&whole, "one", &[1, 3, 5]), part(&whole, "other", &[7, 9, 14])];
    let Run { header, records, .. } = read(&one).unwrap();
    let header = Header { devices: header.devices[..1].to_vec(), ..header };
    let noise = Noise { runs: 1, floors: vec![], history: vec![] };
    let footer = Footer { ended: header.started.clone(), wall: 1.0, estimated: None, records: 3 };
    let baseline = folder.path().join("baseline");
    let (path, noise, footer) = (baseline.clone(), Some(noise), Some(footer));
    let run = Run { path, header, records, noise, footer, ..Run::default() };
    crate::store::baseline::save(&run, false).unwrap();
    let found = find_each_once(&[baseline.clone(), other.clone()]).unwrap();
    assert_eq!(found.files, [RunFile::from(&other)]);
    assert_eq!(found.copies, [Copied { file: baseline.clone(), kept: other, missing: 3 }]);
    // One of a copy that keeps five digits.
    let text = std::fs::read_to_string(&baseline).unwrap();
    assert!(text.contains("0.001,"), "{text}");
    std::fs::write(&baseline, text.replace("0.001,", "0.00100004,")).unwrap();
    let found = find_each_once(&[baseline.clone(), whole.clone()]).unwrap();
    assert_eq!(found.copies, [Copied { file: baseline, kept: whole.clone(), missing: 0 }]);
    // What came to nothing in both is not missing.
    let [skipped, more] = [part(&whole, "skipped", &[13]), part(&whole, "more", &[1, 13])];
    let found = find(&[more.clone(), skipped.clone()]).unwrap();
    assert_eq!(found.copies, [Copied { file: skipped, kept: more, missing: 0 }]);
}

#[test]
fn a_part_that_another_program_wrote_again_is_the_same_run() {
    let folder = tempfile::tempdir().unwrap();
    let whole = run_of_seven(folder.path());
    let wanted = runs(&[&whole]).0;
    let copy = part(&whole, "copy", &(3..15).collect::<Vec<_>>());
    let text = std::fs::read_to_string(&copy).unwrap();
    // Five digits are kept.
    assert!(text.contains("1.001,"), "{text}");
    std::fs::write(&copy, text.replace("1.001,", "1.00104,")).unwrap();
    assert_eq!(runs(&[&whole, &copy]), (wanted, 1));
    // Blank lines, one that is torn, and another run behind the first: lines are counted alike.
    let first = part(&whole, "first", &[1, 2, 3, 4]);
    let lines: Vec<&str> = text.lines().collect();
    let odd = format!("{}\n\n{}\n{}\n{}\n{}", lines[0], lines[1], lines[4], lines[0], lines[9]);
    std::fs::write(&copy, odd).unwrap();
    let found = find(&[first, copy]).unwrap();
    let run = read(&found.files[0]).unwrap();
    assert_eq!((found.files.len(), run.records.len()), (1, 5));
    let warnings: Vec<String> = run.warnings.iter().map(ToString::to_string).collect();
    assert!(warnings.iter().any(|w| w.contains("copy:5: a second header")), "{warnings:?}");
}

#[test]
fn a_copy_that_was_resumed_by_itself_adds_a_round() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, last: Record| {
        let header = header(vec![device("opencl")]);
        let mut writer = Writer::create(folder.path(), name, &header).unwrap();
        writer.append(&record(key("a", 1), 1e-3)).unwrap();
        writer.append(&last).unwrap();
        writer.leave().unwrap()
    };
    let one = write("one", record(key("a", 2), 2e-3));
    let other = write("other", record(key("a", 2), 3e-3));
    let failed = write("failed", outcome(key("a", 2), Outcome::Timeout("late".into())));
    let skipped = Outcome::Skipped("no time".to_owned().into());
    let skipped = write("skipped", outcome(key("a", 2), skipped));
    let (runs, copies) = runs(&[&one, &other, &failed, &skipped]);
    assert_eq!((runs.len(), copies), (1, 1), "what was skipped says nothing");
    let rounds: Vec<[&str; 2]> =
        runs[0].0.iter().map(|([_, _, round], came)| [round.as_str(), came]).collect();
    assert_eq!(rounds[0][0], "0");
    let found = rounds[1..].iter().map(|[round, came]| format!("{round} {}", &came[..7]));
    assert_eq!(found.collect::<Vec<_>>(), ["0 Ok Some", "1 Ok Some", "2 Timeout"]);
}

#[test]
fn what_kept_no_samples_counts_once_and_two_runs_in_turn_are_two() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, in_turn: Option<bool>, records: &[&Record]| {
        let in_turn = in_turn.map(|is_old| InTurn { pair: "a pair".into(), is_old });
        let header = header(vec![device("opencl")]);
        let host = Host { name: name.into(), ..header.host };
        let header = Header { in_turn, host, ..header };
        let mut writer = Writer::create(folder.path(), name, &header).unwrap();
        records.iter().for_each(|record| writer.append(record).unwrap());
        writer.leave().unwrap()
    };
    let verified = Record { measured: None, detail: None, ..record(key("a", 1), 1.0) };
    let one = write("one", None, &[&verified]);
    let copy = folder.path().join("copy.jsonl");
    std::fs::copy(&one, &copy).unwrap();
    assert_eq!(find(&[one, copy]).unwrap().files.len(), 1);
    // Two that began at once, on two nodes, may both lack something.
    let nodes = [("node1", 1.0), ("node2", 1.3)];
    let nodes =
        nodes.map(|(name, seconds)| write(name, None, &[&verified, &record(key("b", 1), seconds)]));
    assert_eq!(find(&nodes).unwrap().files, nodes.each_ref().map(RunFile::from));
    // A simulated device is as fast twice.
    let measured = record(key("a", 1), 1.0);
    let pair = [("new", false), ("old", true)];
    let pair = pair.map(|(name, is_old)| write(name, Some(is_old), &[&measured]));
    assert_eq!(find(&pair).unwrap().files, pair.each_ref().map(RunFile::from));
}

#[test]
fn a_table_that_was_corrected_counts_once_and_so_does_a_baseline_of_several() {
    let folder = tempfile::tempdir().unwrap();
    let imported = |name: &str, tables: &[&str], rounds: &[&[f64]]| {
        let imported = tables.iter().map(|table| format!("t.csv, SHA-256 {table}")).collect();
        let header = Header { imported, ..header(vec![device("opencl")]) };
        let mut writer = Writer::create(folder.path(), name, &header).unwrap();
        for (round, seconds) in (0..).zip(rounds) {
            for (n, seconds) in (0..).zip(*seconds) {
                writer.append(&Record { round, ..record(key("a", n), *seconds) }).unwrap();
            }
        }
        writer.leave().unwrap()
    };
    let files = |paths: [&PathBuf; 2]| find_each_once(&paths.map(Clone::clone)).unwrap().files;
    let one = imported("one", &["aa"], &[&[1.0, 2.0, 3.0]]);
    let corrected = imported("corrected", &["bb"], &[&[1.0, 2.5, 3.0, 4.0]]);
    assert_eq!(files([&one, &corrected]), [RunFile::from(&corrected)]);
    let other = imported("other", &["cc"], &[&[1.0, 2.1, 3.1]]);
    assert_eq!(files([&one, &other]).len(), 2, "one row of few digits is equal by chance");
    // A baseline of both has the header of the first.
    let both = imported("both", &["aa"], &[&[1.0, 2.0, 3.0], &[1.0, 2.1, 3.1]]);
    assert_eq!(files([&other, &both]).len(), 1);
}

/// JSON with the last names first, by a program that writes 1 where a number is 1.0.
fn rewritten(value: &Value) -> String {
    let joined = |parts: Vec<String>| parts.join(" , ");
    match value {
        Value::Object(fields) => {
            let field = |(name, value)| format!("{} : {}", json!(name), rewritten(value));
            format!("{{{}}}", joined(fields.iter().rev().map(field).collect()))
        }
        Value::Array(values) => format!("[{}]", joined(values.iter().map(rewritten).collect())),
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap().to_string(),
        other => other.to_string(),
    }
}

#[test]
fn a_folder_without_results_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let error = find(&[folder.path().to_owned()]).unwrap_err().to_string();
    assert!(error.contains("no result file") && !error.contains("gunzip"), "{error}");
    std::fs::write(folder.path().join("run.jsonl.gz"), b"").unwrap();
    let error = find(&[folder.path().to_owned()]).unwrap_err().to_string();
    assert!(error.contains("gunzip"), "{error}");
}
