//! `gpubench model concurrency`: model 7 on measured pairs of kernels.

use super::{percent, show, table};
use crate::store::read_csv::{Row, Table};
use gpubench_core::error::Result;
use gpubench_core::text::printable;
use gpubench_core::units::fixed;
use gpubench_model::concurrency::{Device, Kernel, Prediction};
use gpubench_model::event_driven::{self, Load};
use gpubench_model::occupancy::{Group, Unit};
use serde::Serialize;
use std::path::PathBuf;

const COLUMNS: [&str; 10] = [
    "k1",
    "k1_groups",
    "k1_group_size",
    "k1_local_bytes",
    "k2",
    "k2_groups",
    "k2_group_size",
    "k2_local_bytes",
    "estimated_slowdown",
    "measured_slowdown",
];

/// Half of the last digit that estimates are printed with, and a rounding error.
const PRINTED: f64 = 0.005 + 1e-9;

/// Arguments of `gpubench model concurrency`. The defaults are those of the Tesla K40.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// CSV with a row a pair: k1, k1_groups, k1_group_size, k1_local_bytes, the same of k2,
    /// estimated_slowdown, measured_slowdown
    file: PathBuf,
    /// Print JSON: {pairs, reproduced, mean_abs_error, …}
    #[arg(long)]
    json: bool,
    /// Compute units of the device
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    units: u32,
    /// Work-items in a warp
    #[arg(long, default_value_t = Unit::K40.warp, value_parser = clap::value_parser!(u32).range(1..))]
    warp: u32,
    /// Most work-items on a unit
    #[arg(long, default_value_t = Unit::K40.work_items)]
    work_items: u32,
    /// Most groups on a unit
    #[arg(long, default_value_t = Unit::K40.groups)]
    groups: u32,
    /// Bytes of local memory of a unit
    #[arg(long, default_value_t = Unit::K40.local_memory)]
    local_memory: u32,
    /// Local memory is allocated in units of this many bytes
    #[arg(long, default_value_t = Unit::K40.local_piece, value_parser = clap::value_parser!(u32).range(1..))]
    local_piece: u32,
}

impl Args {
    fn device(&self) -> Device {
        let &Self { units, warp, work_items, groups, local_memory, local_piece, .. } = self;
        // The pairs' kernels are not limited by registers.
        let unit = Unit { warp, work_items, groups, registers: 0, local_memory, local_piece };
        Device { units, unit }
    }
}

#[derive(Serialize)]
struct Summary {
    pairs: usize,
    /// Of the unit-by-unit form.
    #[serde(flatten)]
    units: Accuracy,
    /// The file's own estimates against its measured column.
    estimated: Accuracy,
    /// The event-driven form with a first kernel that outlasts the second.
    event_driven: Accuracy,
    /// Of the unit-by-unit form, in the pairs' order.
    slowdowns: Vec<f64>,
}

#[derive(Serialize)]
struct Accuracy {
    /// Printed estimates that are given to the printed digit.
    reproduced: usize,
    /// Against the measured column, as a fraction.
    mean_abs_error: f64,
}

/// One pair.
struct Pair {
    name: String,
    prediction: Prediction,
    events: f64,
    estimated: f64,
    measured: f64,
}

impl Pair {
    fn read(row: Row<'_>, device: &Device) -> Result<Self> {
        let first = kernel(row, device, ["k1_groups", "k1_group_size", "k1_local_bytes"])?;
        let second = kernel(row, device, ["k2_groups", "k2_group_size", "k2_local_bytes"])?;
        let name = format!("{} {}", printable(row.text("k1")?, 20), printable(row.text("k2")?, 20));
        let estimated = row.positive("estimated_slowdown")?;
        let measured = row.positive("measured_slowdown")?;
        // Both groups fit a unit, so both forms predict.
        let misfit = || row.diagnostic("k1_groups", "this pair does not fit the device", None);
        let prediction = device.predict(first, second, true).ok_or_else(misfit)?;
        // A group of the first takes longer than all groups of the second one after the other.
        let load = |kernel, group_seconds| Load { kernel, group_seconds, bandwidth: 0.0 };
        let (first, second) = (load(first, f64::from(second.groups) + 1.0), load(second, 1.0));
        let events =
            event_driven::slowdown(device, first, second, f64::INFINITY).ok_or_else(misfit)?;
        Ok(Self { name, prediction, events, estimated, measured })
    }

