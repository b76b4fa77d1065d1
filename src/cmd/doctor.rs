//! `gpubench doctor`: explain why a device is missing, and what to install.

use crate::error::{Error, Result};
use std::process::ExitCode;

/// Arguments of `gpubench doctor`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args) -> Result<ExitCode> {
    Err(Error::Unsupported("not in this version".into()))
}
