//! What cells say, the same in every format: names, figures, marks, and what flags mean.

use gpubench_analysis::{Aggregate, Rate, ReportInput, Verdict};
use gpubench_core::gpu::{DeviceInfo, DeviceKind};
use gpubench_core::record::{Flag, Grade, Outcome};
use gpubench_core::text::{listed, printable};
use gpubench_core::workload::{CaseKey, Kind};
use gpubench_document::{Figure, Mark, Quantity, Section, Sentence, Unit};
use gpubench_stats::{Basis, Overall};
use std::collections::HashMap;

/// `matmul n=512`, and what of it where it is not the kernel's time.
pub fn case_name(key: &CaseKey) -> String {
    with_kind(printable(&key.to_string(), 200), key)
}

/// `matmul`, and what of it where it is not the kernel's time.
pub fn workload_name(key: &CaseKey, limit: usize) -> String {
    with_kind(printable(&key.workload, limit), key)
}

/// `name`, and what is measured, unless that is the kernel's time or the workload is called so:
/// `launch`, `occupancy/64`.
fn with_kind(name: String, key: &CaseKey) -> String {
    let called = key.workload.split('/').next().unwrap_or_default();
    match key.measure {
        Kind::KERNEL => name,
        kind if called == kind.name() => name,
        kind => format!("{name} ({})", kind.label()),
    }
}

/// `n=512 pinned`.
pub fn size(key: &CaseKey) -> String {
    let mut parts: Vec<String> =
        key.size.iter().map(|(name, value)| format!("{}={value}", printable(name, 20))).collect();
    parts.extend(key.host_memory.map(|kind| kind.label().to_owned()));
    parts.join(" ")
}

/// The sort of device, and whether its figures are a GPU's at all.
pub fn kind_label(device: &DeviceInfo) -> &'static str {
    match device.kind {
        DeviceKind::Discrete => "GPU",
        DeviceKind::Integrated => "integrated GPU",
        DeviceKind::Virtual => "virtual GPU",
        DeviceKind::Cpu => "CPU implementation",
        DeviceKind::Simulated => "simulated: nothing was measured",
        DeviceKind::Imported => "imported: another program measured it",
        DeviceKind::Other => "accelerator",
    }
}

/// A device with its API, and what marks it where it is no GPU.
pub fn device(device: &DeviceInfo) -> Sentence {
    let name = Sentence::new().name(printable(&device.name, 60)).text(" (");
    let name = name.name(printable(&device.backend, 12));
    match device.kind {
        DeviceKind::Cpu => name.text(", CPU implementation)"),
        DeviceKind::Simulated => name.text(", simulated)"),
        DeviceKind::Imported => name.text(", imported)"),
        _ => name.text(")"),
    }
}

/// Adds cases under the reason that they share, most frequent first.
pub fn with_reasons(section: Section, skipped: &[(CaseKey, String)]) -> Section {
    let mut groups: Vec<(&str, Vec<&CaseKey>)> = vec![];
    for (key, reason) in skipped {
        match groups.iter_mut().find(|(known, _)| known == reason) {
            Some((_, keys)) => keys.push(key),
            None => groups.push((reason, vec![key])),
        }
    }
    groups.sort_by_key(|(_, keys)| std::cmp::Reverse(keys.len()));
    groups.into_iter().fold(section, |section, (reason, keys)| {
        let reason = Sentence::from(printable(reason, 200)).text(": ");
        let which = few(keys.iter().map(|key| case_name(key)));
        section.text(reason.value(keys.len() as f64, Unit::Count).text(" × ").name(which))
    })
}

/// The median with its interval.
pub fn time(row: &Aggregate) -> Option<Figure> {
    let time = row.time?;
    let quantity = Quantity::between(time.value, time.interval)?;
    Some(Figure { quantity, unit: Unit::Seconds })
}

/// What an interval was made of, in a word.
pub fn basis(time: &Overall) -> &'static str {
    match time.basis {
        Basis::Round => "round",
        Basis::Drift => "drift",
        Basis::Rounds => "rounds",
        Basis::Device => "device",
    }
}

/// Work per second.
pub fn rate(row: &Aggregate) -> Option<Figure> {
    let rate = row.rate?;
    Figure::new(rate.value(), rate_unit(rate))
}

/// The unit of work per second.
pub fn rate_unit(rate: Rate) -> Unit {
    match rate {
        Rate::Flops(_) => Unit::FlopsPerSecond,
        Rate::Operations(_) => Unit::OperationsPerSecond,
        Rate::Bandwidth(_) => Unit::BytesPerSecond,
    }
}

/// What is to be seen beside a figure; nothing beside a right one.
pub fn mark(row: &Aggregate) -> Option<Mark> {
    match row.outcome {
        outcome if outcome.is_failure() => Some(Mark::Failed),
        _ if row.is_skipped() => None,
        _ if row.grade() == Some(Grade::Hidden) => Some(Mark::Failed),
        _ if row.is_doubtful() => Some(Mark::Warning),
        Outcome::Unchecked => Some(Mark::Unchecked),
        _ => row.time.is_none().then_some(Mark::Verified),
    }
}

