//! `gpubench report`: what runs say, as a page, a table or data.

use super::show::print;
use crate::analyse::field;
use crate::analyse::rank::{Options, rank};
use crate::error::{Error, Result};
use crate::report::progress::say;
use crate::report::{Material, Source, html};
use crate::store::{Run, read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `gpubench report`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Result files
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Where to write (default: standard output)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Rank implementations on the host's processor too
    #[arg(long)]
    include_cpu: bool,
    /// Rank simulated devices too
    #[arg(long)]
    include_simulated: bool,
}

/// Writes the report.
pub fn run(args: Args) -> Result<ExitCode> {
    let runs: Vec<Run> = args.runs.iter().map(|path| read(path)).collect::<Result<_>>()?;
    for warning in runs.iter().flat_map(|run| &run.warnings) {
        say(&warning.to_string());
    }
    let material = Material::new(runs.iter().map(source).collect());
    let field = field(runs.iter().map(|run| (&run.header, run.records.as_slice())));
    let options = Options {
        include_cpu: args.include_cpu,
        include_simulated: args.include_simulated,
        ..Options::default()
    };
    let text = html::page(&material, &rank(&field, &options)?);
    match &args.output {
        None => print(&text)?,
        Some(path) => write(path, &text)?,
    }
    Ok(ExitCode::SUCCESS)
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

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|error| Error::io(path, error))
}
