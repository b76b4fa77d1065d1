//! `gpubench model components`: model 6 from amounts and rates of each device.

use super::prediction::Prediction;
use crate::cmd::number::above_zero;
use crate::store::read_csv::{Row, Table};
use gpubench_core::error::{Error, Result};
use gpubench_core::text::printable;
use gpubench_model::components::{Projection, penalty, pick, relative_error};
use std::path::PathBuf;

const COLUMNS: [&str; 4] = ["device", "component", "amount", "rate"];
/// Characters of a device's name.
const NAME: usize = 40;

/// Arguments of `gpubench model components`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// CSV with the columns device, component (compute, global or local), amount and rate: a row an
    /// instruction class, or a kind of transactions in bytes
    file: PathBuf,
    /// What a device of the file took; give all of them, to learn the penalty and the relative error
    #[arg(long, value_name = "DEVICE=SECONDS", value_parser = measured)]
    measured: Vec<(String, f64)>,
    /// Print JSON: {model, parts}
    #[arg(long)]
    json: bool,
}

fn measured(text: &str) -> Result<(String, f64), String> {
    let (device, seconds) = text.split_once('=').ok_or("DEVICE=SECONDS is expected")?;
    Ok((device.to_owned(), above_zero(seconds)?))
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let table = Table::read(&args.file, &COLUMNS)?;
    let mut devices: Vec<(String, Projection)> = vec![];
    for row in table.rows() {
        add(&mut devices, row)?;
    }
    let seconds: Vec<f64> = devices.iter().map(|(_, parts)| parts.seconds()).collect();
    let mut prediction = Prediction::of("6 components, P14 §3.3.4");
    for (name, parts) in &devices {
        prediction = of_device(prediction, &printable(name, NAME), parts);
    }
    if let Some(best) = pick(&seconds) {
        prediction =
            prediction.part("picked", printable(&devices[best].0, NAME), "", "the fastest");
    }
    if !args.measured.is_empty() {
        let measured = in_order(&devices, &args.measured)?;
        if let Some(penalty) = penalty(&seconds, &measured) {
            prediction = prediction.part("penalty", penalty, "", "|T(picked) − T(best)|/T(best)");
        }
        let error = relative_error(&seconds, &measured);
        let equation = "‖v_meas/‖v_meas‖ − v_pred/‖v_pred‖‖/√2";
        prediction = prediction.part("relative_error", error, "", equation);
    }
    prediction.show(args.json)
}

fn add(devices: &mut Vec<(String, Projection)>, row: Row<'_>) -> Result<()> {
    let name = row.text("device")?;
    let seconds = row.number("amount")? / row.positive("rate")?;
    let at = devices.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
        let none = Projection { compute: 0.0, global: 0.0, local: 0.0 };
        devices.push((name.to_owned(), none));
        devices.len() - 1
    });
    let parts = &mut devices[at].1;
    let part = match row.text("component")? {
        "compute" => &mut parts.compute,
        "global" => &mut parts.global,
        "local" => &mut parts.local,
        _ => {
            let message = "no such component";
            return Err(row.diagnostic("component", message, Some("compute, global or local")));
        }
    };
    *part += seconds;
    Ok(())
}

fn of_device(prediction: Prediction, name: &str, parts: &Projection) -> Prediction {
    let limit = match parts.seconds() {
        longest if longest == parts.compute => "compute",
        longest if longest == parts.global => "global",
        _ => "local",
    };
    prediction
        .seconds(format!("{name} compute"), parts.compute, "t_compute = Σ n_i/throughput_i")
        .seconds(format!("{name} global"), parts.global, "t_global = Σ bytes/bandwidth")
        .seconds(format!("{name} local"), parts.local, "t_local = Σ bytes/bandwidth")
        .seconds(format!("{name} seconds"), parts.seconds(), "max of the three")
        .part(format!("{name} limit"), limit, "", "the longest of the three")
}

/// The measured seconds of every device, in the devices' order.
fn in_order(devices: &[(String, Projection)], measured: &[(String, f64)]) -> Result<Vec<f64>> {
    if let Some((stray, _)) = measured.iter().find(|(m, _)| devices.iter().all(|(d, _)| d != m)) {
        let stray = printable(stray, NAME);
        return Err(Error::Usage(format!("--measured: the file has no device `{stray}`")));
    }
    let of = |(name, _): &(String, Projection)| {
        measured.iter().find(|(m, _)| m == name).map(|(_, seconds)| *seconds).ok_or_else(|| {
            Error::Usage(format!("--measured lacks device `{}`", printable(name, NAME)))
        })
    };
    devices.iter().map(of).collect()
}
