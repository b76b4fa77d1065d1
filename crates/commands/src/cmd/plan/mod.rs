//! `gpubench plan`: decide from measured costs before a long computation begins.

mod checkpoint;
mod cost;
mod measured;
mod simulated;

use gpubench_core::error::Result;

/// Arguments of `gpubench plan`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// On how many nodes, and when to save, so that failures cost least (model 12)
    Checkpoint(Box<checkpoint::Checkpoint>),
}

/// Runs the command.
pub fn run(args: Args) -> Result<()> {
    let What::Checkpoint(args) = args.what;
    checkpoint::run(&args)
}
