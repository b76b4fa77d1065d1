//! Tables that the papers print.

use crate::{near, rows};
use gpubench::model::concurrency::{Device, Kernel};
use gpubench::model::occupancy::{Group, Unit};
use gpubench::model::overlap_worth::potential;
use gpubench::model::schedule::{Class, Heavy};
use gpubench::model::streams::{Overlap, Stages, total};
use gpubench::model::transfer_states::{Both, State, min_time, mirrored};

#[test]
fn streams_give_the_8800_gts_last_column_within_0_005_ms() {
    let columns = ["n", "t_h2d_ms", "t_kernel_ms", "t_d2h_ms", "serial_ms", "eight_streams_ms"];
    let errors = rows("stream_times_8800gt.csv", &columns, |row| {
        let time = |column: &str| row.number(column).unwrap();
        let stages = Stages {
            upload: time("t_h2d_ms"),
            kernel: time("t_kernel_ms"),
            download: time("t_d2h_ms"),
        };
        // The serial column is printed from longer digits: its sum may be off by two roundings.
        near(stages.serial(), time("serial_ms"), 0.015);
        (total(stages, 8, Overlap::Both) - time("eight_streams_ms")).abs()
    });
    assert_eq!(errors.len(), 3);
    assert!(errors.iter().all(|error| *error <= 0.005 + 1e-9), "{errors:?}");
}

/// C13 §4.1, measured on a Tesla C2075: shares of the time of each stage alone, and the paper's own classes.
#[test]
fn applications_are_of_the_class_that_the_paper_says() {
    let columns = [
        "application",
        "size",
        "send_percent",
        "kernel_percent",
        "receive_percent",
        "bound",
        "heavy",
    ];
    let found = rows("application_types_c2075.csv", &columns, |row| {
        let share = |column: &str| row.number(column).unwrap();
        let stages = Stages {
            upload: share("send_percent"),
            kernel: share("kernel_percent"),
            download: share("receive_percent"),
        };
        let kernel_bound = row.text("bound").unwrap() == "kernel";
        let heavy = match row.text("heavy").unwrap() {
            "send" => Heavy::Upload,
            "receive" => Heavy::Download,
            _ => Heavy::General,
        };
        let name = row.text("application").unwrap().to_owned();
        (name, Class::of(stages), Class { kernel_bound, heavy })
    });
    assert_eq!(found.len(), 5);
    for (name, ours, papers) in found {
        assert_eq!(ours, papers, "{name}");
    }
}

#[test]
fn overlap_is_worth_3_to_20_percent_on_the_cpu_cluster() {
    let columns = ["kernel", "nodes", "t_comp_s", "t_comm_s", "t_total_s"];
    let potentials = rows("ring_matmul_cluster.csv", &columns, |row| {
        let time = |column: &str| row.number(column).unwrap();
        let share = potential(time("t_comp_s"), time("t_comm_s"), time("t_total_s"));
        (row.text("kernel").unwrap().to_owned(), share)
    });
    let cpu = potentials.iter().filter(|(kernel, _)| kernel == "cpu").map(|(_, share)| share);
    let printed = [0.0321, 0.0677, 0.1192, 0.2044]; // the last is cut off, not rounded: 20.447 %
    assert_eq!(cpu.clone().count(), printed.len());
    for (share, printed) in cpu.zip(printed) {
        near(*share, printed, 1e-4);
    }
}

/// The paper's own mean error is 2.90 % by its text; its printed columns give 2.87 %.
#[test]
fn concurrency_gives_22_of_25_estimates_and_a_smaller_error_than_the_papers() {
    let device = Device { units: 15, unit: Unit { registers: 0, ..Unit::K40 } };
    let columns = ["k1_groups", "k2_groups", "estimated_slowdown", "measured_slowdown"];
    let pairs = rows("concurrency_pairs_k40.csv", &columns, |row| {
        let count = |column: String| row.count(&column, 0).unwrap();
        let kernel = |k: &str| Kernel {
            groups: count(format!("{k}_groups")),
            group: Group {
                size: count(format!("{k}_group_size")),
                registers: 0,
                local_memory: count(format!("{k}_local_bytes")),
            },
        };
        let ours = device.predict(kernel("k1"), kernel("k2"), true).unwrap().slowdown;
        let printed = row.number("estimated_slowdown").unwrap();
        (ours, printed, row.number("measured_slowdown").unwrap())
    });
    let mean = |error: fn(&(f64, f64, f64)) -> f64| {
        pairs.iter().map(error).sum::<f64>() / pairs.len() as f64
    };
    let reproduced = pairs.iter().filter(|(ours, printed, _)| (ours - printed).abs() <= 0.005);
    assert_eq!((reproduced.count(), pairs.len()), (22, 25));
    let ours = mean(|(ours, _, measured)| (ours / measured - 1.0).abs());
    near(ours, 0.0248, 5e-5);
    let papers = mean(|(_, printed, measured)| (printed / measured - 1.0).abs());
    near(papers, 0.0287, 5e-5);
    assert!(ours < papers);
}