/// What stands for a verdict wherever it is shown.
pub fn verdict_sign(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Slower => "▼",
        Verdict::Faster => "▲",
        Verdict::Same => "=",
        Verdict::Unsure { .. } => "?",
    }
}

/// `Compute`.
pub fn capitalised(family: &str) -> String {
    let mut name = printable(family, 40);
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    name
}

/// The flags of a case, each in one word.
pub fn flag_names(row: &Aggregate) -> String {
    row.flags.iter().map(|flag| flag_word(flag)).collect::<Vec<_>>().join(", ")
}

/// A flag in one word.
pub fn flag_word(flag: &Flag) -> &'static str {
    match flag {
        Flag::WarmUpNotSteady => "warm-up not steady",
        Flag::NotConverged => "not converged",
        Flag::Cache => "cache",
        Flag::Implausible(_) => "implausible",
        Flag::WrongVariant(_) => "wrong variant",
        Flag::FatalVariant(_) => "fatal variant",
        Flag::Timestamps(_) => "timestamps",
        Flag::FewSamples => "few samples",
        Flag::Flake(_) => "flake",
        Flag::Throttled(_) => "throttled",
        Flag::Drift(_) => "drift",
        Flag::StillWarm(_) => "still warm",
        Flag::ProfileTolerance(_) => "profile's tolerance",
        Flag::OtherGroup(_) => "other group",
        Flag::BlockingKernel(_) => "blocking kernel",
    }
}

/// A flag and what it means.
pub fn explain(flag: &Flag) -> String {
    format!("{}: {}", flag_word(flag), meaning(flag))
}

fn meaning(flag: &Flag) -> String {
    match flag {
        Flag::WarmUpNotSteady => "warm-up ended before two blocks of samples agreed".into(),
        Flag::NotConverged => "sampling ended before it reached its target".into(),
        Flag::Cache => "the working set is below twice the device's cache".into(),
        Flag::WrongVariant(label) => format!("`{label}` was passed over, its result is wrong"),
        Flag::FatalVariant(which) => format!("passed over, {which}"),
        Flag::FewSamples => "fewer than requested".into(),
        Flag::Flake(how) => format!("the first try ended ({how}), the second did not"),
        Flag::Throttled(why) => format!("the device held its clock back: {why}"),
        Flag::StillWarm(why) => format!("the device had not cooled down: {why}"),
        Flag::ProfileTolerance(which) => {
            format!("the result may differ as the suite declares for {which}")
        }
        Flag::Implausible(why)
        | Flag::Timestamps(why)
        | Flag::Drift(why)
        | Flag::OtherGroup(why)
        | Flag::BlockingKernel(why) => why.clone(),
    }
}

/// How often a case failed, where not in every round: ` in 1 of 3 rounds`.
pub fn how_often(row: &Aggregate) -> String {
    match row.failed {
        (n, of) if (1..of).contains(&n) => format!(" in {n} of {of} rounds"),
        _ => String::new(),
    }
}

/// Rows under a text that they share.
pub type Shared<'r, 'a> = (String, Vec<&'r Aggregate<'a>>);

/// The cases left out, by reason, most frequent first.
pub fn skipped<'r, 'a>(rows: &'r [Aggregate<'a>]) -> Vec<Shared<'r, 'a>> {
    shared(rows.iter().filter_map(|row| match row.outcome {
        Outcome::Unsupported(reason) | Outcome::Skipped(reason) => {
            Some((reason.to_string(), reason.sort(), row))
        }
        _ => None,
    }))
}

/// What of this grade there is to know before believing figures, most frequent first.
pub fn flagged<'r, 'a>(rows: &'r [Aggregate<'a>], grade: Grade) -> Vec<Shared<'r, 'a>> {
    let unchecked = rows
        .iter()
        .filter(|row| grade == Grade::Note && *row.outcome == Outcome::Unchecked)
        .map(|row| (UNCHECKED.to_owned(), UNCHECKED.to_owned(), row));
    let flagged = rows.iter().filter(|row| !row.is_skipped()).flat_map(move |row| {
        // A flag weighs no more than the case that has it: a warning of one round in three is a note.
        let at_most = row.grade();
        let is_of_grade = move |flag: &Flag| Some(flag.grade()).min(at_most) == Some(grade);
        let flags = row.flags.iter().filter(move |flag| is_of_grade(flag));
        flags.map(move |flag| (explain(flag), explain(flag), row))
    });
    shared(unchecked.chain(flagged))
}

/// Grades, the worst first, with what tables of such flags are called.
pub const GRADES: [(Grade, &str); 3] =
    [(Grade::Hidden, "Hidden"), (Grade::Warning, "Warnings"), (Grade::Note, "Notes")];

const UNCHECKED: &str = "unchecked: the suite asks for no verification";

