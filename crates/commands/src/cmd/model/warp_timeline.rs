//! `gpubench model warp-timeline`: model 4 from the times of one warp.

use super::prediction::Prediction;
use crate::cmd::number::at_least_zero;
use gpubench_core::error::{Error, Result};
use gpubench_model::warp_timeline::{Barriers, Launch, Residency, Unit, Warp};

/// Arguments of `gpubench model warp-timeline`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// S_G: groups of the launch
    #[arg(long, value_name = "GROUPS", value_parser = clap::value_parser!(u32).range(1..))]
    launch: u32,
    /// S_B: work-items of a group
    #[arg(long, value_name = "ITEMS", value_parser = clap::value_parser!(u32).range(1..))]
    group_size: u32,
    /// Bytes of local memory of a group; 0 where it does not limit
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    group_local_memory: u32,
    /// Registers of a group; 0 where they do not limit
    #[arg(long, value_name = "N", default_value_t = 0)]
    group_registers: u32,
    /// N_SM: units of the device
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    units: u32,
    /// S_W: work-items in a warp
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..))]
    warp: u32,
    /// N_RBmax: most groups on a unit
    #[arg(long)]
    groups: u32,
    /// N_RWmax: most warps on a unit
    #[arg(long)]
    warps: u32,
    /// M_max: bytes of local memory of a unit
    #[arg(long, default_value_t = u32::MAX, hide_default_value = true)]
    local_memory: u32,
    /// R_max: registers of a unit
    #[arg(long, default_value_t = u32::MAX, hide_default_value = true)]
    registers: u32,
    /// T_M: memory latency of one warp, in total
    #[arg(long, value_name = "SECONDS", value_parser = at_least_zero)]
    memory: f64,
    /// T_C: computation of one warp, in total
    #[arg(long, value_name = "SECONDS", value_parser = at_least_zero)]
    compute: f64,
    /// T_ML: latency of the last memory instruction
    #[arg(long, value_name = "SECONDS", value_parser = at_least_zero)]
    last_memory: f64,
    /// T_CL: computation after the last memory instruction
    #[arg(long, value_name = "SECONDS", value_parser = at_least_zero)]
    last_compute: f64,
    /// N_syn: barriers
    #[arg(long, value_name = "N", default_value_t = 0)]
    barriers: u32,
    /// T_syn: one barrier
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = at_least_zero)]
    barrier: f64,
    /// T_Msyn: latency before a barrier
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = at_least_zero)]
    barrier_memory: f64,
    /// T_Csyn: computation before a barrier
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = at_least_zero)]
    barrier_compute: f64,
    /// Print JSON: {model, parts}
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let launch = Launch {
        groups: args.launch,
        group_size: args.group_size,
        local_memory: args.group_local_memory,
        registers: args.group_registers,
    };
    let &Args { units, warp, groups, warps, local_memory, registers, .. } = args;
    let resident =
        Unit { units, warp, groups, warps, local_memory, registers }
            .residency(launch)
            .ok_or_else(|| Error::Usage("not even one group fits a unit of this device".into()))?;
    let &Args { memory, compute, last_memory, last_compute, .. } = args;
    if last_memory > memory || last_compute > compute {
        let why = "the part in or after the last memory instruction is longer than the whole";
        return Err(Error::Usage(why.into()));
    }
    let warp = Warp { memory, compute, last_memory, last_compute };
    let barriers = Barriers {
        count: args.barriers,
        seconds: args.barrier,
        memory: args.barrier_memory,
        compute: args.barrier_compute,
    };
    let (seconds, without) =
        (warp.seconds(resident, barriers), warp.seconds(resident, Barriers::default()));
    let hidden = f64::from(resident.warps) >= warp.warps_to_hide();
    let Residency { groups, warps, rounds } = resident;
    Prediction::of("4 warp timeline, L14 ch. 4")
        .part("resident_groups", f64::from(groups), "", "N_RB, floors (printed as ceilings)")
        .part("resident_warps", f64::from(warps), "", "N_RW = ceil(N_RB·S_B/S_W)")
        .part("rounds", f64::from(rounds), "", "N_P = ceil(N_B/N_RB)")
        .part("warps_to_hide", warp.warps_to_hide(), "", "ceil((T_M − T_ML)/(T_C − T_CL)) + 1")
        .part("latency", if hidden { "hidden" } else { "not hidden" }, "", "4.5 or 4.6")
        .seconds("without_barriers", without, if hidden { "4.5" } else { "4.6" })
        .seconds("barriers", seconds - without, if hidden { "4.7" } else { "4.8" })
        .seconds("seconds", seconds, "the sum of both")
        .show(args.json)
}
