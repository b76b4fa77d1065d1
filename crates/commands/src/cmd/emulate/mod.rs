//! `gpubench emulate`: run a work-group of each kernel on the host, count, and look for mistakes.

mod buffers;
mod show;

use super::choice::{Choice, one_of};
use super::show::{print, width};
use crate::worker::host;
use buffers::{Shown, read_inputs, shown};
use gpubench_core::error::{Error, Result};
use gpubench_core::workload::CaseKey;
use gpubench_emulator::{
    Buffer, Coalescing, Counts, Emulator, Fault, Groups, Instrumentation, Launch, Rules, Seen,
    middle,
};
use gpubench_experiments::plan::{
    Case, Filter, Limits, Planned, emulated_device, emulated_launch, track_outputs,
};
use gpubench_experiments::{initial, load, plan, promised};
use gpubench_report::progress::say;
use gpubench_report::render::json;
use gpubench_suite::Suite;
use serde::Serialize;
use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Arguments of `gpubench emulate`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A suite file, the name of an embedded suite, or a workload of the suite `all`
    #[arg(value_name = "SUITE|WORKLOAD", required = true)]
    what: Vec<String>,
    /// Only cases with this in their name, this tag, or this size (`'n>=512'`); several must all hold
    #[arg(long, value_name = "FILTER")]
    filter: Vec<String>,
    /// Lanes of a warp and of a subgroup; several count by each
    #[arg(long, value_name = "LANES", value_delimiter = ',', default_values_t = [Rules::default().warp])]
    warp: Vec<u32>,
    /// Bytes of one transaction of global memory
    #[arg(long, value_name = "BYTES", default_value_t = Rules::default().transaction)]
    transaction: u32,
    /// How accesses of a warp become transactions
    #[arg(long, value_parser = one_of(COALESCING), value_name = "RULE", default_value = "warp")]
    coalescing: Coalescing,
    /// Banks of local memory
    #[arg(long, value_name = "BANKS", default_value_t = Rules::default().banks)]
    banks: u32,
    /// The work-group to run (default: the one in the middle)
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = group)]
    group: Option<[u32; 3]>,
    /// Run every work-group, and look for races between them
    #[arg(long, conflicts_with = "group")]
    grid: bool,
    /// Longest that one case may take
    #[arg(long, value_name = "SECONDS", value_parser = limit, default_value = "60")]
    limit: Duration,
    /// Seed of the inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Elements of a buffer to print afterwards, such as 'out[0..16]'; several are printed in order
    #[arg(long, value_name = "BUFFER[A..B]", value_parser = buffers::show)]
    show: Vec<(String, Range<u64>)>,
    /// A buffer's contents: little-endian words, as many as it holds
    #[arg(long, value_name = "BUFFER=FILE", value_parser = buffers::input)]
    input: Vec<(String, PathBuf)>,
    /// Print the kernels in WGSL, lines numbered as in messages, instead of running them
    #[arg(long, conflicts_with_all = ["json", "show"])]
    wgsl: bool,
    /// Print JSON: an array of {case, variant, groups, group, seconds, counts, faults, show}, or
    /// {error}
    #[arg(long)]
    json: bool,
}

/// The rules on the command line.
const COALESCING: [Choice<Coalescing>; 3] = [
    ("warp", "Each segment that the warp touches, once", Coalescing::Warp),
    ("half-warp", "Each segment that either half touches, once", Coalescing::HalfWarp),
    ("in-order", "One for a half warp in order, else one a lane", Coalescing::InOrder),
];

/// A limit of time on the command line.
pub(super) fn limit(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let limit = seconds.filter(|limit| !limit.is_zero());
    limit.ok_or_else(|| "a limit is a number of seconds above 0".into())
}

fn group(text: &str) -> Result<[u32; 3], String> {
    let mut group = [0; 3];
    let numbers: Vec<&str> = text.split(',').collect();
    if numbers.len() > 3 {
        return Err("a group has at most three coordinates".into());
    }
    for (to, number) in group.iter_mut().zip(numbers) {
        *to = number.trim().parse().map_err(|_| format!("`{number}` is no coordinate"))?;
    }
    Ok(group)
}

