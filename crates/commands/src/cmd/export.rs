//! `gpubench export`: records as flat rows for data frames, or as Bencher's metrics.

use super::results;
use super::show::{print, warnings};
use crate::store::parquet::{Column, Parquet};
use crate::store::{Run, open, read, runs};
use gpubench_core::error::{Error, Result};
use gpubench_core::text::FOLDER;
use gpubench_report::csv::csv;
use gpubench_report::export::{COLUMNS, Cell, Kind, bencher, row};
use gpubench_report::progress::say;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `gpubench export`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Result files, baselines, or folders of them
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// What to write
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    format: Format,
    /// The file to write, which must not exist (default: stdout; Parquet needs a file)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Formats of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// One line a case and round
    Csv,
    /// The same as a Parquet file
    Parquet,
    /// Bencher's metric format: latencies by device and case
    Bencher,
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    if let Some(path) = args.output.as_ref().filter(|path| path.is_dir()) {
        return Err(Error::Usage(format!("{}: {FOLDER}", path.display())));
    }
    let files = results::files(&args.runs)?;
    match (args.format, &args.output) {
        (Format::Bencher, output) => {
            let all = runs::load(&files)?;
            warnings(&all.warnings);
            write(output.as_deref(), &bencher(&all.matrix))?;
        }
        (Format::Csv, output) => spreadsheet(&files, output.as_deref())?,
        (Format::Parquet, Some(path)) => parquet(&files, path)?,
        (Format::Parquet, None) => {
            return Err(Error::Usage("Parquet is no text: name the file with --output".into()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn write(output: Option<&Path>, text: &str) -> Result<()> {
    let Some(path) = output else { return print(text) };
    let io = |source| Error::io(path, source);
    File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes())).map_err(io)
}

/// Calls `take` with the row of every record, file after file.
fn each(files: &[PathBuf], mut take: impl FnMut(Vec<Cell>) -> Result<()>) -> Result<u64> {
    let mut rows = 0;
    for path in files {
        let Run { header, records, warnings: flaws, .. } = read(path)?;
        let run = path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
        for cells in records.iter().filter_map(|record| row(&run, &header, record)) {
            rows += 1;
            take(cells)?;
        }
        warnings(&flaws);
    }
    Ok(rows)
}

fn spreadsheet(files: &[PathBuf], output: Option<&Path>) -> Result<()> {
    let head = csv([COLUMNS.map(|(name, _)| name.to_owned()).to_vec()]);
    let line = |cells: &[Cell]| csv([cells.iter().map(Cell::text).collect::<Vec<_>>()]);
    match output {
        None => {
            // What cannot be read is reported before the first line: half a table would look like a whole one.
            files.iter().try_for_each(|file| open(file).map(drop))?;
            print(&head)?;
            each(files, |cells| print(&line(&cells)))?;
        }
        Some(path) => {
            let io = |source| Error::io(path, source);
            let mut file = BufWriter::new(File::create_new(path).map_err(io)?);
            file.write_all(head.as_bytes()).map_err(io)?;
            let rows = each(files, |cells| file.write_all(line(&cells).as_bytes()).map_err(io))?;
            file.flush().map_err(io)?;
            say(&format!("{rows} rows: {}", path.display()));
        }
    }
    Ok(())
}

fn parquet(files: &[PathBuf], path: &Path) -> Result<()> {
    let columns = COLUMNS.map(|(name, kind)| {
        let column = match kind {
            Kind::Text => Column::Text(vec![]),
            Kind::Whole => Column::Whole(vec![]),
            Kind::Number => Column::Number(vec![]),
        };
        (name, column)
    });
    let mut file = Parquet::create(path, columns.into_iter().collect())?;
    let rows = each(files, |cells| {
        file.row(|columns| {
            for (column, cell) in columns.iter_mut().zip(cells) {
                match (column, cell) {
                    (Column::Text(v), Cell::Text(text)) => v.push(text.as_str().into()),
                    (Column::Whole(v), Cell::Whole(x)) => v.push(x),
                    (Column::Number(v), Cell::Number(x)) => v.push(x),
                    // A row has a cell of the right kind for every column; a test says so.
                    _ => {}
                }
            }
        })
    })?;
    file.finish()?;
    say(&format!("{rows} rows: {}", path.display()));
    Ok(())
}
