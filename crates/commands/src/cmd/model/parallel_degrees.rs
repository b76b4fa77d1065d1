//! `gpubench model parallel-degrees`: model 5 from the periods of one warp.

use super::prediction::Prediction;
use crate::cmd::number::{above_zero, at_least_zero};
use gpubench_core::error::Result;
use gpubench_model::parallel_degrees::{Access, Device, Period, Shape};

/// Arguments of `gpubench model parallel-degrees`. The shape is that of the GeForce GTX 260.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// N_act: active warps of a unit
    #[arg(long, value_name = "WARPS", value_parser = clap::value_parser!(u32).range(1..))]
    active: u32,
    /// c_i,m_i: cycles of computing and then of memory of one warp; once a period, in their order
    #[arg(long, value_name = "C,M", required = true, value_parser = period)]
    period: Vec<Period>,
    /// The periods follow one another this many times
    #[arg(long, value_name = "TIMES", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    repeat: u32,
    /// GPU_bw: bytes a cycle of global memory
    #[arg(long, value_name = "BYTES", value_parser = above_zero)]
    bandwidth: f64,
    /// N_SM: units of the device
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    units: u32,
    /// m: most warps on a unit
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    warps: u32,
    /// a,b,c,d: how the compute parallel degree bends
    #[arg(long, value_name = "A,B,C,D", default_value = "3,11,0.5,80", value_parser = shape)]
    shape: Shape,
    /// N_thread: work-items of a warp that take part in an access
    #[arg(long, value_name = "ITEMS", default_value_t = 32.0, value_parser = above_zero)]
    access_items: f64,
    /// D_mem: bytes for each of them
    #[arg(long, value_name = "BYTES", default_value_t = 4.0, value_parser = above_zero)]
    access_bytes: f64,
    /// N_trans: transactions that it becomes
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = above_zero)]
    transactions: f64,
    /// t_mem: cycles of one transaction
    #[arg(long, value_name = "CYCLES", value_parser = above_zero)]
    transaction: f64,
    /// Print JSON: {model, parts}
    #[arg(long)]
    json: bool,
}

/// The numbers of an option that takes `N`, separated by commas.
fn numbers<const N: usize>(text: &str, expected: &str) -> Result<[f64; N], String> {
    let parts = text.split(',').map(at_least_zero).collect::<Result<Vec<f64>, _>>()?;
    parts.try_into().map_err(|_| format!("{expected} are expected"))
}

fn period(text: &str) -> Result<Period, String> {
    let [compute, memory] = numbers(text, "two numbers, C,M,")?;
    Ok(Period { compute, memory })
}

fn shape(text: &str) -> Result<Shape, String> {
    let [a, b, c, d] = numbers(text, "four numbers, A,B,C,D,")?;
    Ok(Shape { a, b, c, d })
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let &Args { bandwidth, units, warps, shape, .. } = args;
    let device = Device { bandwidth, units, warps, shape };
    let access = Access {
        work_items: args.access_items,
        bytes: args.access_bytes,
        transactions: args.transactions,
        cycles: args.transaction,
    };
    let periods = args.period.repeat(args.repeat as usize);
    let cycles = device.cycles(args.active, access, &periods);
    let share = Period::sum(&periods).share();
    let degree = device.compute_degree(args.active, share);
    let computing: f64 =
        periods.iter().map(|now| (f64::from(args.active) * now.compute / degree).ceil()).sum();
    Prediction::of("5 parallel degrees, C13 ch. 3")
        .part("warp_bandwidth", access.warp_bandwidth(), "B/cycle", "3.1")
        .part("mpd", f64::from(device.memory_degree(args.active, access)), "warps", "3.2")
        .part("share", share, "", "P, 3.3")
        .part("cpd", degree, "warps", "3.4 to 3.6")
        .part("computing", computing, "cycles", "3.7")
        .part("waiting", cycles - computing, "cycles", "3.8 to 3.14")
        .part("cycles", cycles, "cycles", "the sum of both")
        .show(args.json)
}
