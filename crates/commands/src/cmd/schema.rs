//! `gpubench schema`: print the JSON schema of a suite, or of a report.

use super::show::print;
use gpubench_core::error::Result;
use gpubench_report as report;
use gpubench_report::render::json::json;
use gpubench_suite as suite;

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
pub fn run(args: Args) -> Result<()> {
    print(&match args.of {
        Of::Suite => {
            let references: Vec<_> = gpubench_reference::names().collect();
            let kinds = gpubench_experiments::registry::experiment_kinds();
            json(&suite::schema(&kinds, &references))
        }
        Of::Report => json(&report::data::schema()),
    })
}
