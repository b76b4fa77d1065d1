use super::*;
use crate::store::{Run, Writer, read};
use gpubench_core::record::sample::{device, header, key, outcome, record};
use gpubench_core::record::{Footer, Header, InTurn, Outcome, Record};
use serde_json::{Value, json};

#[test]
fn a_run_counts_once_however_often_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let header = header(vec![device("opencl")]);
    let mut paths = vec![];
    for n in 0..2 {
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

#[test]
fn parts_of_a_run_are_read_as_one_and_each_record_once() {
    let folder = tempfile::tempdir().unwrap();
    let round = |round, case| Record { round, ..record(key("a", case), 1e-3 + f64::from(round)) };
    let mut writer =
        Writer::create(folder.path(), "whole", &header(vec![device("opencl")])).unwrap();
    for (number, case) in [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3)] {
        writer.append(&round(number, case)).unwrap();
    }
    let ended = "2025-01-31T12:31:05Z".into();
    let footer = Footer { ended, wall: 1.0, estimated: None, records: 6 };
    let whole = std::fs::read_to_string(writer.finish(&footer).unwrap()).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let part = |name: &str, places: &[usize]| {
        let file = folder.path().join(name);
        let lines: Vec<&str> = [0].iter().chain(places).map(|place| lines[*place]).collect();
        std::fs::write(&file, lines.join("\n") + "\n").unwrap();
        file
    };
    let records = |parts: &[&PathBuf]| {
        let found = find(&parts.iter().map(|part| (*part).clone()).collect::<Vec<_>>()).unwrap();
        let count = found.files.len();
        let runs = found.files.iter().map(|file| read(file).unwrap());
        let of_run = |run: Run| {
            assert!(run.warnings.is_empty() && (count > 1 || run.footer.is_some()), "{run:?}");
            let case = |record: &Record| format!("{:?}", record.key.size);
            run.records.iter().map(|r| (r.round, case(r))).collect::<BTreeSet<_>>()
        };
        (runs.map(of_run).collect::<Vec<_>>(), found.copies.len())
    };
    let whole = records(&[&folder.path().join("whole.jsonl")]).0;
    assert_eq!(whole[0].len(), 6);
    let overlapping = [part("x", &[1, 2, 3, 4]), part("y", &[3, 4, 5, 6, 7])];
    assert_eq!(records(&overlapping.each_ref()), (whole.clone(), 0));
    // Twice each, in any order.
    let [x, y] = &overlapping;
    assert_eq!(records(&[y, x, y, x]), (whole.clone(), 2));
    // Two that share nothing are two runs, until a third one shares with both.
    let [left, right] = [part("l", &[1, 2, 3]), part("r", &[4, 5, 6, 7])];
    assert_eq!(records(&[&left, &right]).0.len(), 2);
    let between = part("b", &[3, 4]);
    assert_eq!(records(&[&left, &right, &between]), (whole.clone(), 1));
    let more = [part("m", &[1, 2]), part("n", &[2, 3, 4, 5]), part("o", &[5, 6, 7])];
    assert_eq!(records(&more.each_ref()), (whole, 0));
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
    let run = read(&find(&[one, other, failed]).unwrap().files[0]).unwrap();
    let rounds: Vec<u32> = run.records.iter().map(|record| record.round).collect();
    assert_eq!(rounds, [0, 0, 1]);
}

#[test]
fn what_kept_no_samples_counts_once_and_two_runs_in_turn_are_two() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, in_turn: Option<bool>, records: &[&Record]| {
        let in_turn = in_turn.map(|is_old| InTurn { pair: "a pair".into(), is_old });
        let header = Header { in_turn, ..header(vec![device("opencl")]) };
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
    assert!(error.contains("no result file"), "{error}");
}
