//! `gpubench worker`: own one device and serve cases (started by `run`).

use crate::backend;
use crate::error::{Error, Result};
use std::process::ExitCode;

/// Arguments of `gpubench worker`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The backend
    #[arg(long)]
    backend: String,
    /// The device among the backend's; without it, the devices are listed
    #[arg(long)]
    index: Option<usize>,
    /// The process to end with
    #[arg(long)]
    parent: u32,
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    let backend = || {
        let missing = || Error::Usage(format!("there is no backend `{}`", args.backend));
        backend::by_name(&args.backend).ok_or_else(missing)
    };
    crate::worker::serve(backend, args.index, args.parent)?;
    Ok(ExitCode::SUCCESS)
}
