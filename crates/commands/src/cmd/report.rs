//! `gpubench report`: what runs say, as a page, a table or data.

use super::compare;
use super::known::Profiles;
use super::predicted_ranking::Sources;
use super::results;
use super::show::{print, style};
use crate::store::Run;
use gpubench_analysis::rank::{Options, Ranking, rank};
use gpubench_analysis::{ReportInput, Source, flag_implausible, result_matrix};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_report::comparison::Compared;
use gpubench_report::progress::say;
use gpubench_report::{data, html, markdown, render, terminal};
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
    /// In which format (default: what the output's name ends in, else text)
    #[arg(long, value_enum)]
    format: Option<Format>,
    #[command(flatten)]
    shown: Shown,
}

/// What a report shows besides its runs.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Shown {
    /// Compare with this run or baseline, device by device (in every format but CSV)
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Rank implementations on the host's processor too
    #[arg(long)]
    include_cpu: bool,
    /// Rank simulated devices too
    #[arg(long)]
    include_simulated: bool,
    #[command(flatten)]
    sources: Sources,
}

/// Formats of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// Tables for a terminal
    Text,
    /// One page with plots, for a browser or a printer
    Html,
    /// Tables for a pull request
    #[value(alias = "markdown")]
    Md,
    /// One line a case and device, for a spreadsheet
    Csv,
    /// One line (of CSV) a figure of every section, for data frames
    Figures,
    /// Everything, for programs (`gpubench schema report` says its schema)
    Json,
}

/// Writes the report.
pub fn run(args: Args) -> Result<ExitCode> {
    let format = format(&args)?;
    let text = text(results::open_all(&args.runs)?, format, &args.shown, &[])?;
    match &args.output {
        None => print(&text)?,
        Some(path) => {
            std::fs::write(path, &text).map_err(|error| Error::io(path, error))?;
            say(&format!("report: {}", path.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The report of `runs`, without the sections `left_out`.
pub(super) fn text(
    mut runs: Vec<Run>,
    format: Format,
    shown: &Shown,
    left_out: &[&str],
) -> Result<String> {
    runs.iter_mut().for_each(|run| flag_implausible(&mut run.records));
    let input = ReportInput::new(runs.iter().map(source).collect());
    let ranking = ranking(shown, &runs, format)?;
    let compared = compared(shown, &runs)?;
    let experiments = gpubench_experiments::registry::sections(&input);
    let mut sections = gpubench_report::sections(&input, experiments, &ranking, &compared);
    sections.retain(|section| !left_out.contains(&section.id()));
    Ok(match format {
        Format::Text => terminal::text(&sections, style()),
        Format::Html => html::page(&input, &sections),
        Format::Md => markdown::markdown(&input, &sections),
        Format::Csv => data::spreadsheet(&input),
        Format::Figures => render::csv::sections(&sections),
        Format::Json => render::json::json(&data::document(&input, sections, &ranking, &compared)),
    })
}

/// What was requested, else what the output's name ends in.
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
                "{}: its name has no known ending; end it in .html, .md, .csv, .json or .txt, or say --format",
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
fn compared(shown: &Shown, runs: &[Run]) -> Result<Vec<Compared>> {
    let Some(path) = &shown.baseline else { return Ok(vec![]) };
    let each: Vec<_> = runs.iter().map(|run| compare::against(path, run)).collect();
    // Of many runs it is enough that one has a device of the baseline.
    if each.iter().any(Result::is_ok) {
        return Ok(each.into_iter().flatten().flatten().collect());
    }
    Ok(each.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

fn ranking(shown: &Shown, runs: &[Run], format: Format) -> Result<Ranking> {
    let matrix = result_matrix(runs.iter().map(|run| (&run.header, run.records.as_slice())));
    let options = Options {
        include_cpu: shown.include_cpu,
        include_simulated: shown.include_simulated,
        ..Options::default()
    };
    let mut ranking = rank(&matrix, &options)?;
    // A line a case and device shows no ranking.
    if format != Format::Csv {
        let own = |_: &[&DeviceInfo]| {
            let mut own = Profiles::default();
            for run in runs {
                own.add(&run.header, &run.records);
            }
            Ok(own)
        };
        ranking.prediction = shown.sources.predict(&matrix, &ranking, own)?;
    }
    Ok(ranking)
}