fn dual_c2075() -> Vec<State> {
    let columns = ["state", "s0", "r0", "s1", "r1"];
    rows("transfer_states_dual_c2075.csv", &columns, |row| {
        let rate = |column: &str| row.number(column).unwrap();
        let rates = vec![
            Both { upload: rate("s0"), download: rate("r0") },
            Both { upload: rate("s1"), download: rate("r1") },
        ];
        State { name: row.text("state").unwrap().into(), rates }
    })
}

/// The paper's `G` of the totals moved (GB): 4.70 with plus signs, since times add up, and with the
/// larger of both forms, which are equal where `r = 0.5076 s`.
fn printed_g(upload: f64, download: f64) -> f64 {
    (0.0978 * upload + 0.1417 * download).max(0.0947 * upload + 0.1479 * download)
}

#[test]
fn two_c2075_take_the_printed_times_and_4_70_with_plus_signs() {
    let states = mirrored(dual_c2075()).unwrap();
    assert_eq!(states.len(), 15, "all but the idle one");
    let least = |upload: f64, download: f64| -> f64 {
        let each = Both { upload: upload / 2.0, download: download / 2.0 };
        min_time(&states, &[each; 2]).unwrap().iter().sum()
    };
    for (upload, download, printed) in
        [(10.0, 2.0, 1.262), (10.0, 10.0, 2.426), (2.0, 10.0, 1.669), (5.0, 0.0, 0.489)]
    {
        near(least(upload, download), printed, 1e-3);
    }
    // Anywhere, within half a digit of each printed coefficient.
    for upload in (0..=10).map(f64::from) {
        for download in (0..=10).map(f64::from) {
            let half_digits = 5e-5 * (upload + download);
            near(least(upload, download), printed_g(upload, download), half_digits);
        }
    }
}

fn quad_m2090() -> Vec<State> {
    rows("transfer_states_quad_m2090.csv", &["state", "send_total", "receive_total"], |row| {
        let rates = vec![Both {
            upload: row.number("send_total").unwrap(),
            download: row.number("receive_total").unwrap(),
        }];
        State { name: row.text("state").unwrap().into(), rates }
    })
}

/// Of four Tesla M2090, C13 measured the totals of 34 states. The wanted times are those of another program,
/// which tries every pair of states: two amounts need no third.
#[test]
fn four_m2090_take_what_every_pair_of_measured_states_takes() {
    let states = quad_m2090();
    assert_eq!(states.len(), 34);
    for (upload, download, wanted) in [
        (10.0, 2.0, 0.453_016_847),
        (10.0, 10.0, 0.685_871_056),
        (2.0, 10.0, 0.577_340_117),
        (5.0, 0.0, 0.205_592_105),
        (0.0, 5.0, 0.282_805_430),
        (16.0, 16.0, 1.097_393_690),
    ] {
        let seconds = min_time(&states, &[Both { upload, download }]).unwrap();
        near(seconds.iter().sum(), wanted, 1e-9);
    }
    // No minimum rests on the one state that sends less than a state with an upload fewer.
    let rate = |name: &str| states.iter().find(|s| s.name == name).unwrap().rates[0].upload;
    assert!(rate("SR/S/S/S") < rate("S/S/S/N"));
    let plausible: Vec<State> =
        states.iter().filter(|state| state.name != "SR/S/S/S").cloned().collect();
    for part in (0..=20).map(|part| f64::from(part) / 20.0) {
        let amounts = [Both { upload: 10.0 * part, download: 10.0 * (1.0 - part) }];
        let time = |states: &[State]| min_time(states, &amounts).unwrap().iter().sum::<f64>();
        near(time(&plausible), time(&states), 1e-9);
    }
}

/// What was assumed of four cards behind two switches, that the pairs do not disturb each other, holds for uploads
/// and not for downloads: of two pairs' totals so much is left with four.
#[test]
fn two_pairs_of_m2090_disturb_each_other_while_they_download() {
    let states = quad_m2090();
    let rates = |name: &str| states.iter().find(|state| state.name == name).unwrap().rates[0];
    let left = |part: fn(&Both) -> f64, does: &str| {
        let (two, four) = (format!("{does}/{does}/N/N"), [does; 4].join("/"));
        part(&rates(&four)) / (2.0 * part(&rates(&two)))
    };
    near(left(|b| b.upload, "S"), 0.995, 5e-4);
    near(left(|b| b.download, "R"), 0.913, 5e-4);
    near(left(|b| b.upload, "SR"), 0.886, 5e-4);
    near(left(|b| b.download, "SR"), 0.930, 5e-4);
}
