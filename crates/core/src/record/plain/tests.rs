use super::super::sample::{key, record as sample};
use super::super::{CooledDown, Flag, Line, Outcome};
use super::*;
use crate::gpu::{BoundsChecks, MemoryKind, Scalar};
use crate::workload::{Ceiling, Kind};

/// A record that has everything but a detail.
fn full() -> Record {
    let mut full = sample(key("größe/32x4", 7), 1.234_567_890_123_456_7e-5);
    full.key.size.push(("m".into(), i64::MAX));
    full.key.host_memory = Some(MemoryKind::Pinned);
    full.key.measure = Kind::new("upload");
    full.tags = vec!["a".into(), "ceiling".into()];
    full.ceiling = Some(Ceiling::Bandwidth);
    full.working_set = Some(u64::MAX);
    full.simulated = true;
    full.outcome = Outcome::Timeout("a \"word\"".into());
    let measured = full.measured.as_mut().unwrap();
    measured.types = vec![(Scalar::F64, 1.0)];
    measured.samples.extend([0.0, 5e-324, 1e300, 1.7e-6]);
    full.kernel = Some(Built {
        hash: "00ff".into(),
        group: [64, 1, 1],
        groups: [u32::MAX, 1, 1],
        bounds_checks: BoundsChecks::Off,
        variant: "x=1".into(),
        tried: vec![("x=1".into(), Some(1e-3)), ("x=2".into(), None)],
        untried: 3,
        untimed: [("its group is too large".to_owned(), vec!["x=2".to_owned()])].into(),
        report: BuildReport {
            seconds: 0.5,
            first: Some(true),
            local_bytes: Some(0),
            options: "-D A=1".into(),
            ..BuildReport::default()
        },
    });
    full.norms = Some(ErrorNorms { max_absolute: 1.0, max_relative: 0.5, l2: -0.0 });
    full.against = Some("reference".into());
    full.flags = vec![Flag::Cache, Flag::Throttled("heat".into())];
    full.monitor.began = Some(1e-4);
    full.monitor.cool_down = Some(CooledDown { seconds: 1.0, celsius: None });
    full.wall.cool_down = 1.0;
    full
}

fn written(record: &Record) -> String {
    serde_json::to_string(&Line::Record(Box::new(record.clone()))).unwrap()
}

#[test]
fn what_is_written_is_read_without_the_general_parser() {
    for known in [sample(key("a", 1), 1e-3), full()] {
        assert_eq!(record(written(&known).as_bytes()).as_ref(), Some(&known));
    }
}

#[test]
fn what_deviates_is_left_to_the_general_parser() {
    let plain = written(&full());
    for (from, to) in [
        ("\"round\":0", "\"round\":00"),
        ("\"round\":0", "\"round\":-0"),
        ("\"round\":0", "\"round\":0.0"),
        ("\"round\":0", "\"round\":4294967296"),
        ("\"round\":0", "\"round\": 0"),
        ("\"round\":0", "\"round\":0,\"round\":0"),
        ("\"round\":0", "\"round\":null"),
        ("\"round\":0,", ""),
        ("\"round\":0", "\"round\":0,\"new\":0"),
        ("1e-9", "1e-"),
        ("1e-9", "1.e-9"),
        ("1e-9", "1e999"),
        ("1e-9", "+1e-9"),
        ("1e-9", "inf"),
        ("[64,1,1]", "[64,1]"),
        ("[64,1,1]", "[64,1,1,]"),
        ("-D A=1", "-D\\tA=1"),
        ("-D A=1", "-D\tA=1"),
        ("\"throttled\"", "\"unheard-of\""),
        ("}}", "}} "),
        ("}}", "}"),
    ] {
        let odd = plain.replacen(from, to, 1);
        let odd = if from == "}}" { format!("{}{to}", plain.trim_end_matches("}}")) } else { odd };
        assert!(odd != plain && record(odd.as_bytes()).is_none(), "{from} as {to}");
    }
    assert!(record(b"").is_none() && record(b"{\"record\":{\"key\":\xff").is_none());
}

#[test]
fn a_number_is_the_same_to_both() {
    let mut state = 1_u64;
    for _ in 0..20_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let mut known = sample(key("a", 1), 1.0);
        let number = f64::from_bits(state).abs();
        if number.is_finite() {
            known.measured.as_mut().unwrap().samples = vec![number];
            assert_eq!(record(written(&known).as_bytes()), Some(known));
        }
    }
    for digits in
        ["123456789012345678901234567890", "0.1e1", "1E+2", "2.00000000000000011102230246251565404"]
    {
        let line = written(&sample(key("a", 1), 1.0)).replacen("[1.0", &format!("[{digits}"), 1);
        let general: Line = serde_json::from_str(&line).unwrap();
        let plain = record(line.as_bytes()).unwrap();
        assert_eq!(general, Line::Record(Box::new(plain)), "{digits}");
    }
}

/// `full`, with these of its optional fields, this text in its names and these numbers.
fn varied(there: u16, text: &str, samples: Vec<f64>, whole: u64) -> Record {
    let mut record = full();
    let keep = |place: u32| there >> place & 1 == 1;
    record.key.workload = text.to_owned();
    record.key.size.retain(|_| keep(0));
    record.key.host_memory = record.key.host_memory.filter(|_| keep(1));
    record.tags.retain(|_| keep(2));
    record.ceiling = record.ceiling.filter(|_| keep(3));
    record.working_set = keep(4).then_some(whole);
    record.simulated = keep(5);
    if keep(6) {
        record.outcome = Outcome::Ok;
    }
    record.measured = record.measured.filter(|_| keep(7)).map(|m| Measured { samples, ..m });
    record.kernel = record.kernel.filter(|_| keep(8));
    if let Some(kernel) = &mut record.kernel {
        kernel.tried.retain(|_| keep(9));
        kernel.untimed.retain(|_, _| keep(9));
        (kernel.report.log, kernel.report.private_bytes) = (text.into(), Some(whole));
        kernel.report.kept = keep(15);
    }
    record.norms = record.norms.filter(|_| keep(10));
    record.against = record.against.filter(|_| keep(11));
    record.flags.retain(|_| keep(12));
    record.monitor.began = record.monitor.began.filter(|_| keep(13));
    record.wall.cool_down *= f64::from(there >> 14 & 1);
    record
}

proptest::proptest! {
    /// What is written is read here unless its text has escapes, and however it is spoiled, what is read
    /// here the general parser reads alike.
    #[test]
    fn both_read_the_same_record(
        there: u16,
        text in "[a-zß\"\\\\\n ]{0,12}",
        samples in proptest::collection::vec(proptest::num::f64::NORMAL | proptest::num::f64::ZERO, 0..8),
        whole: u64,
        edits in proptest::collection::vec((0..3_u8, proptest::prelude::any::<proptest::sample::Index>(), 0..29_usize), 0..3),
    ) {
        let known = varied(there, &text, samples, whole);
        let mut line = written(&known).into_bytes();
        let escaped = text.contains(['"', '\\', '\n']);
        proptest::prop_assert_eq!(record(&line), (!escaped).then_some(known));
        for (edit, place, with) in edits {
            let (at, with) = (place.index(line.len()), b"0123456789+-.eE\"\\,:[]{}nul \xffa"[with]);
            match edit {
                0 => line[at] = with,
                1 => line.insert(at, with),
                _ => drop(line.remove(at)),
            }
        }
        if let Some(read) = record(&line) {
            let general: Line = serde_json::from_slice(&line).expect("the general parser reads it too");
            proptest::prop_assert_eq!(general, Line::Record(Box::new(read)));
        }
    }
}
