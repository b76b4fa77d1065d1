//! `gpubench export`: records as flat rows for data frames, or as Bencher's metrics.

mod bencher;
mod csv;
mod parquet;

use super::choice::{Choice, one_of};
use super::results;
use super::show::warnings;
use crate::store::{RunFile, read, whole};
use gpubench_core::error::{Error, Result};
use gpubench_core::text::FOLDER;
use gpubench_report::export_rows::{Cell, row};
use std::path::{Path, PathBuf};

/// Arguments of `gpubench export`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Result files, baselines, or folders of them
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// What to write
    #[arg(long, value_parser = one_of(FORMATS), default_value = FORMATS[0].0)]
    format: Render,
    /// The file to write, which must not exist (default: stdout; Parquet needs a file)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Writes the files' records, to a file or to stdout.
type Render = fn(&[RunFile], Option<&Path>) -> Result<()>;

/// Formats of exports, and what writes them.
const FORMATS: [Choice<Render>; 3] = [
    ("csv", "One line a case and round", csv::write),
    ("parquet", "The same as a Parquet file", parquet::write),
    ("bencher", "Bencher's metric format: latencies by device and case", bencher::write),
];

/// Runs the command.
pub fn run(args: Args) -> Result<()> {
    if let Some(path) = args.output.as_ref().filter(|path| path.is_dir()) {
        return Err(Error::Usage(format!("{}: {FOLDER}", path.display())));
    }
    let files = results::files(&args.runs)?;
    match args.output.as_deref() {
        Some(path) => whole(path, || (args.format)(&files, Some(path))),
        None => (args.format)(&files, None),
    }
}

/// Calls `take` with the row of every record, file after file.
fn each(files: &[RunFile], mut take: impl FnMut(Vec<Cell>) -> Result<()>) -> Result<u64> {
    let mut rows = 0;
    for file in files {
        let run = read(file)?;
        let name = run.name();
        for cells in run.records.iter().filter_map(|record| row(&name, &run.header, record)) {
            rows += 1;
            take(cells)?;
        }
        warnings(&run.warnings);
    }
    Ok(rows)
}
