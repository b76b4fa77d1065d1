//! `gpubench schema`: print the JSON schema of a suite.

use super::show::print;
use crate::error::{Error, Result};
use crate::suite;
use std::process::ExitCode;

/// Arguments of `gpubench schema`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Prints the schema, draft-07.
pub fn run(_args: Args) -> Result<ExitCode> {
    let json = serde_json::to_string_pretty(&suite::schema())
        .map_err(|error| Error::io("stdout", error.into()))?;
    print(&(json + "\n"))?;
    Ok(ExitCode::SUCCESS)
}
