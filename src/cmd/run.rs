//! `gpubench run`: run a suite on every device and write its results.

use crate::error::{Error, Result};
use std::process::ExitCode;

/// Arguments of `gpubench run`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args) -> Result<ExitCode> {
    Err(Error::Unsupported("not in this version".into()))
}
