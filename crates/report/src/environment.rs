//! All that a second person needs to repeat the runs.

use gpubench_analysis::{ReportInput, Source};
use gpubench_core::record::{Header, Host, Record, RemoteHost, Sensed};
use gpubench_document::{Cell, Column, Section, Sentence, Table, Unit};

/// One section a run, without what another program's run does not say; folded where there are several.
pub fn section(input: &ReportInput) -> Section {
    let section = Section::new("environment", "Environment");
    let are_several = input.sources.len() > 1;
    let runs = input.sources.iter().map(run);
    let runs = runs.map(|run| if are_several { run.folded() } else { run });
    runs.fold(section, Section::section)
}

fn run(source: &Source) -> Section {
    let header = source.header;
    let host = &header.host;
    let environment = match host.environment.is_empty() {
        true => Sentence::from("nothing that changes what drivers do"),
        false => host.environment.join(", ").into(),
    };
    let is_own = header.imported.is_empty();
    let measured = if header.verify_only { ", results checked only, nothing measured" } else { "" };
    let remotes: Vec<String> = header.remotes.iter().map(remote).collect();
    let rounds = Sentence::new().value(header.rounds.into(), Unit::Count).text(" planned");
    let filters = (!header.filters.is_empty()).then(|| header.filters.join(", "));
    let imported = (!header.imported.is_empty()).then(|| header.imported.join("; "));
    Section::new(&source.name, source.name.clone())
        .fact("machine", "machine", is_own.then(|| host.name.clone()))
        .fact("processor", "processor", is_own.then(|| processor(host)))
        .figure("memory", "memory", is_own.then_some(host.memory as f64), Unit::Bytes)
        .fact("system", "system", is_own.then(|| system(host)))
        .fact("environment", "environment", is_own.then_some(environment))
        .fact("remotes", "other machines", (!remotes.is_empty()).then(|| remotes.join("; ")))
        .fact("gpubench", "gpubench", header.gpubench.clone())
        .fact("suite", "suite", is_own.then(|| suite(header)))
        .fact("filters", "filters", filters)
        .fact("imported", "imported from", imported)
        .fact("seed", "seed", is_own.then(|| header.seed.to_string()))
        .fact("rounds", "rounds", is_own.then(|| rounds.text(measured)))
        .fact("started", if is_own { "started" } else { "imported" }, header.started.clone())
        .fact("took", "took", is_own.then(|| took(source)))
        .fact("cool_down", "cool-down", cool_down(source))
        .table(sensors(source))
}

fn processor(host: &Host) -> Sentence {
    let cores = Sentence::new().value(host.cores as f64, Unit::Count).text(" logical");
    Sentence::new().name(&host.cpu).text(", ").then(cores)
}

fn system(host: &Host) -> Sentence {
    Sentence::new().name(&host.os).text(", kernel ").name(&host.kernel)
}

fn suite(header: &Header) -> Sentence {
    let hash = header.suite_hash.get(..16).unwrap_or(&header.suite_hash);
    Sentence::new().name(&header.suite).text(", hash ").name(hash)
}

/// How long devices were let cool down before their cases; `None` where they were not.
fn cool_down(source: &Source) -> Option<Sentence> {
    let pauses = source.records.iter().filter_map(|record| record.monitor.cool_down);
    let seconds: Vec<f64> = pauses.map(|pause| pause.seconds).collect();
    let longest = seconds.iter().copied().reduce(f64::max)?;
    let text = Sentence::new().counted(seconds.len() as u64, "pause").text(", in all ");
    let text = text.value(seconds.iter().sum::<f64>(), Unit::Seconds).text(", the longest ");
    Some(text.value(longest, Unit::Seconds))
}

/// What sensors of the devices and of their hosts reported while cases were measured; no row where none did.
fn sensors(source: &Source) -> Table {
    let group = "last while a case was measured";
    let columns = [
        Column::text("of", "sensors of"),
        Column::new("lowest_clock", "lowest clock", Unit::Hertz).under(group),
        Column::new("highest_clock", "highest clock", Unit::Hertz).under(group),
        Column::new("highest_power", "highest power", Unit::Watts).under(group),
        Column::new("highest_temperature", "highest temperature", Unit::Celsius).under(group),
    ];
    let mut table = Table::new("sensors", "Sensors", columns);
    for (place, device) in source.header.devices.iter().enumerate() {
        let label = device.label();
        for (of, pick) in
            [(label.clone(), device_of as Pick), (format!("the host of {label}"), host_of)]
        {
            let records = source.records.iter().filter(|record| record.device == place);
            let sensed: Vec<Sensed> =
                records.map(pick).filter(|sensed| !sensed.is_empty()).collect();
            if !sensed.is_empty() {
                table.row(extremes(of, &sensed));
            }
        }
    }
    table.without_missing()
}

