//! `gpubench model`: evaluate a published model on a CSV of measurements.

mod concurrency;
mod held_out;
mod roofline;
mod saturation;
mod streams;
mod transfer_states;

use super::show::{print, print_json};
use gpubench_core::error::Result;
use gpubench_document::{Cell, Column, Table, Unit};
use gpubench_report::render;
use serde::Serialize;
use std::process::ExitCode;

/// Arguments of `gpubench model`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    model: Model,
}

#[derive(Debug, clap::Subcommand)]
enum Model {
    /// Pairs of kernels: predicted slowdown of the second against estimates and measurements
    Concurrency(concurrency::Args),
    /// Rates at rising arithmetic intensity: a roofline fitted on every second row predicts the others
    Roofline(roofline::Args),
    /// Bandwidth against work-items in flight: curves fitted on every second row predict the others
    Saturation(saturation::Args),
    /// Copies and a kernel in eight streams: predicted against the last column of a file
    Streams(streams::Args),
    /// Several devices on one host: the minimum time to move data, and how
    TransferStates(transfer_states::Args),
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    match args.model {
        Model::Concurrency(args) => concurrency::run(&args),
        Model::Roofline(args) => roofline::run(&args),
        Model::Saturation(args) => saturation::run(&args),
        Model::Streams(args) => streams::run(&args),
        Model::TransferStates(args) => transfer_states::run(&args),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// What a model has to say: a value for programs, or a table and a sentence for people.
fn show(json: bool, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<()> {
    if json { print_json(value) } else { print(&text()) }
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
