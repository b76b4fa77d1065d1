//! `gpubench model saturation`: model 13 on measured bandwidths against work-items in flight.

use super::held_out::{Errors, error, every_second, named, rows};
use super::{percent, show, table};
use crate::store::read_csv::Table;
use gpubench_core::error::Result;
use gpubench_core::text::printable;
use gpubench_core::units::fixed;
use gpubench_model::saturation::{PARAMETERS, Point, Saturation, fit};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

const ITEMS: &str = "work_items";
/// The columns of rates end so: GB/s.
const RATE: &str = "_gb_s";
const GIGA: f64 = 1e9;

/// Arguments of `gpubench model saturation`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// CSV with a row a launch: work_items, and a column an access pattern, its name ending in _gb_s
    file: PathBuf,
    /// Print JSON: {rows, held_out, median_error, max_error, patterns: [{pattern, …}]}
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Summary {
    rows: usize,
    /// Measurements that the fits never saw: of every second row, one a pattern.
    held_out: usize,
    /// Over all of them.
    #[serde(flatten)]
    errors: Errors,
    patterns: Vec<Pattern>,
}

#[derive(Serialize)]
struct Pattern {
    pattern: String,
    #[serde(flatten)]
    errors: Errors,
    /// In bytes per second and work-items.
    parameters: BTreeMap<&'static str, f64>,
    #[serde(skip)]
    all: Vec<f64>,
}

impl Pattern {
    fn fit(column: &str, points: &[Point]) -> Result<Self> {
        let (fitted, held_out) = every_second(points);
        let solution = fit(&fitted)?;
        let values: Vec<f64> = solution.values.iter().map(|estimate| estimate.value).collect();
        let curve = Saturation::of(&values);
        let all: Vec<f64> = held_out.iter().map(|p| error(curve.rate(p.items), p.rate)).collect();
        Ok(Self {
            pattern: printable(column.strip_suffix(RATE).unwrap_or(column), 30),
            errors: Errors::of(all.iter().copied()),
            parameters: named(&PARAMETERS, &solution),
            all,
        })
    }

    fn cells(&self) -> Vec<String> {
        let parameter =
            |name: &str, scale: f64, digits| fixed(self.parameters[name] / scale, digits);
        vec![
            self.pattern.clone(),
            parameter("per_item", GIGA / 1e3, 3),
            parameter("knee", 1.0, 0),
            parameter("sharpness", 1.0, 2),
            parameter("fall", 1.0, 2),
            percent(self.errors.median_error, 2),
            percent(self.errors.max_error, 2),
        ]
    }
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let table = Table::read(&args.file, &[ITEMS])?;
    let columns: Vec<&str> = table.columns().filter(|name| name.ends_with(RATE)).collect();
    if columns.is_empty() {
        let message = "no column of bandwidths";
        return Err(table.column_diagnostic(ITEMS, message, "their names end in _gb_s: read_gb_s"));
    }
    let mut patterns = vec![];
    for column in columns {
        let points = rows(&table, column, |row| {
            let items = f64::from(row.count(ITEMS, 1)?);
            Ok(Point { items, rate: GIGA * row.positive(column)? })
        })?;
        patterns.push(Pattern::fit(column, &points)?);
    }
    let all = || patterns.iter().flat_map(|pattern| pattern.all.iter().copied());
    let summary = Summary {
        rows: table.rows().count(),
        held_out: all().count(),
        errors: Errors::of(all()),
        patterns,
    };
    show(args.json, &summary, || text(&summary))
}

fn text(summary: &Summary) -> String {
    let headings =
        ["pattern", ">MB/s an item", ">knee", ">sharpness", ">fall", ">median error", ">largest"];
    format!(
        "bandwidth of n work-items: a·n / (1 + (n/knee)^sharpness)^(fall/sharpness)\n\n{}\n\
         {} measurements held out, every second row: {}\n",
        table(&headings, summary.patterns.iter().map(Pattern::cells)),
        summary.held_out,
        summary.errors.text(),
    )
}
