//! Predictions in words and as JSON.

use super::grid::Grid;
use super::words::size;
use crate::text::printable;
use crate::units::seconds;
use crate::workload::CaseKey;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A case on every device, fastest first.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The case.
    pub key: CaseKey,
    /// What each device is foreseen to take.
    pub foreseen: Vec<Foreseen>,
}

/// A case on a device.
#[derive(Clone, Debug)]
pub struct Foreseen {
    /// The device's name and API.
    pub device: String,
    /// Seconds.
    pub seconds: f64,
    /// Nineteen of twenty predictions of this kind were within this factor.
    pub within: f64,
    /// Seconds measured there, where they were.
    pub measured: Option<f64>,
}

/// As a table for a terminal of `width` columns, with how many kernels each device is foreseen to be
/// the fastest at.
pub fn text(predictions: &[Prediction], width: u16) -> String {
    let mut grid =
        Grid::new(&["workload", "size", "device", "foreseen", "within", "measured", "error"]);
    let mut wins: BTreeMap<&str, usize> = BTreeMap::new();
    for prediction in predictions {
        for (rank, foreseen) in prediction.foreseen.iter().enumerate() {
            *wins.entry(&foreseen.device).or_default() += usize::from(rank == 0);
            let error = |measured: f64| (foreseen.seconds / measured - 1.0) * 100.0;
            grid.row([
                prediction.key.workload.clone(),
                size(&prediction.key),
                printable(&foreseen.device, 40),
                seconds(foreseen.seconds),
                format!("×{:.1}", foreseen.within.min(999.0)),
                foreseen.measured.map_or_else(|| "–".into(), seconds),
                foreseen.measured.map_or_else(|| "–".into(), |m| format!("{:+.0} %", error(m))),
            ]);
        }
    }
    let mut out = grid.text(width);
    out.push('\n');
    for (device, wins) in wins {
        let (device, of) = (printable(device, 60), predictions.len());
        let _ = writeln!(out, "fastest of {of} kernels and sizes at {wins}: {device}");
    }
    out
}

/// As an array of `{case, devices: [{device, seconds, within, measured}]}`.
pub fn json(predictions: &[Prediction]) -> String {
    let all = predictions.iter().map(|prediction| {
        let devices = prediction.foreseen.iter().map(|foreseen| {
            json!({
                "device": foreseen.device,
                "seconds": foreseen.seconds,
                "within": foreseen.within,
                "measured": foreseen.measured,
            })
        });
        json!({ "case": prediction.key.to_string(), "devices": devices.collect::<Vec<_>>() })
    });
    format!("{:#}\n", serde_json::Value::Array(all.collect()))
}
