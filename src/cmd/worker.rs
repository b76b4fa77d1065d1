//! `gpubench worker`: own one device and serve cases (started by `run`).

use crate::error::{Error, Result};
use std::process::ExitCode;

/// Arguments of `gpubench worker`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args) -> Result<ExitCode> {
    Err(Error::Unsupported("not in this version".into()))
}