    fn cells(&self) -> Vec<String> {
        let Prediction { case, slots, waves, limited_waves, slowdown } = self.prediction;
        let counts = [slots, waves, limited_waves].map(|n| n.to_string());
        let slowdowns = [slowdown, self.events, self.estimated, self.measured];
        let mut cells = vec![self.name.clone(), format!("{case:?}")];
        cells.extend(counts);
        cells.extend(slowdowns.map(|x| fixed(x, 2)));
        cells.push(percent(slowdown / self.measured - 1.0, 1));
        cells
    }
}

/// A kernel of the row, from its columns of groups, group size and local memory.
fn kernel(row: Row<'_>, device: &Device, [groups, size, local]: [&str; 3]) -> Result<Kernel> {
    let group =
        Group { size: row.count(size, 1)?, registers: 0, local_memory: row.count(local, 0)? };
    let kernel = Kernel { groups: row.count(groups, 1)?, group };
    if device.unit.active(group) > 0 {
        return Ok(kernel);
    }
    let without = Group { local_memory: 0, ..group };
    let to_blame = if device.unit.active(without) > 0 { local } else { size };
    Err(row.diagnostic(
        to_blame,
        "not even one group fits a unit of this device",
        Some("say what the device's units hold: --work-items, --groups, --local-memory"),
    ))
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let device = args.device();
    let table = Table::read(&args.file, &COLUMNS)?;
    let pairs: Vec<Pair> =
        table.rows().map(|row| Pair::read(row, &device)).collect::<Result<_>>()?;
    let summary = summary(&pairs);
    show(args.json, &summary, || text(&pairs, &summary))
}

fn summary(pairs: &[Pair]) -> Summary {
    let accuracy = |slowdown: fn(&Pair) -> f64| {
        let printed = |pair: &&Pair| (slowdown(pair) - pair.estimated).abs() <= PRINTED;
        let error = |pair: &Pair| (slowdown(pair) / pair.measured - 1.0).abs();
        Accuracy {
            reproduced: pairs.iter().filter(printed).count(),
            mean_abs_error: pairs.iter().map(error).sum::<f64>() / pairs.len() as f64,
        }
    };
    Summary {
        pairs: pairs.len(),
        units: accuracy(|pair| pair.prediction.slowdown),
        estimated: accuracy(|pair| pair.estimated),
        event_driven: accuracy(|pair| pair.events),
        slowdowns: pairs.iter().map(|pair| pair.prediction.slowdown).collect(),
    }
}

fn text(pairs: &[Pair], summary: &Summary) -> String {
    let headings = [
        "pair",
        "case",
        ">slots",
        ">waves",
        ">limited",
        ">units",
        ">events",
        ">printed",
        ">measured",
        ">error",
    ];
    let table = table(&headings, pairs.iter().map(Pair::cells));
    let line = |name: &str, of: &Accuracy| {
        format!(
            "{name}: {} of {} printed estimates, mean absolute error {}\n",
            of.reproduced,
            pairs.len(),
            percent(of.mean_abs_error, 2)
        )
    };
    format!(
        "slowdown of the second kernel unit by unit, event driven, as printed, and as measured\n\n\
         {table}\n{}{}printed estimates: mean absolute error {}\n",
        line("unit by unit", &summary.units),
        line("event driven", &summary.event_driven),
        percent(summary.estimated.mean_abs_error, 2),
    )
}
