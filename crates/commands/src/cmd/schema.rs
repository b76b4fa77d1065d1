//! `gpubench schema`: print the JSON schema of a suite, or of a report.

use super::choice::{Choice, one_of};
use super::show::print;
use gpubench_core::error::Result;
use gpubench_report as report;
use gpubench_report::render::json::json;
use gpubench_suite as suite;

/// Arguments of `gpubench schema`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Of what
    #[arg(value_parser = one_of(SCHEMAS), default_value = SCHEMAS[0].0)]
    of: fn() -> String,
}

/// What has a schema, and that.
const SCHEMAS: [Choice<fn() -> String>; 2] = [
    ("suite", "A suite file", || {
        let references: Vec<_> = gpubench_reference::names().collect();
        let kinds = gpubench_experiments::registry::experiment_kinds();
        json(&suite::schema(&kinds, &references))
    }),
    ("report", "What `gpubench report --format json` writes", || json(&report::data::schema())),
];

/// Prints the schema.
pub fn run(args: Args) -> Result<()> {
    print(&(args.of)())
}
