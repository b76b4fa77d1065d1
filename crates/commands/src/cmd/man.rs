//! `gpubench man`: write the manual pages.

use super::show::print;
use gpubench_core::error::{Error, Result};
use std::path::PathBuf;

/// Arguments of `gpubench man`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// An existing folder, such as `~/.local/share/man/man1`
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Writes one page a command.
pub fn run(args: Args) -> Result<()> {
    let io = |error| Error::io(&args.folder, error);
    // The grouped listing of `--help` has no place in a page: each command has its own.
    let command = <super::Cli as clap::CommandFactory>::command();
    clap_mangen::generate_to(command, &args.folder).map_err(io)?;
    print(&format!("manual pages are in {}\n", args.folder.display()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_command_has_a_page() {
        let folder = tempfile::tempdir().unwrap();
        super::run(super::Args { folder: folder.path().to_owned() }).unwrap();
        let page = std::fs::read_to_string(folder.path().join("gpubench-report.1")).unwrap();
        assert!(page.contains(".TH") && page.contains("include") && page.contains("pull request"));
        assert!(folder.path().join("gpubench.1").exists());
        assert!(!folder.path().join("gpubench-worker.1").exists());
    }
}
