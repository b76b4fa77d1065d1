//! `gpubench profile`: what devices cost, part by part.

use super::known::of_run;
use super::results;
use super::show::{print, text};
use gpubench_core::error::{Error, Result};
use gpubench_core::record::profile::Profile;
use gpubench_report::profile::section;
use gpubench_report::render::json::json;
use std::path::PathBuf;

/// Arguments of `gpubench profile`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Runs of the suite `characterise` or baselines with it: files, or folders of them
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Only this device, as `opencl:0`
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Write the profile of one device as JSON, which `predict` reads
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: Args) -> Result<()> {
    let runs = results::open_all(&args.runs)?;
    let mut profiles: Vec<Profile> =
        runs.iter().flat_map(|run| of_run(&run.header, &run.records)).collect();
    if profiles.is_empty() {
        return Err(Error::Usage(
            "nothing here characterises a device: `gpubench run characterise` does".into(),
        ));
    }
    if let Some(wanted) = &args.device {
        let names: Vec<String> = profiles.iter().map(|profile| profile.device.label()).collect();
        profiles.retain(|profile| profile.device.label() == *wanted);
        if profiles.is_empty() {
            let names = names.join(", ");
            return Err(Error::Usage(format!("there is no `{wanted}` here, but {names}")));
        }
    }
    if !args.json {
        let all: Vec<String> = profiles.iter().map(|profile| text(&section(profile))).collect();
        return print(&all.join("\n"));
    }
    let [only] = profiles.as_slice() else {
        let names: Vec<String> = profiles.iter().map(|profile| profile.device.label()).collect();
        return Err(Error::Usage(format!(
            "--json writes one device's profile, and there are {}: choose with --device",
            names.join(", ")
        )));
    };
    print(&json(only))
}
