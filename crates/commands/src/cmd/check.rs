//! `gpubench check`: check suite files without a device.

use super::show::{print, show};
use gpubench_core::error::Result;
use gpubench_core::text::counted;
use std::process::ExitCode;

/// Arguments of `gpubench check`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Suite files, or names of embedded suites
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
}

/// Prints one line a valid suite; every mistake of the others goes to stderr.
pub fn run(args: Args) -> Result<ExitCode> {
    let mut code = ExitCode::SUCCESS;
    for file in &args.files {
        match gpubench_experiments::load(file) {
            Ok(suite) => print(&format!(
                "{file}: suite {}, {}, {}\n",
                suite.name,
                counted(suite.workloads.len(), "workload"),
                counted(suite.cases(), "case")
            ))?,
            Err(error) => {
                show(&error);
                code = super::exit_code(&error);
            }
        }
    }
    Ok(code)
}
