//! `gpubench devices`: list the devices of this machine, one row per device and API.

use crate::error::{Error, Result};
use std::process::ExitCode;

/// Arguments of `gpubench devices`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args) -> Result<ExitCode> {
    Err(Error::Unsupported("not in this version".into()))
}
