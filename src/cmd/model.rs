//! `gpubench model`: evaluate a published model on a CSV of measurements.

use crate::error::{Error, Result};
use std::process::ExitCode;

/// Arguments of `gpubench model`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args) -> Result<ExitCode> {
    Err(Error::Unsupported("not in this version".into()))
}
