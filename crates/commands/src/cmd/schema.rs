//! `gpubench schema`: print the JSON schema of a suite, or of a report.

use super::show::print_pretty_json;
use gpubench_core::error::Result;
use gpubench_report as report;
use gpubench_suite as suite;
use std::process::ExitCode;

/// Arguments of `gpubench schema`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Of what
    #[arg(value_enum, default_value_t = Of::Suite)]
    of: Of,
}

/// What has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Of {
    /// A suite file
    Suite,
    /// What `gpubench report --format json` writes
    Report,
}

/// Prints the schema.
pub fn run(args: Args) -> Result<ExitCode> {
    match args.of {
        Of::Suite => {
            let references: Vec<_> = gpubench_reference::names().collect();
            let kinds = gpubench_experiments::registry::experiment_kinds();
            print_pretty_json(&suite::schema(&kinds, &references))?;
        }
        Of::Report => print_pretty_json(&report::data::schema())?,
    }
    Ok(ExitCode::SUCCESS)
}
