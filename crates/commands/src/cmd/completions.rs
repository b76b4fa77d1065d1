//! `gpubench completions`: print a completion script for a shell.

use super::show::print;
use clap::CommandFactory;
use clap_complete::Shell;
use gpubench_core::error::Result;

/// Arguments of `gpubench completions`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    shell: Shell,
}

/// Prints the script.
pub fn run(args: Args) -> Result<()> {
    let mut script = vec![];
    clap_complete::generate(args.shell, &mut super::Cli::command(), "gpubench", &mut script);
    print(&String::from_utf8_lossy(&script))
}