/// The result of one case.
#[derive(Default, Serialize)]
pub(super) struct Emulated {
    /// The case's name.
    case: String,
    /// The variant of the kernel, where there are several: the first.
    variant: String,
    /// Groups of the launch.
    groups: [u32; 3],
    /// The group that was run; none: all, so that races between them were looked for.
    group: Option<[u32; 3]>,
    /// Seconds that running took, without reading the kernel and making its inputs.
    seconds: f64,
    counts: Option<Counts>,
    faults: Vec<Fault>,
    /// Elements that the user asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    show: Vec<Shown>,
    /// Why it could not be run.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Runs the command: code 4 where a kernel is wrong or could not be run.
pub fn run(args: Args) -> Result<ExitCode> {
    match emulate(&args) {
        Err(error) if args.json => {
            print(&json::line(&serde_json::json!({ "error": error.to_string() })))?;
            Ok(super::exit_code(&error))
        }
        result => result,
    }
}

const NOTHING: &str = "no case with a kernel passes the filters";

fn emulate(args: &Args) -> Result<ExitCode> {
    if args.wgsl {
        return numbered(args);
    }
    let mut all = vec![];
    for what in &args.what {
        for case in selected(what, args)? {
            let mut contents = match args.grid {
                true => initial(&case).iter().map(Buffer::from).collect(),
                false => promised(&case),
            };
            read_inputs(&case, &args.input, &mut contents)?;
            for &warp in &args.warp {
                all.push(emulated(&case, &contents, args, warp)?);
            }
        }
    }
    if all.is_empty() {
        return Err(Error::Usage(NOTHING.into()));
    }
    print(&if args.json { json::line(&all) } else { show::text(&all, width()) })?;
    let right = all.iter().all(|one| one.faults.is_empty() && one.error.is_none());
    Ok(if right { ExitCode::SUCCESS } else { ExitCode::from(4) })
}

/// Prints each different text of the kernels that would be run.
fn numbered(args: &Args) -> Result<ExitCode> {
    let mut seen = HashSet::new();
    for what in &args.what {
        for case in selected(what, args)? {
            for kernel in case.candidates[0].kernels() {
                if seen.insert(kernel.text.clone()) {
                    let lines = (1..).zip(kernel.text.lines());
                    let lines: String = lines.map(|(n, line)| format!("{n:4}  {line}\n")).collect();
                    print(&format!("{}:\n{lines}", kernel.origin.file()))?;
                }
            }
        }
    }
    if seen.is_empty() { Err(Error::Usage(NOTHING.into())) } else { Ok(ExitCode::SUCCESS) }
}

/// The cases of a suite, or of a workload of `all`: each kernel at each size once, whatever is
/// measured of it. Of a kernel that cannot be emulated it says why.
fn selected(what: &str, args: &Args) -> Result<Vec<Case>> {
    let (suite, filters) = suite(what, &args.filter)?;
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    let limits =
        Limits { host_memory: host().known_memory(), ..Limits::unbounded(args.seed, cores) };
    let with_kernel = |key: &CaseKey| {
        suite.workloads.iter().any(|w| w.name == key.workload && w.kernel.is_some())
    };
    let passes = |key: &CaseKey, tags: &[String], family: &str| {
        with_kernel(key) && filters.iter().all(|filter| filter.matches(key, tags, family))
    };
    let mut seen = HashSet::new();
    let (mut cases, mut skipped) = (vec![], vec![]);
    let mut is_new = |key: &CaseKey| seen.insert((key.workload.clone(), key.size.clone()));
    for planned in plan(&suite, &emulated_device(), &limits) {
        match planned {
            Planned::Case(case) if case.candidates.is_empty() => {}
            Planned::Case(case)
                if passes(&case.key, &case.tags, &case.family) && is_new(&case.key) =>
            {
                cases.push(*case);
            }
            Planned::Skipped(skip) if passes(&skip.key, &skip.tags, &skip.family) => {
                skipped.push(skip);
            }
            _ => {}
        }
    }
    for skip in skipped {
        if is_new(&skip.key) {
            say(&format!("{} is not emulated: {}", skip.key, skip.reason));
        }
    }
    Ok(cases)
}

/// A suite by its name or file; else `all`, of which only the workload of this name is kept.
fn suite(what: &str, filters: &[String]) -> Result<(Suite, Vec<Filter>)> {
    let filters = filters.iter().map(|text| Filter::parse(text)).collect::<Result<_>>()?;
    let is_file = what.ends_with(".yaml") || Path::new(what).exists();
    if is_file || gpubench_suite::suites().contains(&what) {
        return Ok((load(what)?, filters));
    }
    let mut suite = load("all")?;
    let names: Vec<String> = suite.workloads.iter().map(|w| w.name.clone()).collect();
    let variant = |name: &str| name.strip_prefix(what).is_some_and(|rest| rest.starts_with('/'));
    suite.workloads.retain(|w| w.name == what || variant(&w.name));
    if suite.workloads.is_empty() {
        let known = names.iter().map(String::as_str).chain(gpubench_suite::suites());
        let help = gpubench_suite::suggest(what, known)
            .map_or_else(String::new, |help| format!(": {help}"));
        return Err(Error::Usage(format!("there is no suite or workload `{what}`{help}")));
    }
    Ok((suite, filters))
}

/// Runs one case (its first pass, where it has several). What its kernel lacks is reported with the
/// others; what the command line lacks ends it.
fn emulated(case: &Case, contents: &[Buffer], args: &Args, warp: u32) -> Result<Emulated> {
    let candidate = &case.candidates[0];
    let group = (!args.grid).then(|| args.group.unwrap_or(middle(candidate.groups)));
    let mut one = Emulated {
        case: CaseKey { host_memory: None, ..case.key.clone() }.to_string(),
        variant: candidate.label.clone(),
        groups: candidate.groups,
        group,
        ..Emulated::default()
    };
    let &Args { transaction, banks, coalescing, .. } = args;
    let counts = Some(Rules { warp, transaction, banks, coalescing });
    let subgroup = candidate.kernel.settings.subgroup.unwrap_or(warp);
    let instrumentation = Instrumentation { counts, races: true, limit: args.limit, subgroup };
    match seen(case, contents, group, instrumentation) {
        Ok((seen, seconds, mut launch)) => {
            let elements = |wanted| shown(case, wanted, &mut launch.buffers);
            one.show = args.show.iter().map(elements).collect::<Result<_>>()?;
            one.seconds = seconds;
            one.counts = seen.counts;
            one.faults = seen.faults;
        }
        Err(error @ Error::Usage(_)) => return Err(error),
        Err(Error::OverBudget(why)) => one.error = Some(format!("{why}: --limit sets another")),
        Err(error) => one.error = Some(error.to_string()),
    }
    Ok(one)
}

fn seen(
    case: &Case,
    contents: &[Buffer],
    group: Option<[u32; 3]>,
    instrumentation: Instrumentation,
) -> Result<(Seen, f64, Launch)> {
    let candidate = &case.candidates[0];
    let emulator = Emulator::new(&candidate.kernel)?;
    let mut launch = emulated_launch(candidate, contents.iter().cloned());
    track_outputs(case, &mut launch);
    let begun = Instant::now();
    let mut seen =
        emulator.run(&mut launch, group.map_or(Groups::All, Groups::One), instrumentation)?;
    let seconds = begun.elapsed().as_secs_f64();
    // What one group, or the first of several passes, leaves unwritten is others' to write.
    if group.is_none() && candidate.pass_count() == 1 {
        seen.faults.extend(emulator.never_written(&launch));
    }
    Ok((seen, seconds, launch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_one_to_three_coordinates() {
        assert_eq!(group("3"), Ok([3, 0, 0]));
        assert_eq!(group("3, 4,5"), Ok([3, 4, 5]));
        assert!(group("1,2,3,4").is_err() && group("x").is_err());
    }

    #[test]
    fn a_workload_brings_its_variants() {
        let (suite, _) = suite("matmul_tiled", &[]).unwrap();
        let names: Vec<_> = suite.workloads.iter().map(|w| w.name.as_str()).collect();
        assert_eq!(names, ["matmul_tiled/8x8", "matmul_tiled/16x16", "matmul_tiled/32x32"]);
        let unknown = super::suite("matmul_tield/8x8", &[]).unwrap_err().to_string();
        assert!(unknown.contains("matmul_tiled/8x8"), "{unknown}");
    }
}
