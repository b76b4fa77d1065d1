//! Descriptions of devices: the shipped ones, and a user's.

use gpubench::backend::Backend;
use gpubench::backend::sim::Sim;
use gpubench::error::Error;
use gpubench::gpu::DeviceKind;

#[test]
fn shipped_descriptions_agree_with_the_table() {
    let descriptions = Sim::default().descriptions().unwrap();
    let mut rows = include_str!("../data/papers/devices.csv").lines();
    let header: Vec<&str> = rows.next().unwrap().split(',').collect();
    let mut seen = 0;
    for row in rows {
        let field = |name: &str| {
            let at = header.iter().position(|h| *h == name).unwrap();
            row.split(',').nth(at).unwrap()
        };
        let number = |name: &str| field(name).parse::<f64>().ok();
        let gpu = descriptions.iter().find(|gpu| gpu.name == field("name")).unwrap();
        let peak = gpu.compute.flops_per_cycle * gpu.clock * f64::from(gpu.units) / 1e9;
        for (column, described, tolerance) in [
            ("compute_units", gpu.units.into(), 0.0),
            ("clock_mhz", gpu.clock / 1e6, 1e-9),
            ("peak_gflops_f32", peak, 0.01),
            ("memory_gb_s", gpu.memory.bandwidth / 1e9, 1e-9),
            ("memory_mib", gpu.memory.size as f64 / (1 << 20) as f64, 0.0),
            ("transaction_bytes", gpu.memory.transaction.into(), 0.0),
            ("local_banks", gpu.unit.banks.into(), 0.0),
            ("copy_engines", gpu.link.engines.into(), 0.0),
            ("warp", gpu.warp.into(), 0.0),
        ] {
            if let Some(listed) = number(column) {
                let off = (described - listed).abs() / listed;
                assert!(off <= tolerance, "{}: {column} {described}, not {listed}", gpu.name);
            }
        }
        assert_eq!(gpu.vendor, field("vendor"));
        seen += 1;
    }
    assert_eq!(seen, descriptions.len());
    for info in Sim::default().devices().unwrap() {
        assert_eq!(info.kind, DeviceKind::Simulated);
        assert_eq!(Sim::default().open(info.index).unwrap().info(), &info);
    }
}

#[test]
fn a_users_description_comes_behind_the_shipped_ones() {
    let folder = tempfile::tempdir().unwrap();
    let good = folder.path().join("good.yaml");
    let shipped = include_str!("../../crates/device/src/sim/devices/tesla-c2075.yaml");
    std::fs::write(&good, shipped.replace("Tesla C2075", "Mine")).unwrap();
    let devices = Sim::new(vec![good], 0).devices().unwrap();
    assert_eq!(devices.last().unwrap().name, "Mine");
    let bad = folder.path().join("bad.yaml");
    std::fs::write(&bad, shipped.replace("units: 14", "units: 0 ")).unwrap();
    let Err(Error::Suite(mistakes)) = Sim::new(vec![bad], 0).devices() else {
        panic!("zero units were accepted");
    };
    assert_eq!(mistakes[0].line_column(), (5, 8));
    assert!(mistakes[0].file.ends_with("bad.yaml"));
    let missing = Sim::new(vec![folder.path().join("none.yaml")], 0).devices();
    assert!(missing.unwrap_err().to_string().contains("none.yaml"));
}
