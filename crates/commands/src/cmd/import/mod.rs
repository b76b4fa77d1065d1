//! `gpubench import`: measurements of other programs as a run, marked as imported.

mod kernel_tuner;
mod mapped;
mod results;
mod shoc;

use gpubench_core::error::{Error, Result};
use gpubench_core::text::counted;
use gpubench_report::progress::say;
use results::{Results, Source};
use std::path::PathBuf;

/// Arguments of `gpubench import`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which program wrote the files
    #[arg(value_name = "FORMAT", value_enum)]
    format: Format,
    /// Its files; several of the same cases are rounds
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The result file to write, which must not exist
    #[arg(short, long, value_name = "RUN")]
    output: PathBuf,
    /// Which columns mean what, for `csv`
    #[arg(long, value_name = "YAML", required_if_eq("format", "csv"))]
    mapping: Option<PathBuf>,
    /// The device, where the file does not name it
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// The kernel, where the file does not name it
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
}

/// A program whose files are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Kernel Tuner's results (T4) or cache file: a case a variant
    KernelTuner,
    /// SHOC's table of results: a row a device, a column a benchmark
    Shoc,
    /// Any table, with a mapping
    Csv,
}

/// Runs the command.
pub fn run(args: Args) -> Result<()> {
    if args.mapping.is_some() && args.format != Format::Csv {
        return Err(Error::Usage("--mapping is for the format csv".into()));
    }
    let mapping = args.mapping.as_deref().map(mapped::Mapping::load).transpose()?;
    let mut all = Results::default();
    let mut known: Vec<String> = vec![];
    for file in &args.files {
        let source = Source::new(file, u32::try_from(known.len()).unwrap_or(u32::MAX))?;
        // A file that counted twice would seem to have been measured twice.
        if known.contains(&source.hash) {
            say(&format!("skipped: what is in {} was read already", source.file));
            continue;
        }
        known.push(source.hash.clone());
        match (args.format, &mapping) {
            (Format::KernelTuner, _) => {
                let names = [&args.device, &args.workload].map(Option::as_deref);
                kernel_tuner::read(&source, names, &mut all)?;
            }
            (Format::Shoc, _) => shoc::read(&source, &mut all)?,
            (Format::Csv, Some(mapping)) => mapping.read(&source, &mut all)?,
            (Format::Csv, None) => return Err(Error::Usage("csv needs --mapping".into())),
        }
    }
    all.leave_out_copies().iter().for_each(|line| say(line));
    let (devices, records) = all.write(&args.output)?;
    say(&format!(
        "{} of {} imported: {}",
        counted(records, "record"),
        counted(devices, "device"),
        args.output.display()
    ));
    Ok(())
}
