//! `gpubench model transfer-states`: model 10 on measured rates of several devices.

use super::{show, table};
use crate::cmd::number::at_least_zero;
use crate::store::read_csv::{Row, Table};
use gpubench_core::error::{Error, Result};
use gpubench_core::text::printable;
use gpubench_core::units::fixed;
use gpubench_model::transfer_states::{Both, State, min_time, mirrored};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The columns of a file of equal devices whose totals are given.
const TOTALS: [&str; 2] = ["send_total", "receive_total"];

/// Arguments of `gpubench model transfer-states`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// CSV with a row a state: state, then s0, r0, s1, r1 …, the rates to and from each device; or
    /// send_total, receive_total, those of all devices, which are equal
    file: PathBuf,
    /// What to upload to each device, in the unit of data of the rates; to all of them where the file has
    /// totals
    #[arg(long, required = true, value_delimiter = ',', value_name = "A,B", value_parser = at_least_zero)]
    upload: Vec<f64>,
    /// What to download from each device
    #[arg(long, required = true, value_delimiter = ',', value_name = "A,B", value_parser = at_least_zero)]
    download: Vec<f64>,
    /// The devices are equal and the file lists each state once: add its mirror images
    #[arg(long)]
    symmetric: bool,
    /// Print JSON: {time_s, states: [{state, time_s}]}
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Summary {
    time_s: f64,
    /// The states in which time is spent.
    states: Vec<Spent>,
}

#[derive(Serialize)]
struct Spent {
    state: String,
    time_s: f64,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let (mut states, totals) = read_states(&args.file)?;
    let devices = states[0].rates.len();
    for (option, amounts) in [("--upload", &args.upload), ("--download", &args.download)] {
        if amounts.len() != devices {
            let (file, given) = (args.file.display(), amounts.len());
            let has = if totals { "totals".into() } else { format!("{devices} devices") };
            return Err(Error::Usage(format!("{file} has {has}, {option} gives {given} amounts")));
        }
    }
    if args.symmetric && totals {
        let why = "--symmetric: totals are of equal devices already";
        return Err(Error::Usage(why.into()));
    }
    if args.symmetric {
        states = mirrored(states).map_err(usage)?;
    }
    let both = |(&upload, &download): (&f64, &f64)| Both { upload, download };
    let amounts: Vec<Both> = args.upload.iter().zip(&args.download).map(both).collect();
    let seconds = min_time(&states, &amounts).map_err(usage)?;
    let summary = summary(&states, &seconds);
    show(args.json, &summary, || text(&summary))
}

/// The states of a file, and whether their rates are totals.
pub(super) fn read_states(file: &Path) -> Result<(Vec<State>, bool)> {
    let table = Table::read(file, &["state"])?;
    let totals = table.columns().any(|column| TOTALS.contains(&column));
    let states = read(&table, if totals { total_rates } else { device_rates })?;
    Ok((states, totals))
}

/// What the model refuses here is the file's or the command line's mistake.
fn usage(error: Error) -> Error {
    match error {
        Error::Unsupported(text) => Error::Usage(text),
        other => other,
    }
}

fn summary(states: &[State], seconds: &[f64]) -> Summary {
    let time_s: f64 = seconds.iter().sum();
    let spent = states
        .iter()
        .zip(seconds)
        .filter(|(_, time)| **time > 1e-9 * time_s)
        .map(|(state, &time_s)| Spent { state: state.name.clone(), time_s })
        .collect();
    Summary { time_s, states: spent }
}

fn text(summary: &Summary) -> String {
    let row = |spent: &Spent| {
        let share = 100.0 * spent.time_s / summary.time_s;
        let state = printable(&spent.state, 60);
        vec![state, fixed(spent.time_s, 4), format!("{} %", fixed(share, 1))]
    };
    let table = table(&["state", ">seconds", ">share"], summary.states.iter().map(row));
    format!("{table}\nminimum time {} s\n", fixed(summary.time_s, 4))
}

/// How the rates of a row of the named state are read.
type RatesOf = fn(&Table, Row<'_>, &str) -> Result<Vec<Both>>;

/// The states of a table.
fn read(table: &Table, rates_of: RatesOf) -> Result<Vec<State>> {
    let mut states: Vec<State> = Vec::new();
    for row in table.rows() {
        let name = row.text("state")?;
        if states.iter().any(|state| state.name == name) {
            return Err(row.diagnostic("state", &format!("state `{name}` is listed twice"), None));
        }
        states.push(State { name: name.to_owned(), rates: rates_of(table, row, name)? });
    }
    Ok(states)
}

fn device_rates(table: &Table, row: Row<'_>, state: &str) -> Result<Vec<Both>> {
    table.require(&["s0", "r0"])?;
    (0..devices(table)?).map(|device| rates(row, state, device)).collect()
}

/// Of equal devices that move equal amounts only the totals matter: exchanging devices in a state changes
/// no total, and spending a state's time in all its exchanges alike moves as much on each device.
fn total_rates(table: &Table, row: Row<'_>, state: &str) -> Result<Vec<Both>> {
    table.require(&TOTALS)?;
    let [upload, download] = TOTALS.map(|column| row.number(column));
    let rates = Both { upload: upload?, download: download? };
    let says = |way: char| state.split('/').any(|does| does.contains(way));
    for (column, rate, way) in [(TOTALS[0], rates.upload, 'S'), (TOTALS[1], rates.download, 'R')] {
        if rate > 0.0 && !says(way) {
            let message = format!("state `{state}` has no {way}, and moves data that way");
            return Err(row.diagnostic(column, &message, Some("set it to 0 or correct the name")));
        }
    }
    Ok(vec![rates])
}

/// How many devices the columns name.
fn devices(table: &Table) -> Result<usize> {
    let columns: Vec<&str> = table.columns().filter(|name| *name != "state").collect();
    for (i, &column) in columns.iter().enumerate() {
        let wanted =
            |name: &str| (0..=i / 2).any(|d| name == format!("s{d}") || name == format!("r{d}"));
        if !columns.contains(&format!("r{}", i / 2).as_str()) || !wanted(column) {
            return Err(table.column_diagnostic(
                column,
                &format!("column `{column}` is not expected here"),
                "after state come s0, r0, s1, r1 … for as many devices as there are",
            ));
        }
    }
    Ok(columns.len() / 2)
}

/// One device's rates, which must be zero where the state's name says that it does not move data.
fn rates(row: Row<'_>, state: &str, device: usize) -> Result<Both> {
    let (upload, download) = (format!("s{device}"), format!("r{device}"));
    let rates = Both { upload: row.number(&upload)?, download: row.number(&download)? };
    let does = state.split('/').nth(device).unwrap_or("SR");
    let diagnostic = |column: &str, what: &str| {
        let message = format!("device {device} {what} in state `{state}`, which says `{does}`");
        Err(row.diagnostic(column, &message, Some("set the rate to 0 or correct the state's name")))
    };
    match does {
        "N" | "R" if rates.upload > 0.0 => diagnostic(&upload, "uploads"),
        "N" | "S" if rates.download > 0.0 => diagnostic(&download, "downloads"),
        _ => Ok(rates),
    }
}
