//! `run --cool-down`: pauses between cases, in records and in the flags of what was still warm.
#![cfg(target_os = "linux")]

mod common;

use common::{Place, text};
use gpubench::record::{Flag, Record};

/// Pauses stand before every case but a device's first; a simulated device's take no time.
#[test]
fn a_device_cools_down_between_cases() {
    let run = |cool_down: &str| {
        let place = Place::new();
        let args = ["run", "quick", "--backend", "sim", "--device", "sim:0", "--rounds", "1"];
        let filter = ["--filter", "sepia", "--budget", "20", "--cool-down", cool_down];
        (place.output(&[&args[..], &filter].concat()), place)
    };
    let (output, place) = run("30");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let records = place.run().records;
    let pauses: Vec<Option<f64>> =
        records.iter().map(|record| record.monitor.cool_down.map(|pause| pause.seconds)).collect();
    assert!(records.len() > 1, "{records:?}");
    assert_eq!(pauses.iter().filter(|pause| pause.is_none()).count(), 1, "{pauses:?}");
    assert_eq!(pauses[0], None, "the first is not warm");
    assert!(pauses[1..].iter().all(|pause| *pause == Some(30.0)), "{pauses:?}");
    let waited: f64 = records.iter().map(|record| record.wall.cool_down).sum();
    assert!(waited < 10.0, "{waited} s of the host's");

    // A run that goes on has them too, after its first case.
    let file = place.result();
    let whole = std::fs::read_to_string(&file).expect("readable");
    let begin: String = whole.split_inclusive('\n').take(1).collect();
    std::fs::write(&file, begin).expect("writable");
    let resumed = place.output(&["run", "quick", "--resume", &file.display().to_string()]);
    assert_eq!(resumed.status.code(), Some(0), "{}", text(&resumed.stderr));
    let again = place.run().records;
    assert_eq!(again.len(), records.len());
    assert!(
        again.iter().filter(|record| record.monitor.cool_down.is_some()).count() + 2 >= again.len()
    );
    assert!(again.iter().any(|record| record.monitor.cool_down.is_some()), "{again:?}");

    let (output, place) = run("50C:60");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let blind = |record: &Record| {
        let why = "no sensor reports a temperature".to_owned();
        record.flags.contains(&Flag::StillWarm(why))
    };
    assert_eq!(place.run().records.iter().filter(|record| !blind(record)).count(), 1);

    let (output, _) = run("50F");
    assert_eq!(output.status.code(), Some(2));
    let why = text(&output.stderr);
    assert!(why.contains("expected seconds between 0.1 and 3600"), "{why}");
}
