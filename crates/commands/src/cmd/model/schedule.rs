//! `gpubench model schedule`: model 9 from the three stages of a divisible problem.

use super::prediction::Prediction;
use super::transfer_states::read_states;
use crate::cmd::number::{at_least_zero, share};
use gpubench_core::error::{Error, Result};
use gpubench_model::equal_devices::SharedLink;
use gpubench_model::pipeline::Engines;
use gpubench_model::schedule::{Class, Heavy, Plan, Problem};
use gpubench_model::schedule_rules;
use gpubench_model::schedule_search::search;
use gpubench_model::streams::Stages;
use gpubench_model::transfer::Duplex;
use std::path::{Path, PathBuf};

/// Arguments of `gpubench model schedule`. Each stage is that of the whole problem, isolated.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// D_s/S_S: uploading
    #[arg(long, value_name = "SECONDS", value_parser = at_least_zero)]
    upload: f64,
    /// T_k: the kernel
    #[arg(long, value_name = "SECONDS", value_parser = at_least_zero)]
    kernel: f64,
    /// D_r/R_R: downloading
    #[arg(long, value_name = "SECONDS", value_parser = at_least_zero)]
    download: f64,
    /// Copy engines: 0 overlaps nothing, 1 one copy with a kernel, 2 one a direction
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(..=2))]
    engines: u32,
    /// t_sync: the cost of a command
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = at_least_zero)]
    command: f64,
    /// S_SR/S_S: what is left of the rate of uploads while both run
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = share, conflicts_with = "states")]
    upload_duplex: f64,
    /// R_SR/R_R: what is left of the rate of downloads while both run
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = share, conflicts_with = "states")]
    download_duplex: f64,
    /// The smallest part, as a share of the problem
    #[arg(long, value_name = "SHARE", default_value_t = 0.01, value_parser = share)]
    smallest: f64,
    /// Share the problem among equal devices with these rates: a file as for transfer-states
    #[arg(long, value_name = "FILE")]
    states: Option<PathBuf>,
    /// Print JSON: {model, parts}
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let whole = Stages { upload: args.upload, kernel: args.kernel, download: args.download };
    if whole.serial() <= 0.0 {
        return Err(Error::Usage("a problem takes more than 0 seconds".into()));
    }
    let duplex = Duplex { upload: args.upload_duplex, download: args.download_duplex };
    let engines = Engines { count: args.engines, command: args.command, duplex };
    let alone = Problem { whole, engines, smallest: args.smallest };
    let link = args.states.as_deref().map(shared_link).transpose()?;
    let problem = link.map_or(alone, |link| Problem {
        whole: link.share(whole),
        engines: Engines { duplex: link.duplex, ..engines },
        ..alone
    });
    let class = Class::of(problem.whole);
    let (planned, found) = (schedule_rules::plan(&problem), search(&problem));
    let serial = Plan::equal(1).makespan(&alone);
    let rule = planned.makespan(&problem);
    let no_partition = if link.is_some() { "no partition, one device" } else { "no partition" };
    let mut prediction = Prediction::of("9 schedule, C13 §4.1, §4.2");
    if let Some(link) = link {
        prediction = each_device(prediction, link.devices, problem.whole);
    }
    prediction = prediction
        .part("class", class.label(), "", "§4.1")
        .part("rule", equations(class), "", "§4.2")
        .part("parts", planned.sizes.clone(), "of the problem", "§4.2")
        .seconds("stepwise", planned.stepwise(&problem), "Σ t_i + (m + 2)·t_sync")
        .seconds("rule_seconds", rule, "the rule's parts in a pipeline, ours")
        .seconds("serial", serial, no_partition);
    for (parts, count) in [("equal_10", 10), ("equal_100", 100), ("equal_1000", 1000)] {
        prediction =
            prediction.seconds(parts, Plan::equal(count).makespan(&problem), "equal parts");
    }
    prediction
        .seconds("search", found.seconds, "ours")
        .part("search_parts", found.plan.sizes, "of the problem", "ours")
        .seconds("lower_bound", problem.lower_bound(), "the longest stage")
        .part("speedup", serial / rule, "", "of the rule, over no partition")
        .part("max_speedup", serial / problem.lower_bound(), "", "of the lower bound")
        .show(args.json)
}

/// The link of a file's equal devices.
fn shared_link(file: &Path) -> Result<SharedLink> {
    let (states, _) = read_states(file)?;
    SharedLink::of(&states).ok_or_else(|| {
        let file = file.display();
        Error::Usage(format!(
            "{file}: equal devices need the states of one and of all of them uploading and downloading, and of all \
             doing both, with equal rates"
        ))
    })
}

/// What one of several devices has of the problem; what follows is of that part.
fn each_device(prediction: Prediction, devices: usize, each: Stages) -> Prediction {
    prediction
        .part("devices", devices as f64, "", "equal shares; §4.3.2 by our reading")
        .seconds("each_upload", each.upload, "D_s/n at the rate while all upload")
        .seconds("each_kernel", each.kernel, "T_k/n")
        .seconds("each_download", each.download, "D_r/n at the rate while all download")
}

fn equations(class: Class) -> &'static str {
    match (class.kernel_bound, class.heavy) {
        (true, Heavy::Upload) => "grow by S_S·T_k/D_s, download all last",
        (true, Heavy::Download) => "upload all first, shrink by R_R·T_k/D_r",
        (true, Heavy::General) => "grow while H ≤ kernel, shrink by R_R·T_k/D_r",
        (false, Heavy::Upload) => "shrink by what takes least in steps",
        (false, Heavy::Download) => "grow while kernel ≤ H, then as long as the download",
        (false, Heavy::General) => "equal parts",
    }
}
