//! The commands, grouped by what a person wants to do.

use clap::{Command, CommandFactory, FromArgMatches};
use gpubench_core::error::Error;
use std::fmt::Write;
use std::io::{ErrorKind, Write as _};

/// What people want, and the commands for it in the order of their use.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Measure", &["run", "serve", "tune", "ring", "halo", "recover", "devices", "doctor"]),
    ("Read and compare results", &["report", "rank", "compare", "baseline", "export", "import"]),
    ("Write suites of your own", &["new", "check", "references", "schema"]),
    (
        "Explain and predict",
        &["profile", "portrait", "trace", "emulate", "fit", "predict", "evaluate", "model", "plan"],
    ),
    ("Set up", &["completions", "man"]),
];

/// The command line with its commands in groups.
pub fn command() -> Command {
    let command = super::Cli::command();
    let template = template(&command);
    command.help_template(template).disable_help_subcommand(false)
}

/// Reads the command line; `--help`, `--version` and mistakes end the process, as clap does it.
pub(super) fn parse() -> super::Cli {
    let matches = command().try_get_matches();
    let parsed = matches.and_then(|matches| super::Cli::from_arg_matches(&matches));
    parsed.unwrap_or_else(|error| end(&error))
}

/// As clap ends a process, but help that could not be printed is no success.
fn end(error: &clap::Error) -> ! {
    let printed = error.print().and_then(|()| std::io::stdout().flush());
    match printed {
        Err(io) if !error.use_stderr() && io.kind() != ErrorKind::BrokenPipe => {
            super::show::show(&Error::io("stdout", io));
            std::process::exit(2)
        }
        _ => std::process::exit(error.exit_code()),
    }
}

fn template(command: &Command) -> String {
    let mut text = "{about}\n\n{usage-heading} {usage}\n".to_owned();
    let shown: Vec<&Command> = command.get_subcommands().filter(|c| !c.is_hide_set()).collect();
    let width = shown.iter().map(|c| c.get_name().len()).max().unwrap_or(0);
    for (title, commands) in groups(&shown) {
        let _ = writeln!(text, "\n{title}:");
        for command in commands {
            let about = command.get_about().map_or_else(String::new, ToString::to_string);
            let _ = writeln!(text, "  {:width$}  {about}", command.get_name());
        }
    }
    text + "\nOptions:\n{options}\n\n`gpubench help COMMAND` explains a command.{after-help}\n"
}

/// The groups that have commands here; those of no group come last.
fn groups<'c>(shown: &[&'c Command]) -> Vec<(&'static str, Vec<&'c Command>)> {
    let find = |name: &&str| shown.iter().copied().find(|c| c.get_name() == *name);
    let mut groups: Vec<(&str, Vec<&Command>)> = GROUPS
        .iter()
        .map(|(title, names)| (*title, names.iter().filter_map(find).collect()))
        .collect();
    let known = |c: &&Command| GROUPS.iter().any(|(_, names)| names.contains(&c.get_name()));
    groups.push(("Other", shown.iter().copied().filter(|c| !known(c)).collect()));
    groups.retain(|(_, commands)| !commands.is_empty());
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_its_place() {
        let command = super::super::Cli::command();
        let shown: Vec<&Command> = command.get_subcommands().filter(|c| !c.is_hide_set()).collect();
        let groups = groups(&shown);
        let other = groups.iter().find(|(title, _)| *title == "Other");
        let names =
            other.map(|(_, commands)| commands.iter().map(|c| c.get_name()).collect::<Vec<_>>());
        assert_eq!(names, None, "put it into a group");
        let placed: usize = groups.iter().map(|(_, commands)| commands.len()).sum();
        assert_eq!(placed, shown.len());
        let help = super::command().render_help().to_string();
        for command in shown {
            assert!(help.contains(&format!("\n  {} ", command.get_name())), "{help}");
        }
        assert!(help.contains("--color") && help.contains("7 nothing could be compared"));
        let template = template(&command);
        let mut lines = template.lines().chain(super::super::EXIT_CODES.lines());
        assert!(lines.all(|line| line.chars().count() <= 80), "{help}");
    }
}
