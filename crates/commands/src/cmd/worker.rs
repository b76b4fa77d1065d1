//! `gpubench worker`: own devices and serve cases (started by `run`).

use crate::worker::{Wanted, serve};
use gpubench_core::error::{Error, Result};
use gpubench_device::Backend;
use gpubench_device::sim::{SIM, Sim};
use std::path::PathBuf;

/// Arguments of `gpubench worker`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// List the devices of a backend
    #[arg(long, value_name = "BACKEND")]
    list: Option<String>,
    /// The devices to own; several begin at the same moment
    #[arg(long, value_name = "BACKEND:INDEX", value_parser = device)]
    device: Vec<(String, usize)>,
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

/// A device as `BACKEND:INDEX`.
pub(super) fn device(text: &str) -> Result<(String, usize), String> {
    let parts = text.split_once(':').and_then(|(name, index)| Some((name, index.parse().ok()?)));
    let parts = parts.map(|(name, index)| (name.to_owned(), index));
    parts.ok_or_else(|| "expected a backend and a number, such as opencl:0".into())
}

/// Runs the command.
pub fn run(args: Args) -> Result<()> {
    let parent = args.parent;
    serve(|| wanted(args), parent)
}

fn wanted(args: Args) -> Result<Wanted> {
    let Args { list, mut device, sim_file, sim_seed, .. } = args;
    let sim = Sim::new(sim_file, sim_seed);
    let backend = |name: &str| -> Result<Box<dyn Backend>> {
        if name == SIM {
            return Ok(Box::new(sim.clone()));
        }
        let missing = || Error::Usage(format!("there is no backend `{name}`"));
        gpubench_device::by_name(name).ok_or_else(missing)
    };
    match (list, device.pop()) {
        (Some(name), _) => Ok(Wanted::List(backend(&name)?)),
        (None, Some((name, index))) if device.is_empty() => Ok(Wanted::One(backend(&name)?, index)),
        (None, Some(last)) => {
            device.push(last);
            Ok(Wanted::Several(device, sim))
        }
        (None, None) => Err(Error::Usage("a worker needs something to own or to list".into())),
    }
}
