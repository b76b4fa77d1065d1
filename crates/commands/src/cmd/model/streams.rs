//! `gpubench model streams`: model 1 against the last column of a file, which may be measured or calculated.

use super::{show, table};
use crate::store::read_csv::{Row, Table};
use gpubench_core::error::Result;
use gpubench_core::text::printable;
use gpubench_core::units::fixed;
use gpubench_model::streams::{Overlap, Stages, total};
use serde::Serialize;
use std::path::PathBuf;

/// Streams that the last column stands for.
const STREAMS: u32 = 8;
const COLUMNS: [&str; 5] = ["n", "t_h2d_ms", "t_kernel_ms", "t_d2h_ms", "eight_streams_ms"];

/// Arguments of `gpubench model streams`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// CSV with the columns n, t_h2d_ms, t_kernel_ms, t_d2h_ms and eight_streams_ms
    file: PathBuf,
    /// Print JSON: {rows, max_abs_error_ms, predicted_ms}
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Summary {
    rows: usize,
    max_abs_error_ms: f64,
    /// In the rows' order.
    predicted_ms: Vec<f64>,
}

/// One row, in milliseconds.
struct Case {
    n: String,
    stages: Stages,
    predicted: f64,
    given: f64,
}

impl Case {
    fn read(row: Row<'_>) -> Result<Self> {
        let stages = Stages {
            upload: row.number("t_h2d_ms")?,
            kernel: row.number("t_kernel_ms")?,
            download: row.number("t_d2h_ms")?,
        };
        let given = row.number("eight_streams_ms")?;
        let predicted = total(stages, STREAMS, Overlap::Both);
        Ok(Self { n: printable(row.text("n")?, 20), stages, predicted, given })
    }

    /// Without the last digits, which are the arithmetic's own.
    fn error(&self) -> f64 {
        ((self.predicted - self.given).abs() * 1e9).round() / 1e9
    }

    fn cells(&self) -> Vec<String> {
        let number = |x: f64| fixed(x, 3);
        let Stages { upload, kernel, download } = self.stages;
        let numbers = [upload, kernel, download, self.predicted, self.given, self.error()];
        std::iter::once(self.n.clone()).chain(numbers.map(number)).collect()
    }
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let cases: Vec<Case> =
        Table::read(&args.file, &COLUMNS)?.rows().map(Case::read).collect::<Result<_>>()?;
    let max_abs_error_ms = cases.iter().map(Case::error).fold(0.0, f64::max);
    let predicted_ms = cases.iter().map(|case| case.predicted).collect();
    let summary = Summary { rows: cases.len(), max_abs_error_ms, predicted_ms };
    show(args.json, &summary, || {
        let headings = ["n", ">upload", ">kernel", ">download", ">predicted", ">given", ">error"];
        let table = table(&headings, cases.iter().map(Case::cells));
        format!(
            "{table}\n{} rows, all in ms; largest error {} ms \
             ({STREAMS} streams, both copies overlapped: equations 3.4 and 3.6)\n",
            cases.len(),
            fixed(max_abs_error_ms, 4)
        )
    })
}
