//! `gpubench report`: what runs say, as a page, a table or data.

use super::choice::one_of;
use super::compare;
use super::known::Profiles;
use super::predicted_ranking::Sources;
use super::results;
use super::show::{print_report, width};
use crate::store::{Run, replace};
use clap::builder::TypedValueParser;
use gpubench_analysis::rank::{Ranking, rank};
use gpubench_analysis::{ReportInput, Source, result_matrix};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_report::comparison::Compared;
use gpubench_report::formats::{FORMATS, Format, Report};
use gpubench_report::progress::say;
use std::path::{Path, PathBuf};

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
    #[arg(long, value_parser = formats(|_| true))]
    format: Option<&'static Format>,
    #[command(flatten)]
    shown: Shown,
}

/// What a report shows besides its runs.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Shown {
    /// Compare with this run or baseline, device by device (in every format but CSV)
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    #[command(flatten)]
    sources: Sources,
}

/// A parser of the formats that `shown` lets through.
pub(super) fn formats(
    shown: fn(&Format) -> bool,
) -> impl TypedValueParser<Value = &'static Format> {
    let all = FORMATS.iter().filter(move |format| shown(format));
    one_of(all.map(|format| (format.name, format.about, format)))
}

/// Writes the report.
pub fn run(args: Args) -> Result<()> {
    let format = chosen_format(args.format, args.output.as_deref())?;
    let text = text(results::open_all(&args.runs)?, format, &args.shown, &[])?;
    write(format, &text, args.output.as_deref())
}

/// Writes a report to a file, or shows it.
pub(super) fn write(format: &Format, text: &str, output: Option<&Path>) -> Result<()> {
    let Some(path) = output else { return print_report(format, text) };
    replace(path, text)?;
    say(&format!("report: {}", path.display()));
    Ok(())
}

/// The report of `runs`, without the sections `skipped`.
pub(super) fn text(
    runs: Vec<Run>,
    format: &Format,
    shown: &Shown,
    skipped: &[&str],
) -> Result<String> {
    let input = ReportInput::new(runs.iter().map(source).collect());
    let ranking = ranking(shown, &runs, format)?;
    let compared = compared(shown, &runs)?;
    let experiments = gpubench_experiments::registry::sections(&input);
    let mut sections = gpubench_report::sections(&input, experiments, &ranking, &compared);
    sections.retain(|section| !skipped.contains(&section.id()));
    let (ranking, compared) = (&ranking, &compared);
    let report = Report { input: &input, sections, ranking, compared, width: width() };
    Ok(format.text(&report))
}

/// What was requested, else what the output's name ends in.
pub(super) fn chosen_format(
    requested: Option<&'static Format>,
    output: Option<&Path>,
) -> Result<&'static Format> {
    let (format, path) = match (requested, output) {
        (Some(format), _) => return Ok(format),
        (None, None) => return Ok(&FORMATS[0]),
        (None, Some(path)) => {
            let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
            (FORMATS.iter().find(|format| format.endings.contains(&ending.as_str())), path)
        }
    };
    format.ok_or_else(|| {
        let usual = FORMATS.iter().filter_map(|format| format.endings.first());
        let usual: Vec<_> = usual.map(|ending| format!(".{ending}")).collect();
        let (path, usual) = (path.display(), usual.join(", "));
        let why = "its name has no known ending; end it in one of";
        Error::Usage(format!("{path}: {why} {usual}, or say --format"))
    })
}

pub(super) fn source(run: &Run) -> Source<'_> {
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

fn ranking(shown: &Shown, runs: &[Run], format: &Format) -> Result<Ranking> {
    let matrix = result_matrix(runs.iter().map(|run| (&run.header, run.records.as_slice())));
    let mut ranking = rank(&matrix, &shown.sources.options())?;
    // A line a case and device shows no ranking.
    if format.ranks {
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
