//! `gpubench report`: what runs say, as a page, a table or data.

use super::show::{print, style, warnings};
use crate::analyse::rank::{Options, Ranking, rank};
use crate::analyse::{DeviceCases, collect, compare, field};
use crate::error::{Error, Result};
use crate::report::progress::say;
use crate::report::{Material, Source, data, html, markdown, terminal};
use crate::store::{Run, read, runs};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `gpubench report`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Result files, or folders of them
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Where to write (default: standard output)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// In which form (default: what the output's name ends in, else text)
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Compare with this run or baseline, device by device (in the HTML page)
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Rank implementations on the host's processor too
    #[arg(long)]
    include_cpu: bool,
    /// Rank simulated devices too
    #[arg(long)]
    include_simulated: bool,
}

/// Forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Tables for a terminal
    Text,
    /// One page with plots, for a browser or a printer
    Html,
    /// Tables for a pull request
    Md,
    /// One line a case and device, for a spreadsheet
    Csv,
    /// Everything, for programs (`gpubench schema report` says its form)
    Json,
    /// Times for Bencher (bencher.dev)
    Bencher,
}

/// Writes the report.
pub fn run(args: Args) -> Result<ExitCode> {
    let format = format(&args)?;
    let files = runs::find(&args.runs)?;
    let runs: Vec<Run> = files.iter().map(|path| read(path)).collect::<Result<_>>()?;
    let flaws: Vec<String> =
        runs.iter().flat_map(|run| &run.warnings).map(ToString::to_string).collect();
    warnings(&flaws);
    let material = Material::new(runs.iter().map(source).collect());
    let ranking = ranking(&args, &runs)?;
    let text = match format {
        Format::Text => terminal::summary(&material, style()),
        Format::Html => html::page(&material, &ranking, &compared(&args, &runs, &material)?),
        Format::Md => markdown::markdown(&material, &ranking),
        Format::Csv => data::spreadsheet(&material),
        Format::Json => data::json(&material, &ranking),
        Format::Bencher => data::bencher(&material),
    };
    match &args.output {
        None => print(&text)?,
        Some(path) => {
            std::fs::write(path, &text).map_err(|error| Error::io(path, error))?;
            say(&format!("report: {}", path.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What was asked for, else what the output's name ends in.
fn format(args: &Args) -> Result<Format> {
    let extension = |path: &Path| path.extension().map(|e| e.to_string_lossy().to_lowercase());
    match (args.format, &args.output) {
        (Some(format), _) => Ok(format),
        (None, None) => Ok(Format::Text),
        (None, Some(path)) => match extension(path).as_deref() {
            Some("html" | "htm") => Ok(Format::Html),
            Some("md") => Ok(Format::Md),
            Some("csv") => Ok(Format::Csv),
            Some("json") => Ok(Format::Json),
            Some("txt") => Ok(Format::Text),
            _ => Err(Error::Usage(format!(
                "{}: its name tells no form; end it in .html, .md, .csv, .json or .txt, or say --format",
                path.display()
            ))),
        },
    }
}

fn source(run: &Run) -> Source<'_> {
    let name = run.path.file_name().unwrap_or(run.path.as_os_str());
    Source {
        name: name.to_string_lossy().into_owned(),
        header: &run.header,
        records: &run.records,
        footer: run.footer.as_ref(),
        warnings: run.warnings.iter().map(ToString::to_string).collect(),
    }
}

/// Each device of the runs against the same device of the baseline.
fn compared(args: &Args, runs: &[Run], material: &Material) -> Result<Vec<html::Compared>> {
    let Some(path) = &args.baseline else { return Ok(vec![]) };
    let old = read(path)?;
    let before = collect(&old.header, &old.records);
    let mut compared = vec![];
    for run in runs {
        for new in collect(&run.header, &run.records) {
            let same = |old: &&DeviceCases| old.device.slug() == new.device.slug();
            let Some(before) = before.iter().find(same) else { continue };
            let subject = material.subjects.iter().find(|s| *s.device == new.device);
            compared.push(html::Compared {
                label: subject.map_or_else(String::new, |s| format!("{} {}", s.label, s.name)),
                old: format!("{}, begun {}", path.display(), old.header.started),
                comparison: compare(before, &new, &Default::default()),
            });
        }
    }
    if compared.is_empty() {
        return Err(Error::Usage(format!(
            "{}: none of the runs' devices is in it",
            path.display()
        )));
    }
    Ok(compared)
}

fn ranking(args: &Args, runs: &[Run]) -> Result<Ranking> {
    let field = field(runs.iter().map(|run| (&run.header, run.records.as_slice())));
    let options = Options {
        include_cpu: args.include_cpu,
        include_simulated: args.include_simulated,
        ..Options::default()
    };
    rank(&field, &options)
}
