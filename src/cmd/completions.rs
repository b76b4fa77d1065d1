//! `gpubench completions`: print a completion script for a shell.

use crate::error::{Error, Result};
use std::process::ExitCode;

/// Arguments of `gpubench completions`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args) -> Result<ExitCode> {
    Err(Error::Unsupported("not in this version".into()))
}