/// Rows together whose texts are of one sort but for their figures; of different texts, the first.
fn shared<'r, 'a>(
    rows: impl Iterator<Item = (String, String, &'r Aggregate<'a>)>,
) -> Vec<Shared<'r, 'a>> {
    let mut groups: Vec<(Shared, bool)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for (text, sort, row) in rows {
        let at = *known.entry(without_figures(&sort)).or_insert_with(|| {
            groups.push(((text.clone(), vec![]), false));
            groups.len() - 1
        });
        let ((first, rows), differ) = &mut groups[at];
        *differ |= *first != text;
        // Rounds may differ in their figures: a row counts once.
        if !rows.last().is_some_and(|last| std::ptr::eq(*last, row)) {
            rows.push(row);
        }
    }
    groups.sort_by_key(|((_, rows), _)| std::cmp::Reverse(rows.len()));
    let named = |((text, rows), differ): (Shared<'r, 'a>, bool)| match differ {
        true => (format!("{text} (in the first of them)"), rows),
        false => (text, rows),
    };
    groups.into_iter().map(named).collect()
}

/// A reason with its figures and their units left out, since they differ from case to case.
fn without_figures(text: &str) -> String {
    const UNITS: [&str; 10] = ["ns", "µs", "ms", "s", "B", "KiB", "MiB", "GiB", "TiB", "min"];
    let is_figure = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.starts_with(|c: char| c.is_ascii_digit()) || UNITS.contains(&word)
    };
    text.split_whitespace().filter(|word| !is_figure(word)).collect::<Vec<_>>().join(" ")
}

/// The first few suites of a report's sources.
pub fn suites(input: &ReportInput) -> String {
    few(input.sources.iter().map(|source| printable(&source.header.suite, 60)))
}

/// The first few of `names`, each once, and how many there are beside them.
pub fn few(names: impl Iterator<Item = String>) -> String {
    const FEW: usize = 4;
    let mut different: Vec<String> = Vec::new();
    for name in names {
        if !different.contains(&name) {
            different.push(name);
        }
    }
    listed(different, FEW)
}

/// How many rows came out how, and of those with a figure what there is to know before believing it:
/// `✓ 12 verified, ! 1 with a warning, 3 with a note, ✗ 0 hidden`.
pub fn counts<'r, 'a: 'r>(rows: impl IntoIterator<Item = &'r Aggregate<'a>> + Clone) -> Sentence {
    let is_hidden = |row: &Aggregate| row.grade() == Some(Grade::Hidden);
    let count = |wanted: &dyn Fn(&Aggregate) -> bool| {
        rows.clone().into_iter().filter(|row| wanted(row)).count()
    };
    let graded = |grade| count(&|row| row.time.is_some() && row.grade() == Some(grade));
    let counts = [
        ("✓ ", count(&|row| row.outcome.is_ok() && !is_hidden(row)), " verified"),
        ("! ", graded(Grade::Warning), " with a warning"),
        ("", graded(Grade::Note), " with a note"),
        ("✗ ", count(&is_hidden), " hidden"),
        ("✗ ", count(&|row| row.outcome.is_failure() && !is_hidden(row)), " failed"),
        ("○ ", count(&|row| *row.outcome == Outcome::Unchecked && !is_hidden(row)), " unchecked"),
        ("", count(&|row| row.is_skipped()), " skipped"),
    ];
    // The grades are counted even where there is none of one.
    let shown = counts.into_iter().enumerate().filter(|(i, (_, n, _))| *i < 4 || *n > 0);
    let one = |(sign, n, what)| Sentence::from(sign).value(n as f64, Unit::Count).text(what);
    Sentence::new().list(", ", shown.map(|(_, count)| one(count)))
}

/// `3 rounds`, or `1–3 rounds` where cases differ.
pub fn rounds(fewest_and_most: [u32; 2]) -> Sentence {
    let said = range(fewest_and_most.map(f64::from));
    said.text(if fewest_and_most == [1, 1] { " round" } else { " rounds" })
}

/// `3`, or `1–3`.
pub fn range([low, high]: [f64; 2]) -> Sentence {
    let one = |n: f64| Sentence::new().value(n, Unit::Count);
    if low == high { one(low) } else { one(low).text("–").then(one(high)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::sample::key;

    #[test]
    fn a_kind_is_said_once() {
        let measured = |workload: &str, kind| CaseKey { measure: kind, ..key(workload, 8) };
        for (workload, kind, expected) in [
            ("matmul", Kind::KERNEL, "matmul"),
            ("matmul", Kind::new("launch"), "matmul (launch)"),
            ("launch", Kind::new("launch"), "launch"),
            ("launches", Kind::new("launch"), "launches (launch)"),
            ("occupancy/64", Kind::new("occupancy"), "occupancy/64"),
            ("transfer", Kind::new("upload"), "transfer (upload)"),
            ("states", Kind::new("transfer-states"), "states (transfer states)"),
        ] {
            let key = measured(workload, kind);
            assert_eq!(workload_name(&key, 60), expected);
            assert_eq!(case_name(&key), expected.replacen(workload, &format!("{workload} n=8"), 1));
        }
    }
}
