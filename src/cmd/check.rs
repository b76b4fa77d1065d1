//! `gpubench check`: check suite files without a device.

use crate::error::{Error, Result};
use std::process::ExitCode;

/// Arguments of `gpubench check`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args) -> Result<ExitCode> {
    Err(Error::Unsupported("not in this version".into()))
}
