//! `gpubench trace`: the timeline of a case, for Perfetto.

use super::results;
use super::show::print;
use crate::store::{Run, replace};
use gpubench_analysis::aggregate_numbered;
use gpubench_core::error::{Error, Result};
use gpubench_core::record::{Header, Record, Recorded, measured_rounds};
use gpubench_core::text::{counted, printable};
use gpubench_experiments::registry::recorded;
use gpubench_report::labels::case_name;
use gpubench_report::progress::say;
use gpubench_report::render::json;
use gpubench_report::trace::trace;
use gpubench_suite::closest_matches;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Measures that keep the steps of what they run, for the message where one does not.
const WITH_TIMELINE: &str = "kernel, overlap, schedule and concurrency";

/// Arguments of `gpubench trace`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A result file
    run: PathBuf,
    /// The case: its name as in the report, or words that only its name contains
    /// (`sepia n=1024`); not needed where only one case has a timeline
    #[arg(long)]
    case: Option<String>,
    /// Only this device, as in the report (`opencl:0`) or by a part of its name
    #[arg(long, short)]
    device: Option<String>,
    /// The round, from 1 on (default: the first that has a timeline)
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    round: Option<u32>,
    /// The file to write; `-` is stdout
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// `Usage` where the run has no such case, several, or one without a timeline.
pub fn run(args: Args) -> Result<()> {
    let run = results::open(&args.run)?;
    let asked = asked(&run, args.device.as_deref(), args.round)?;
    let case = choose(&asked, args.case.as_deref())?;
    let recordings = recordings(&run.header, &asked, &case);
    let text = json::line(&trace(&case, &recordings));
    if args.output == Path::new("-") {
        print(&text)?;
    } else {
        replace(&args.output, &text)?;
        let path = args.output.display();
        say(&format!(
            "{case}: {} recordings in {path}; open it in ui.perfetto.dev",
            recordings.len()
        ));
    }
    Ok(())
}

/// The records of the device and the round requested.
fn asked<'a>(run: &'a Run, device: Option<&str>, round: Option<u32>) -> Result<Vec<&'a Record>> {
    let of_device = |record: &Record| {
        let Some(wanted) = device else { return true };
        let Some(info) = run.header.devices.get(record.device) else { return false };
        info.label() == wanted || info.name.to_lowercase().contains(&wanted.to_lowercase())
    };
    let of_round = |record: &Record| round.is_none_or(|round| record.round + 1 == round);
    let found: Vec<_> = run.records.iter().filter(|r| of_device(r) && of_round(r)).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let devices = run.header.devices.iter();
    let devices: Vec<_> =
        devices.map(|d| format!("  {}  {}", d.label(), printable(&d.name, 60))).collect();
    Err(Error::Usage(format!(
        "no record of that device and round; the run has {} in {} on\n{}",
        counted(run.records.len(), "record"),
        counted(measured_rounds(&run.records)[1] as usize, "round"),
        devices.join("\n")
    )))
}

