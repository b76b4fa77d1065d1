//! All that a second person needs to repeat the runs.

use gpubench_analysis::{ReportInput, Source};
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
        .fact("gpubench", "gpubench", header.gpubench.clone())
        .fact("suite", "suite", Sentence::new().name(&header.suite).text(", hash ").name(hash))
        .fact("filters", "filters", filters)
        .fact("imported", "imported from", imported)
        .fact("seed", "seed", header.seed.to_string())
        .fact("rounds", "rounds", rounds.text(measured))
        .fact("started", "started", header.started.clone())
        .fact("took", "took", took(source))
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
