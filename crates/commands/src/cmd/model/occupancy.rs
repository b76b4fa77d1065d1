//! `gpubench model occupancy`: how many groups of a kernel a unit holds, the first part of model 7.

use super::prediction::Prediction;
use gpubench_core::error::{Error, Result};
use gpubench_model::concurrency::Device;
use gpubench_model::occupancy::{Group, Unit};

/// Arguments of `gpubench model occupancy`. The defaults are those of the Tesla K40.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Groups of the launch
    #[arg(long, value_name = "GROUPS", value_parser = clap::value_parser!(u32).range(1..))]
    launch: u32,
    /// Work-items of a group
    #[arg(long, value_name = "ITEMS", value_parser = clap::value_parser!(u32).range(1..))]
    group_size: u32,
    /// Registers of a group; 0 where they do not limit
    #[arg(long, value_name = "N", default_value_t = 0)]
    group_registers: u32,
    /// Bytes of local memory of a group
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    group_local_memory: u32,
    /// Compute units of the device
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    units: u32,
    /// Work-items in a warp
    #[arg(long, default_value_t = Unit::K40.warp, value_parser = clap::value_parser!(u32).range(1..))]
    warp: u32,
    /// Most work-items on a unit
    #[arg(long, default_value_t = Unit::K40.work_items)]
    work_items: u32,
    /// Most groups on a unit
    #[arg(long, default_value_t = Unit::K40.groups)]
    groups: u32,
    /// Registers of a unit
    #[arg(long, default_value_t = Unit::K40.registers)]
    registers: u32,
    /// Bytes of local memory of a unit
    #[arg(long, default_value_t = Unit::K40.local_memory)]
    local_memory: u32,
    /// Local memory is allocated in units of this many bytes
    #[arg(long, default_value_t = Unit::K40.local_piece, value_parser = clap::value_parser!(u32).range(1..))]
    local_piece: u32,
    /// Print JSON: {model, parts}
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let &Args { units, warp, work_items, groups, registers, local_memory, local_piece, .. } = args;
    let unit = Unit { warp, work_items, groups, registers, local_memory, local_piece };
    let group = Group {
        size: args.group_size,
        registers: args.group_registers,
        local_memory: args.group_local_memory,
    };
    let capacity = Device { units, unit }.capacity(group);
    if capacity == 0 {
        return Err(Error::Usage("not even one group fits a unit of this device".into()));
    }
    let (active, waves) =
        (f64::from(unit.active(group)), f64::from(args.launch.div_ceil(capacity)));
    Prediction::of("7 occupancy, Q17 ch. 2")
        .part("warps", f64::from(unit.warps(group)), "", "ceil(S_B/S_W)")
        .part("active", active, "groups of a unit", "ch. 2: the scarcest resource")
        .part("occupancy", unit.occupancy(group), "", "ch. 2: active warps/most warps")
        .part("waves", waves, "", "ceil(groups/(active·N_SM))")
        .show(args.json)
}