/// The name of the case that `wanted` means among `records`.
fn choose(records: &[&Record], wanted: Option<&str>) -> Result<String> {
    let names = |of: &dyn Fn(&Record) -> bool| {
        let mut names: Vec<String> = vec![];
        for record in records.iter().filter(|record| of(record)) {
            let name = case_name(&record.key);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    };
    let drawn = names(&|record| !recorded(record).is_empty());
    let Some(wanted) = wanted else {
        return one(&drawn, &drawn, "a case");
    };
    let shown = format!("case `{}`", printable(wanted, 80));
    let is_it = |record: &Record| {
        let (name, key) = (case_name(&record.key), record.key.to_string());
        name.eq_ignore_ascii_case(wanted) || key.eq_ignore_ascii_case(wanted)
    };
    let terms: Vec<String> = wanted.to_lowercase().split_whitespace().map(str::to_owned).collect();
    let has_terms = |record: &Record| {
        let name = case_name(&record.key).to_lowercase();
        terms.iter().all(|term| name.contains(term.as_str()))
    };
    let mut found = names(&is_it);
    if found.is_empty() {
        found = names(&has_terms);
    }
    if found.is_empty() {
        let all = names(&|_| true);
        let near = closest_matches(wanted, all.iter().map(String::as_str), 5);
        return Err(Error::Usage(format!("the run has no {shown}; near to it are{}", list(&near))));
    }
    let with: Vec<String> = found.iter().filter(|name| drawn.contains(name)).cloned().collect();
    if with.is_empty() {
        let cases = aggregate_numbered(records.iter().map(|record| (record.device, *record)));
        let outcome = cases.iter().find(|case| found.contains(&case_name(case.key)));
        let outcome = outcome.map_or("", |case| case.outcome.label());
        return Err(without(
            &format!("case `{}`, outcome: {outcome},", found.join("`, `")),
            &drawn,
        ));
    }
    one(&with, &drawn, &shown)
}

/// The only one of `found`.
fn one(found: &[String], drawn: &[String], what: &str) -> Result<String> {
    match found {
        [only] => Ok(only.clone()),
        [] => Err(without("the run", drawn)),
        several => Err(Error::Usage(format!("{what} may be any of{}", list(several)))),
    }
}

/// The mistake of asking for the timeline of what keeps none.
fn without(what: &str, drawn: &[String]) -> Error {
    let here = match drawn.is_empty() {
        true => "; this run has none of theirs whose steps a clock distinguished".to_owned(),
        false => format!("; in this run{}", list(drawn)),
    };
    Error::Usage(format!(
        "{what} has no timeline: measures that keep one are {WITH_TIMELINE}{here}"
    ))
}

/// Names one a line, as many as a reader looks at.
fn list(names: &[impl Display]) -> String {
    const MAX_NAMES: usize = 20;
    let mut text: String = names.iter().take(MAX_NAMES).map(|name| format!("\n  {name}")).collect();
    if names.len() > MAX_NAMES {
        text += &format!("\n  and {} more", names.len() - MAX_NAMES);
    }
    text
}

/// The recordings of `case` on every device, of the first round each that has any.
fn recordings(header: &Header, records: &[&Record], case: &str) -> Vec<Recorded> {
    let mut all = vec![];
    for (number, device) in header.devices.iter().enumerate() {
        let of = records.iter().filter(|r| r.device == number && case_name(&r.key) == case);
        let kept = of.map(|record| recorded(record)).find(|kept| !kept.is_empty());
        let owner = format!("{} {}", device.label(), printable(&device.name, 60));
        for recording in kept.unwrap_or_default() {
            let name = format!("{owner}: {}", recording.name);
            all.push(Recorded { name, ..recording });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::Clock;
    use gpubench_core::record::{Detail, NamedStep, Timed, sample};
    use gpubench_core::workload::Kind;

    /// A record of a schedule, which keeps its one step.
    fn drawn(workload: &str, n: i64) -> Record {
        let mut record = sample::record(sample::key(workload, n), 1.0);
        record.key.measure = Kind::new("schedule");
        let step = NamedStep { name: "upload 0".into(), queue: 0, started: 0.0, ended: 1.0 };
        let timed = Timed { walls: vec![1.0], steps: vec![step] };
        let schedule = gpubench_experiments::schedule::sample::schedule(
            Clock::Simulated,
            vec![("search", timed)],
        );
        record.detail = Some(Detail::new(&schedule));
        record
    }

    fn chosen(records: &[Record], wanted: Option<&str>) -> Result<String, String> {
        let records: Vec<&Record> = records.iter().collect();
        choose(&records, wanted).map_err(|error| error.to_string())
    }

    #[test]
    fn a_case_is_found_by_its_name_or_by_a_part_of_it() {
        let records = [
            drawn("sepia", 512),
            drawn("sepia", 1024),
            sample::record(sample::key("sepia", 1), 1.0),
        ];
        for wanted in ["sepia n=512 (schedule)", "SEPIA N=512", "sep 512"] {
            assert_eq!(chosen(&records, Some(wanted)).unwrap(), "sepia n=512 (schedule)");
        }
        let several = chosen(&records, Some("sepia")).unwrap_err();
        assert!(several.contains("n=512") && several.contains("n=1024"), "{several}");
        assert!(!several.contains("n=1\n"), "what has no timeline is no choice: {several}");
        let unsaid = chosen(&records, None).unwrap_err();
        assert!(unsaid.contains("a case may be any of"), "{unsaid}");
        assert_eq!(chosen(&records[..1], None).unwrap(), "sepia n=512 (schedule)");
    }

    #[test]
    fn what_is_not_there_is_helped_with() {
        let records = [drawn("sepia", 512), sample::record(sample::key("matmul", 64), 1.0)];
        let unknown = chosen(&records, Some("sepai")).unwrap_err();
        assert!(
            unknown.contains("no case `sepai`") && unknown.contains("sepia n=512"),
            "{unknown}"
        );
        let without = chosen(&records, Some("matmul")).unwrap_err();
        assert!(without.contains("kernel, overlap, schedule and concurrency"), "{without}");
        assert!(without.contains("in this run\n  sepia n=512 (schedule)"), "{without}");
        let none = chosen(&records[1..], None).unwrap_err();
        assert!(none.contains("the run has no timeline"), "{none}");
    }
}
