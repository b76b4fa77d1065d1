//! `gpubench check`: check suite files, and compile their OpenCL C where a driver is at hand.

use super::compile::compile;
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
        match check(file) {
            Ok(line) => print(&format!("{file}: {line}\n"))?,
            Err(error) => {
                show(&error);
                code = super::exit_code(&error);
            }
        }
    }
    Ok(code)
}

/// What there is to say of a valid suite.
fn check(file: &str) -> Result<String> {
    let suite = gpubench_experiments::load(file)?;
    let compiled = compile(&suite)?.map_or_else(String::new, |said| format!("; {said}"));
    Ok(format!(
        "suite {}, {}, {}{compiled}",
        suite.name,
        counted(suite.workloads.len(), "workload"),
        counted(suite.cases(), "case")
    ))
}
