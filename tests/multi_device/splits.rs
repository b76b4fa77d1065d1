//! Workloads that are split between devices.

use crate::{split_on, split_on_described};

/// C13 §4.4: two GPUs whose copies are hidden behind their kernels are 2.2 to 3.6 times as fast as one whose are not.
#[test]
fn pairs_that_overlap_are_as_much_faster_as_the_paper_says() {
    let (raw, summary) = split_on("dual-c2075", "sepia");
    assert!(raw.chunks.iter().all(|chunks| *chunks > 1), "{:?}", raw.chunks);
    let [alone, overlapped] = [summary.isolated[0], summary.overlapped[0]];
    assert!(overlapped < 0.9 * alone, "one device hides its copies: {overlapped} of {alone}");
    let over_in_order = summary.over_in_order.unwrap();
    assert!((2.2..=3.6).contains(&over_in_order), "{over_in_order}");
    // Where copies outweigh the kernel, the pair's common way to the host is what it waits for.
    let (_, light) = split_on("dual-c2075", "light");
    assert!(light.speedup.as_ref().is_none_or(|speedup| speedup.median >= 0.97), "{light:?}");
    for workload in ["sepia", "light"] {
        let (_, unequal) = split_on("k20c-c2075", workload);
        assert!(unequal.speedup.as_ref().is_none_or(|all| all.interval[0] >= 0.97), "{unequal:?}");
    }
}

#[test]
fn unequal_devices_are_balanced_within_five_blocks() {
    let (raw, summary) = split_on("k20c-c2075", "heavy");
    assert!(summary.balanced_after.unwrap() <= 5 && summary.imbalance.unwrap() <= 0.05);
    // The C2075 adds 30 % to what the K20c does: no split can gain more. Blocks of a calibration gain 25 %.
    assert!((1.28..1.33).contains(&summary.max_speedup), "{summary:?}");
    assert!(summary.combined_speedup.unwrap() > 1.2, "{summary:?}");
    assert_eq!(summary.fallbacks, 0);
    assert!(summary.speedup.unwrap().interval[0] >= 1.15, "{summary:?}");
    assert!(summary.over_in_order.unwrap() > 1.9, "{summary:?}");
    let last = &raw.blocks.last().unwrap().rows;
    assert!(last[0] > last[1], "the K20c does more: {last:?}");
}

/// Two devices that disturb each other so much that one alone is faster.
const RIVALS: &str = "\
devices: [tesla-c2075, tesla-c2075]
switches:
  - devices: [0, 1]
    equal: true
    states:
      S/N: [5.99e9, 0, 0, 0]
      R/N: [0, 6.48e9, 0, 0]
      SR/N: [3.86e9, 4.2e9, 0, 0]
      S/S: [0.5e9, 0, 0.5e9, 0]
      R/S: [0, 0.5e9, 0.5e9, 0]
      R/R: [0, 0.5e9, 0, 0.5e9]
      SR/S: [0.5e9, 0.5e9, 0.5e9, 0]
      SR/R: [0.5e9, 0.5e9, 0, 0.5e9]
      SR/SR: [0.5e9, 0.5e9, 0.5e9, 0.5e9]
";

#[test]
fn what_is_not_worth_splitting_is_left_to_the_fastest() {
    // At a fifth of the speed, and, with 2 GB/s, somewhat slower than one alone.
    for rate in ["0.5e9", "2.0e9"] {
        let (raw, summary) = split_on_described(&RIVALS.replace("0.5e9", rate), "light");
        assert!(summary.max_speedup > 1.9 && summary.combined_speedup.unwrap() < 1.0, "{rate}");
        assert!(raw.jobs.is_empty() && summary.speedup.is_none(), "{rate}");
    }
}

/// Two devices, the second behind a link of the given bytes a second.
fn behind_a_link(rate: f64) -> String {
    let mut machine = String::from("devices: [tesla-c2075, tesla-c2075]\nswitches:\n");
    machine += "  - devices: [0, 1]\n    states:\n";
    for first in ["N", "S", "R", "SR"] {
        for second in ["N", "S", "R", "SR"] {
            let rates = |state: &str, rate: f64| {
                ["S", "R"].map(|way| if state.contains(way) { rate } else { 0.0 })
            };
            let ([a, b], [c, d]) = (rates(first, 5e9), rates(second, rate));
            if first != "N" || second != "N" {
                machine += &format!("      {first}/{second}: [{a}, {b}, {c}, {d}]\n");
            }
        }
    }
    machine
}

#[test]
fn a_much_slower_device_helps_a_little_or_is_not_tried() {
    // A tenth of the speed is more than a trial may cost, a hundredth is not.
    let (_, summary) = split_on_described(&behind_a_link(0.5e9), "light");
    assert!(
        summary.max_speedup > 1.05
            && summary.combined_speedup.unwrap() > 1.0
            && summary.tried[1] > 0
    );
    assert!(summary.speedup.unwrap().median > 1.0);
    let (raw, summary) = split_on_described(&behind_a_link(0.05e9), "light");
    assert!(summary.max_speedup < 1.03 && summary.speedup.is_none() && raw.jobs.is_empty());
    assert_eq!(raw.blocks.len(), 10, "how they are balanced is measured all the same");
}
