use super::*;
use crate::record::sample::device;

fn value(value: f64) -> Value {
    Value { value, interval: [0.9 * value, 1.1 * value] }
}

fn profile() -> Profile {
    let point = Bandwidth { groups: 64, bandwidth: value(1.5e11) };
    Profile {
        version: VERSION,
        device: device("opencl"),
        gpubench: "0.1.0".into(),
        started: "2026-01-01T00:00:00Z".into(),
        launch: Some(Launch { latency: Some(value(5e-6)), each: None }),
        instructions: vec![Instruction {
            class: Class::FloatFma,
            latency: Some(value(4e-9)),
            throughput: None,
        }],
        streams: vec![Stream {
            traffic: Traffic::Read,
            width: 16,
            group_size: 256,
            points: vec![point],
        }],
        chase: vec![],
        strides: Some(Strides { strides: vec![], offsets: vec![], transaction: Some(128) }),
        local: None,
        barriers: vec![],
        atomics: None,
        residency: Some(Residency { units: 15, groups: 16, work_items: 2048, local_memory: 0 }),
    }
}

#[test]
fn a_profile_survives_its_file() {
    let text = serde_json::to_string_pretty(&profile()).unwrap();
    let back = Profile::parse("p.json", &text).unwrap();
    assert_eq!(back, profile());
    assert_eq!(back.bandwidth(Traffic::Read).unwrap().value, 1.5e11);
    assert_eq!((back.bandwidth(Traffic::Copy), back.units()), (None, Some(15)));
    assert!(back.instruction(Class::FloatFma).is_some());
    assert!(back.instruction(Class::FloatAdd).is_none());
}

#[test]
fn a_barrier_is_what_an_exchange_takes_beyond_its_parts() {
    let of = |value, low, high| Value { value, interval: [low, high] };
    let latency = Some(of(10.0, 9.0, 12.0));
    let local = Local { latency, bandwidth: None, strides: vec![], banks: None };
    let add =
        Instruction { class: Class::IntAdd, latency: Some(of(2.0, 1.0, 4.0)), throughput: None };
    let profile = Profile { local: Some(local), instructions: vec![add], ..profile() };
    let barrier = |exchange| profile.barrier(&Barrier { group_size: 64, exchange });
    // 40 − 2 · 10 − 2; below it √(3² + 4² + 2²), above it √(6² + 2² + 1²).
    let found = barrier(of(40.0, 37.0, 46.0)).unwrap();
    assert_eq!(found.value, 18.0);
    assert!((found.interval[0] - (18.0 - 29f64.sqrt())).abs() < 1e-12, "{found:?}");
    assert!((found.interval[1] - (18.0 + 41f64.sqrt())).abs() < 1e-12, "{found:?}");
    assert_eq!(barrier(of(26.0, 23.0, 32.0)), None, "it may be none");
}

#[test]
fn a_profile_is_bare_until_something_is_characterised() {
    let bare = Profile { instructions: vec![], streams: vec![], strides: None, ..profile() };
    assert!(bare.is_bare());
    let chase = Footprint { bytes: 4096, latency: value(1e-9) };
    let local = Local { latency: None, bandwidth: None, strides: vec![], banks: None };
    let barrier = Barrier { group_size: 64, exchange: value(1e-7) };
    for one in [
        Profile { instructions: profile().instructions, ..bare.clone() },
        Profile { streams: profile().streams, ..bare.clone() },
        Profile { strides: profile().strides, ..bare.clone() },
        Profile { chase: vec![chase], ..bare.clone() },
        Profile { local: Some(local), ..bare.clone() },
        Profile { barriers: vec![barrier], ..bare.clone() },
    ] {
        assert!(!one.is_bare(), "{one:?}");
    }
}

#[test]
fn a_profile_of_version_1_is_read() {
    let today = serde_json::to_string_pretty(&profile()).unwrap();
    let old = today.replace("\"version\": 2", "\"version\": 1").replace("\"queues\"", "\"lanes\"");
    assert!(old.contains("\"version\": 1") && old.contains("\"lanes\": 1"), "{old}");
    assert_eq!(Profile::parse("p.json", &old).unwrap(), profile());
    let bad = old.replace("\"units\": 15", "\"units\": 0");
    let Err(Error::Suite(diagnostics)) = Profile::parse("p.json", &bad) else {
        panic!("no units were accepted");
    };
    let line = bad.lines().position(|line| line.contains("\"units\"")).unwrap() + 1;
    assert_eq!(diagnostics[0].line_column().0, line, "{}", diagnostics[0]);
}

#[test]
fn every_mistake_has_its_line() {
    let good = serde_json::to_string_pretty(&profile()).unwrap();
    for (from, to, message) in [
        ("\"version\": 2", "\"version\": 7", "a profile of version 7"),
        ("\"value\": 150000000000.0", "\"value\": 0.0", "0 is no positive number"),
        ("\"units\": 15", "\"units\": 0", "too small"),
        ("\"float_fma\"", "\"float_fmaa\"", "float_fmaa"),
        ("\"float_fma\"", "\"global_read\"", "no price"),
        ("\"launch\"", "\"lunch\"", "unknown field `lunch`"),
        ("\"transaction\": 128", "\"transaction\": 100", "a power of two from 4"),
        ("135000000000.0", "0.0", "no interval above zero"),
    ] {
        let bad = good.replace(from, to);
        assert_ne!(bad, good, "{from}");
        let line = good.lines().position(|line| line.contains(from)).unwrap() + 1;
        let Err(Error::Suite(diagnostics)) = Profile::parse("p.json", &bad) else {
            panic!("{to} was accepted");
        };
        assert!(diagnostics[0].message.contains(message), "{}", diagnostics[0]);
        // An interval is reported where it begins, a line above its first number.
        let reported_line = diagnostics[0].line_column().0;
        assert!((line - 1..=line).contains(&reported_line), "{}", diagnostics[0]);
    }
}

#[test]
fn numbers_that_no_model_can_take_are_rejected() {
    let refused = |change: &dyn Fn(&mut Profile), message: &str| {
        let mut profile = profile();
        change(&mut profile);
        let text = serde_json::to_string_pretty(&profile).unwrap();
        let Err(Error::Suite(diagnostics)) = Profile::parse("p.json", &text) else {
            panic!("{message}: it was accepted");
        };
        assert!(diagnostics[0].message.contains(message), "{}", diagnostics[0]);
    };
    refused(&|p| p.device.clock_hz = Some(0.0), "clock runs at 0 Hz");
    refused(&|p| p.device.compute_units = Some(0), "0 compute units");
    let outside = |p: &mut Profile| p.streams[0].points[0].bandwidth.interval = [1.0, 2.0];
    refused(&outside, "not within its interval 1 to 2");
}
