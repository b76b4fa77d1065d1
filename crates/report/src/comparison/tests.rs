use super::*;
use crate::render::markdown::section as markdown;
use crate::render::text::section as text;
use gpubench_analysis::{DeviceSpeed, Gate, Options, Reading, collect, compare};
use gpubench_core::record::sample::{device, header, key, record};
use gpubench_core::record::{Flag, Header, Outcome, Record};

const HOSTILE: &str = "@\u{1b}[2J</script>|\u{202e}card";

fn side(header: &Header) -> Side {
    Side {
        file: "results/a.jsonl".into(),
        started: header.started.clone(),
        host: header.host.clone(),
        device: header.devices[0].clone(),
        rounds: header.rounds,
        measured_rounds: [1, header.rounds],
    }
}

fn sample() -> Vec<Compared> {
    let mut old = header(vec![device("opencl")]);
    old.devices[0].name = HOSTILE.repeat(300);
    let mut new = old.clone();
    new.devices[0].driver = "2.0 \u{1b}[31m".into();
    let run = |factors: &[(&str, f64, f64)]| -> Vec<Record> {
        let rounds = |&(name, factor, noise): &(&str, f64, f64)| {
            let name = name.to_owned();
            (0..5_u32).map(move |round| {
                let wobble = 1.0 + noise * (f64::from(round * 3 % 5) - 2.0);
                Record { round, ..record(key(&name, 512), 1e-3 * factor * wobble) }
            })
        };
        factors.iter().flat_map(rounds).collect()
    };
    let before = run(&[("slow", 1.0, 1e-3), ("fast", 1.0, 1e-3), ("calm", 1.0, 1e-3)]);
    let mut before = before;
    before.extend(run(&[("restless", 1.0, 0.05), ("gone", 1.0, 0.0), ("broken", 1.0, 0.0)]));
    let mut now = run(&[("slow", 1.2, 1e-3), ("fast", 0.8, 1e-3), ("calm", 1.001, 1e-3)]);
    now.extend(run(&[("restless", 1.03, 0.05), ("broken", 1.0, 0.0)]));
    let last = now.len() - 1;
    now[last].outcome = Outcome::Timeout("launch".into());
    // Of `slow`, whose verdict is then to be doubted.
    for round in &mut now[..5] {
        round.flags.push(Flag::Drift("12 % slower".into()));
    }
    let comparison =
        compare(&collect(&old, &before)[0], &collect(&new, &now)[0], &Options::default());
    vec![Compared { old: side(&old), new: side(&new), comparison }]
}

#[test]
fn a_comparison_reads_well() {
    insta::assert_snapshot!(text(&section(&sample()), Some(80)));
}

#[test]
fn nothing_hostile_gets_through() {
    let all = sample();
    let (terminal, page) = (text(&section(&all), Some(80)), markdown(&section(&all), 2));
    for text in [&terminal, &page] {
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
    }
    assert!(!page.contains("</script"));
    assert!(terminal.lines().all(|line| line.chars().count() <= 80), "{terminal}");
    let table = spreadsheet(&all);
    assert!(table.lines().skip(1).all(|line| line.starts_with("'@") || line.starts_with("\"'@")));
    assert_eq!(table.lines().count(), 1 + 6);
}

#[test]
fn json_says_all() {
    let value: serde_json::Value =
        serde_json::from_str(&json(&sample(), &Gate::default())).unwrap();
    assert_eq!((&value["pass"], &value["version"]), (&false.into(), &3.into()));
    let rules = value["cases"].as_array().unwrap();
    assert!(rules.len() == 6 && rules.iter().all(|case| case["rule"].is_string()));
    let comparison = &value["compared"][0]["comparison"];
    assert_eq!(comparison["rows"].as_array().map(Vec::len), Some(4));
    assert_eq!(comparison["skipped"].as_array().map(Vec::len), Some(2));
}

#[test]
fn what_would_settle_the_unsure_is_said() {
    let mut all = sample();
    let settling = |all: &[Compared]| crate::gate::settling(all);
    let rows = &mut all[0].comparison.rows;
    rows.iter_mut().for_each(|row| row.verdict = Verdict::Same);
    assert_eq!(settling(&all), None);
    let rows = &mut all[0].comparison.rows;
    rows[0].verdict = Verdict::Unsure { rounds: Some(19) };
    let one = "Of 1 unsure: 19 rounds on either side would settle 1.";
    assert_eq!(settling(&all).as_deref(), Some(one));
    let rows = &mut all[0].comparison.rows;
    rows[1].verdict = Verdict::Unsure { rounds: Some(7) };
    rows[2].verdict = Verdict::Unsure { rounds: None };
    (rows[3].verdict, rows[3].unsure_by_speed) = (Verdict::Unsure { rounds: None }, true);
    let four = "Of 4 unsure: 7 to 19 rounds on either side would settle 2; a run when the machine is \
                quiet may settle 1; no number of rounds settles 1, so close to the tolerance or to \
                how far cases move within a run.";
    assert_eq!(settling(&all).as_deref(), Some(four));
}

/// Where some are unsure, nobody knows that no case changed.
#[test]
fn none_changed_is_said_only_where_none_is_unsure() {
    let mut all = sample();
    let said = |all: &[Compared]| text(&section(all), Some(80));
    all[0].comparison.rows.iter_mut().for_each(|row| row.verdict = Verdict::Same);
    assert!(said(&all).contains("No case changed."), "{}", said(&all));
    all[0].comparison.rows[0].verdict = Verdict::Unsure { rounds: None };
    let unsure = said(&all);
    assert!(!unsure.contains("No case changed."), "{unsure}");
    assert!(unsure.contains("No case is known to have changed."), "{unsure}");
}

/// The memory and the arithmetic kernel take 3 to 6 % longer; unchanged kernels of one family agree on 4 %, those of
/// another contradict both.
#[test]
fn what_is_taken_off_is_reported_by_family() {
    let header = header(vec![device("opencl")]);
    let run = |seconds: [f64; 3]| {
        let mut run = collect(&header, &[]).remove(0);
        let reading = |seconds| Some(Reading { seconds, error: 2e-3, rounds: 5, spread: 1.0 });
        run.speed = DeviceSpeed { compute: reading(seconds[0]), memory: reading(2.0 * seconds[0]) };
        for (family, seconds) in ["compute", "memory"].into_iter().zip(&seconds[1..]) {
            for n in 1..=6 {
                let records = [0, 1, 2].map(|round| {
                    let apart = 1.0 + 1e-3 * f64::from(round) + 4e-3 * f64::from(n as u32 * 5 % 7);
                    Record { round, ..record(key(family, n), seconds * apart) }
                });
                let mut cases = collect(&header, &records).remove(0).cases;
                for case in cases.values_mut() {
                    case.family = family.into();
                    case.kernel_hash = Some("same".into());
                }
                run.cases.append(&mut cases);
            }
        }
        run
    };
    let before = run([1.0, 1.0, 1.0]);
    let comparison = compare(&before, &run([1.045, 1.04, 0.7]), &Options::default());
    let said = speed(&comparison).unwrap();
    let page = Section::new("speed", "Speed").fact("speed", "speed", said);
    insta::assert_snapshot!(text(&page, None));
    let in_turn = Options { in_turn: true, ..Options::default() };
    let comparison = compare(&before, &run([1.045, 1.04, 0.7]), &in_turn);
    let page = Section::new("speed", "Speed").fact("speed", "speed", speed(&comparison));
    assert!(text(&page, None).contains("measured in turn"));
}