/// One of a record's two sets of sensors.
type Pick = fn(&Record) -> Sensed;

fn device_of(record: &Record) -> Sensed {
    record.monitor.sensors
}

fn host_of(record: &Record) -> Sensed {
    record.monitor.host
}

fn extremes(of: String, sensed: &[Sensed]) -> [Cell; 5] {
    let highest =
        |pick: fn(&Sensed) -> Option<f64>| sensed.iter().filter_map(pick).reduce(f64::max);
    let lowest_clock = sensed.iter().filter_map(|sensed| sensed.hertz).reduce(f64::min);
    [
        Cell::from(of),
        lowest_clock.into(),
        highest(|sensed| sensed.hertz).into(),
        highest(|sensed| sensed.watts).into(),
        highest(|sensed| sensed.celsius).into(),
    ]
}

/// Another machine: what it is called, what it is, and what changes its drivers.
fn remote(remote: &RemoteHost) -> String {
    let host = &remote.host;
    let parts = [&host.name, &host.class(), &host.os, &host.environment.join(", ")];
    let known: Vec<&str> =
        parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    format!("{}: {}", remote.name, known.join(", "))
}

fn took(source: &Source) -> Sentence {
    match source.footer {
        Some(footer) => Sentence::new()
            .value(footer.wall, Unit::Seconds)
            .text(", ")
            .counted(footer.records, "record"),
        None => Sentence::from("unknown: the run was cut short after ")
            .counted(source.records.len() as u64, "record"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::CooledDown;
    use gpubench_core::record::sample::{device, header, key, record};

    fn rows(records: &[Record]) -> String {
        let header = header(vec![device("opencl"), device("vulkan")]);
        let name = "sample.jsonl".into();
        let source = Source { name, header: &header, records, footer: None, warnings: vec![] };
        crate::render::text::section(&section(&ReportInput::new(vec![source])), Some(100))
    }

    #[test]
    fn sensors_of_devices_and_hosts_stand_by_device() {
        let mut records = vec![record(key("a", 1), 1.0), record(key("b", 1), 1.0)];
        assert!(!rows(&records).contains("Sensors"), "nothing was read");
        records[0].monitor.sensors =
            Sensed { hertz: Some(1.8e9), watts: None, celsius: Some(61.0) };
        records[0].monitor.host = Sensed { celsius: Some(48.5), ..Sensed::default() };
        records[1].monitor.sensors =
            Sensed { hertz: Some(1.2e9), watts: None, celsius: Some(83.0) };
        for (record, seconds) in records.iter_mut().zip([12.0, 30.5]) {
            record.monitor.cool_down = Some(CooledDown { seconds, celsius: None });
        }
        let text = rows(&records);
        let found: Vec<&str> =
            text.lines().skip_while(|line| !line.contains("cool-down")).collect();
        insta::assert_snapshot!(found.join("\n"));
    }

    #[test]
    fn of_what_another_program_measured_nothing_is_claimed() {
        let records = [record(key("a", 1), 1.0)];
        let text = |imported: &[&str]| {
            let header = header(vec![device("opencl")]);
            let imported = imported.iter().map(|file| (*file).to_owned()).collect();
            let header = Header { imported, ..header };
            let name = "sample.jsonl".into();
            let source =
                Source { name, header: &header, records: &records, footer: None, warnings: vec![] };
            let input = ReportInput::new(vec![source]);
            let both = [crate::devices::section(&input), section(&input)];
            both.map(|one| crate::render::text::section(&one, Some(200))).concat()
        };
        let own = ["processor", "memory: ", "seed", "rounds", "Suite sample on"];
        let (ours, theirs) = (text(&[]), text(&["t.csv"]));
        assert!(own.iter().all(|fact| ours.contains(fact)), "{ours}");
        let claimed: Vec<_> = own.iter().filter(|fact| theirs.contains(**fact)).collect();
        assert_eq!(claimed, [&"rounds"; 0], "{theirs}");
        assert!(
            theirs.contains("imported from: t.csv") && theirs.contains("other programs"),
            "{theirs}"
        );
    }
}
