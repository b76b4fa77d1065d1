//! `gpubench model`: a published model, evaluated on a CSV of measurements or on parameters.

mod components;
mod concurrency;
mod contention;
mod held_out;
mod layout_transform;
mod occupancy;
mod overlap_worth;
mod parallel_degrees;
mod prediction;
mod roofline;
mod saturation;
mod schedule;
mod streams;
mod transfer;
mod transfer_states;
mod warp_timeline;

use super::commands;
use super::show::print;
use gpubench_core::error::Result;
use gpubench_core::units::fixed;
use gpubench_document::{Cell, Column, Table, Unit};
use gpubench_report::render::{self, json};
use serde::Serialize;
use std::process::ExitCode;

/// Arguments of `gpubench model`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

commands! {
    fn dispatch(command: &Command);

    /// What limits a kernel on each device, from amounts and rates
    Components: components,
    /// Pairs of kernels: predicted slowdown of the second against estimates and measurements
    Concurrency: concurrency,
    /// Rates at rising arithmetic intensity: a roofline fitted on every second row predicts the others
    Roofline: roofline,
    /// Bandwidth against work-items in flight: curves fitted on every second row predict the others
    Saturation: saturation,
    /// Pairs of kernels that memory may slow: with shared bandwidth, fitted on the other pairs
    Contention: contention,
    /// Whether making strided accesses contiguous pays, and after how many uses
    LayoutTransform: layout_transform,
    /// How many groups of a kernel a unit holds
    Occupancy: occupancy,
    /// Whether overlapping computation and communication is worth the effort
    OverlapWorth: overlap_worth,
    /// A kernel's cycles, from how many warps compute and load at once
    ParallelDegrees: parallel_degrees,
    /// Into which parts to cut a divisible problem
    Schedule: schedule,
    /// Copies and a kernel in eight streams: predicted against the last column of a file
    Streams: streams,
    /// Uploading and downloading at the same time
    Transfer: transfer,
    /// Several devices on one host: the minimum time to move data, and how
    TransferStates: transfer_states,
    /// A kernel's time when warps hide each other's latency
    WarpTimeline: warp_timeline,
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    dispatch(&args.command)
}

/// What a model has to say: a value for programs, or a table and a sentence for people.
fn show(json: bool, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<()> {
    print(&if json { json::line(value) } else { text() })
}

/// A share as a person reads it.
fn percent(share: f64, digits: usize) -> String {
    format!("{} %", fixed(100.0 * share, digits))
}

/// A table as wide as it needs to be; a heading that begins with `>` is that of numbers.
fn table(headings: &[&'static str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let column = |heading: &&'static str| match heading.strip_prefix('>') {
        Some(heading) => Column::new(heading, heading, Unit::None),
        None => Column::text(heading, *heading),
    };
    let mut table = Table::new("model", "model", headings.iter().map(column));
    rows.for_each(|row| table.row(row.into_iter().map(Cell::from)));
    render::text::table(&table, None)
}
