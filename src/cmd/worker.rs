//! `gpubench worker`: own one device and serve cases (started by `run`).

use crate::backend::sim::{SIM, Sim};
use crate::backend::{self, Backend};
use crate::error::{Error, Result};
use std::path::PathBuf;
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
    /// A simulated device's description, behind the shipped ones
    #[arg(long)]
    sim_file: Vec<PathBuf>,
    /// Where simulated times begin to scatter
    #[arg(long, default_value_t = 0)]
    sim_seed: u64,
    /// The process to end with
    #[arg(long)]
    parent: u32,
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    let backend = || -> Result<Box<dyn Backend>> {
        if args.backend == SIM {
            return Ok(Box::new(Sim::new(args.sim_file, args.sim_seed)));
        }
        let missing = || Error::Usage(format!("there is no backend `{}`", args.backend));
        backend::by_name(&args.backend).ok_or_else(missing)
    };
    crate::worker::serve(backend, args.index, args.parent)?;
    Ok(ExitCode::SUCCESS)
}
