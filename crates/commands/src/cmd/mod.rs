//! One file a command: read arguments, call, print.

mod baseline;
mod check;
mod choice;
mod compare;
mod compile;
mod completions;
mod devices;
mod doctor;
mod emulate;
mod evaluate;
mod export;
mod file_limits;
mod fit;
mod found;
pub mod halo;
pub mod help;
mod import;
mod known;
mod man;
mod model;
pub mod mpi;
mod new;
mod number;
mod plan;
mod portrait;
mod predict;
mod predicted_ranking;
mod profile;
mod rank;
mod recover;
mod references;
mod relay;
mod remotes;
mod report;
mod results;
pub mod ring;
mod run;
mod scaling;
mod schema;
mod serve;
mod show;
mod trace;
mod tune;
mod unchanged;
mod worker;

use clap::Parser;
use gpubench_core::error::{Error, Result};
use gpubench_report::progress::Stderr;
use std::process::ExitCode;

const EXIT_CODES: &str = "\
Exit codes: 0 done; 1 slower, 5 missing, 6 unsure (`compare --fail-on`);
2 a mistake in the command line or a file; 3 no usable device; 4 a case failed
or nothing could be run; 7 nothing could be compared; 130 interrupted (the run
can be resumed).";

/// Measures GPUs of any vendor, explains what it measured, and ranks them.
#[derive(Debug, Parser)]
#[command(name = "gpubench", version, arg_required_else_help = true, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Colour: always, never, or auto (on a terminal, unless NO_COLOR is set)
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        hide_possible_values = true
    )]
    color: show::Color,
}

/// Declares commands: each a module with its `Args` and `run`, which returns a `Result` of an exit code, or of nothing
/// for success.
macro_rules! commands {
    (
        fn dispatch($command:ident: $taken:ty);
        $($(#[$about:meta])* $name:ident: $module:ident,)*
    ) => {
        #[derive(Debug, clap::Subcommand)]
        enum Command { $($(#[$about])* $name($module::Args),)* }

        fn dispatch($command: $taken) -> Result<ExitCode> {
            match $command {
                $(Command::$name(args) => {
                    $module::run(args).map(std::process::Termination::report)
                })*
            }
        }
    };
}
use commands;

commands! {
    fn dispatch(command: Command);

    /// Run a suite on every device and write its results
    Run: run,
    /// Run a suite in whatever browser opens a page
    Serve: serve,
    /// List the devices of this machine, one row per device and API
    Devices: devices,
    /// Explain why a device is missing, and what to install
    Doctor: doctor,
    /// Show what runs measured, as a page, a table or data
    Report: report,
    /// Compare a run with a baseline or another run, case by case
    Compare: compare,
    /// Keep what a device can do, to compare later runs with
    Baseline: baseline,
    /// Order devices by speed over the cases that all of them got right
    Rank: rank,
    /// Write records for data frames and other programs
    Export: export,
    /// Read what other programs measured: Kernel Tuner, SHOC, any table
    Import: import,
    /// Check suite files, launching nothing
    Check: check,
    /// Write a suite for a kernel that exists
    New: new,
    /// List the references that verify results, and what each wants
    References: references,
    /// Print the JSON schema of a suite, or of a report
    Schema: schema,
    /// Print a completion script for a shell
    Completions: completions,
    /// Write a case's timeline for Perfetto
    Trace: trace,
    /// Write the manual pages
    Man: man,
    /// Run a work-group of a kernel on the host: count, find mistakes
    Emulate: emulate,
    /// Fit models to runs, and evaluate them on what the fits never saw
    Fit: fit,
    /// Predict a suite's times on devices that runs describe
    Predict: predict,
    /// Show what instructions, memory, barriers and launches cost
    Profile: profile,
    /// Show what devices can do, in one look and side by side
    Portrait: portrait,
    /// Evaluate a published model on parameters or a CSV of measurements
    Model: model,
    /// Multiply matrices over the ranks of an MPI job
    Ring: ring,
    /// Compute waves over the ranks of an MPI job, exchanging halos
    Halo: halo,
    /// Plan a long computation from measured costs
    Plan: plan,
    /// Kill iterations at random moments, to see them go on from files
    Recover: recover,
    /// Hold models against a recorded space, by a device's data sheet
    Evaluate: evaluate,
    /// Search for a kernel's fastest variant
    Tune: tune,
    /// Own devices and serve cases (started by `run`)
    #[command(hide = true)]
    Worker: worker,
    /// Serve a run in another machine (started by `run --on`)
    #[command(hide = true)]
    Relay: relay,
}

/// Reads the command line, does what it says, and reports what went wrong on stderr.
pub fn main() -> ExitCode {
    listen();
    file_limits::as_errors();
    let Cli { command, color } = help::parse();
    show::set_color(color);
    show::show_mistakes_of_panics();
    match dispatch(command) {
        Ok(code) => code,
        Err(error) => {
            show::show(&error);
            if matches!(error, Error::NoDevice) {
                doctor::explain();
            }
            exit_code(&error)
        }
    }
}

/// What the library notes besides results goes to stderr; `GPUBENCH_LOG=debug` shows more.
fn listen() {
    use tracing_subscriber::filter::{LevelFilter, Targets};
    use tracing_subscriber::{fmt, prelude::*, registry};
    let wanted = std::env::var(crate::worker::LOG).ok().and_then(|wanted| wanted.parse().ok());
    let wanted = wanted.unwrap_or_else(|| Targets::new().with_default(LevelFilter::WARN));
    registry().with(wanted).with(fmt::layer().with_writer(|| Stderr)).init();
}

/// 2 for the user's mistakes, 3 without a device, 7 where two results have nothing in common, 4 for everything that failed at run time.
fn exit_code(error: &Error) -> ExitCode {
    ExitCode::from(match error {
        Error::Suite(_) | Error::Usage(_) | Error::Io { .. } => 2,
        Error::NoDevice => 3,
        Error::NothingCompared(_) => compare::NOTHING_COMPARED,
        _ => 4,
    })
}

/// For commands that share their work among threads.
///
/// # Errors
/// `OutOfMemory` where the system gives this process none.
fn require_threads() -> Result<()> {
    match gpubench_stats::threads::are_there() {
        true => Ok(()),
        false => Err(Error::OutOfMemory(
            "the system gives this process no threads: raise its limits (ulimit -u, ulimit -v, or the container's)".into(),
        )),
    }
}

/// The book of evidence is carried to machines where nobody can mend it.
#[test]
fn the_commands_of_the_book_of_evidence_are_ones() {
    #[derive(serde::Deserialize)]
    struct Book {
        capabilities: Vec<Capability>,
    }
    #[derive(serde::Deserialize)]
    struct Capability {
        #[serde(default)]
        steps: Vec<Step>,
    }
    #[derive(serde::Deserialize)]
    struct Step {
        command: String,
    }
    let text = include_str!("../../../../docs/evidence.yaml");
    let book: Book = gpubench_core::yaml::parse("evidence.yaml", text).unwrap();
    let commands: Vec<String> =
        book.capabilities.into_iter().flat_map(|one| one.steps).map(|step| step.command).collect();
    assert!(commands.len() > 50, "{} commands", commands.len());
    for command in commands {
        let line = std::iter::once("gpubench").chain(command.split_whitespace());
        if let Err(error) = Cli::try_parse_from(line) {
            panic!("{command}: {error}");
        }
    }
}
