//! `gpubench serve`: measure whatever browser opens a page.

use super::report::{self, Shown};
use super::run::{self, interrupt};
use super::show::{show, warnings};
use super::{Cli, Command, results};
use crate::store::{Run, baseline};
use crate::worker::page;
use clap::Parser;
use gpubench_core::error::{Error, Result};
use gpubench_device::browser::{BROWSER, Hub};
use gpubench_experiments::registry::load;
use gpubench_report::formats::FORMATS;
use gpubench_report::progress::say;
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;
use std::collections::HashSet;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Arguments of `gpubench serve`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A suite file, or the name of an embedded suite
    #[arg(default_value = "quick")]
    suite: String,
    /// The port to listen at, on this machine's loopback address (default: any that is free)
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// End after the first run (default: wait for the next page)
    #[arg(long)]
    once: bool,
    /// What the page shows with its own results: the same cases of this folder's baselines
    #[arg(long, value_name = "FOLDER", default_value_os_t = baseline::readable_folder())]
    baselines: PathBuf,
    /// Options of `gpubench run`, behind `--`
    #[arg(last = true, value_name = "OPTION")]
    options: Vec<String>,
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    // Mistakes in the options and in the suite are to be seen before somebody opens the page.
    run_options(&args)?;
    load(&args.suite)?;
    interrupt::listen();
    let hub = page::hub(args.port)?;
    announce(hub);
    let mut seen = 0;
    loop {
        seen = wait(hub, seen);
        let (code, files) = match run::runs(run_options(&args)?) {
            // The next page may do better.
            Err(error @ (Error::NoDevice | Error::DeviceLost(_))) if !args.once => {
                show(&error);
                continue;
            }
            other => other?,
        };
        if code != interrupt::EXIT {
            publish(hub, &files, &args.baselines)?;
        }
        if args.once || code == interrupt::EXIT {
            return Ok(ExitCode::from(code));
        }
        // A page that was reloaded in the middle of the run has been measured in it.
        seen = seen.max(hub.page());
        say("waiting for the next page (Ctrl-C ends)");
    }
}

/// What `gpubench run` takes, for the suite on the browser.
fn run_options(args: &Args) -> Result<run::Args> {
    let fixed = ["gpubench", "run", &args.suite, "--device", BROWSER];
    let line = fixed.into_iter().chain(args.options.iter().map(String::as_str));
    let usage = |error: clap::Error| Error::Usage(error.to_string().trim_end().to_owned());
    match Cli::try_parse_from(line).map_err(usage)?.command {
        Command::Run(run) => Ok(run),
        _ => Err(Error::Usage("the options are those of `gpubench run`".into())),
    }
}

/// Has the page show the results that these files hold, with those of the baselines.
fn publish(hub: &Hub, files: &[PathBuf], baselines: &Path) -> Result<()> {
    let html = FORMATS.iter().find(|format| format.name == "html").unwrap_or(&FORMATS[0]);
    let mut runs = results::open_all(files)?;
    // What a person has measured is shown whatever becomes of the rest.
    let (others, flaws) = baseline::list(baselines).unwrap_or_else(|flaw| (vec![], vec![flaw]));
    warnings(&flaws);
    let others = same_cases(&runs, others);
    runs.extend(others);
    hub.results(&report::text(runs, html, &Shown::default(), &[])?);
    Ok(())
}

/// Of `others`, the cases that are among the page's `own`; runs without any are no neighbours.
fn same_cases(own: &[Run], mut others: Vec<Run>) -> Vec<Run> {
    let cases: HashSet<_> =
        own.iter().flat_map(|run| &run.records).map(|record| &record.key).collect();
    for run in &mut others {
        run.records.retain(|record| cases.contains(&record.key));
    }
    others.retain(|run| !run.records.is_empty());
    others
}

/// Says where the page is; on a terminal in a QR code too.
pub(super) fn announce(hub: &Hub) {
    let address = hub.page_address();
    say(&format!("open in a browser with WebGPU: {address}"));
    if std::io::stderr().is_terminal()
        && let Ok(code) = QrCode::new(&address)
    {
        let (dark, light) = (Dense1x2::Light, Dense1x2::Dark);
        eprintln!("{}", code.render::<Dense1x2>().dark_color(dark).light_color(light).build());
    }
}

/// Waits for a page with a number above `seen`; an interruption ends the process, since nothing has begun.
pub(super) fn wait(hub: &Hub, seen: u64) -> u64 {
    const SLICE: Duration = Duration::from_millis(200);
    interrupt::waiting(true);
    loop {
        if let Some(number) = hub.wait(seen, SLICE) {
            interrupt::waiting(false);
            return number;
        }
        if interrupt::asked() {
            std::process::exit(i32::from(interrupt::EXIT));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::DeviceInfo;
    use gpubench_core::record::sample::{device, header, key, record};

    /// A run of a device that measured these workloads.
    fn run_of(name: &str, workloads: &[&str]) -> Run {
        let measured = DeviceInfo { name: name.into(), ..device("wgpu") };
        let records = workloads.iter().map(|workload| record(key(workload, 64), 1.0)).collect();
        Run { path: name.into(), header: header(vec![measured]), records, ..Run::default() }
    }

    #[test]
    fn a_page_has_the_same_cases_of_the_baselines_and_no_others() {
        let own = [run_of("own", &["a", "b", "c"])];
        let others = vec![run_of("x", &["z", "b", "y", "a"]), run_of("y", &["z"])];
        let shown = same_cases(&own, others);
        let names: Vec<_> = shown.iter().map(|run| run.header.devices[0].name.as_str()).collect();
        assert_eq!(names, ["x"]);
        let cases: Vec<_> =
            shown[0].records.iter().map(|record| record.key.workload.as_str()).collect();
        assert_eq!(cases, ["b", "a"]);
    }

    #[test]
    fn options_are_those_of_run() {
        let of = |options: &[&str]| {
            let options = options.iter().map(|&option| option.to_owned()).collect();
            let (suite, baselines) = ("quick".into(), baseline::readable_folder());
            run_options(&Args { suite, port: 0, once: true, baselines, options })
        };
        assert!(of(&["--verify", "--filter", "fma"]).is_ok());
        let error = of(&["--nonsense"]).unwrap_err().to_string();
        assert!(error.contains("--nonsense"), "{error}");
    }
}
