//! All that a second person needs to repeat the runs.

use gpubench_analysis::{ReportInput, Source};
use gpubench_core::record::RemoteHost;
use gpubench_document::{Section, Sentence, Unit};

/// One section a run.
pub fn section(input: &ReportInput) -> Section {
    let section = Section::new("environment", "Environment");
    input.sources.iter().map(run).fold(section, Section::section)
}

fn run(source: &Source) -> Section {
    let header = source.header;
    let host = &header.host;
    let environment = match host.environment.is_empty() {
        true => Sentence::from("nothing that changes what drivers do"),
        false => host.environment.join(", ").into(),
    };
    let measured = if header.verify_only { ", results checked only, nothing measured" } else { "" };
    let hash = header.suite_hash.get(..16).unwrap_or(&header.suite_hash);
    let cores = Sentence::new().value(host.cores as f64, Unit::Count).text(" logical");
    let remotes: Vec<String> = header.remotes.iter().map(remote).collect();
    let rounds = Sentence::new().value(header.rounds.into(), Unit::Count).text(" planned");
    let filters = (!header.filters.is_empty()).then(|| header.filters.join(", "));
    let imported = (!header.imported.is_empty()).then(|| header.imported.join("; "));
    Section::new(&source.name, source.name.clone())
        .fact("machine", "machine", host.name.clone())
        .fact("processor", "processor", Sentence::new().name(&host.cpu).text(", ").then(cores))
        .figure("memory", "memory", host.memory as f64, Unit::Bytes)
        .fact(
            "system",
            "system",
            Sentence::new().name(&host.os).text(", kernel ").name(&host.kernel),
        )
        .fact("environment", "environment", environment)
        .fact("remotes", "other machines", (!remotes.is_empty()).then(|| remotes.join("; ")))
        .fact("gpubench", "gpubench", header.gpubench.clone())
        .fact("suite", "suite", Sentence::new().name(&header.suite).text(", hash ").name(hash))
        .fact("filters", "filters", filters)
        .fact("imported", "imported from", imported)
        .fact("seed", "seed", header.seed.to_string())
        .fact("rounds", "rounds", rounds.text(measured))
        .fact("started", "started", header.started.clone())
        .fact("took", "took", took(source))
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
