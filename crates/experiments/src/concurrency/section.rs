//! What reports say of concurrent kernels: the speedup of every pair as a matrix, how many copies of
//! a kernel really run at once, and what model 7 predicted.

use super::analysis::{
    ConcurrencySummary, PairSummary, PairTally, SlowdownTally, VARIANTS, concurrency, pair_tally,
};
use super::data::Concurrency;
use crate::results::{device_section, measured, modelled_device, rounds};
use gpubench_analysis::{Aggregate, ReportInput, Roof};
use gpubench_document::{Cell, Column, Scale, Section, Sentence, Table, Unit};
use gpubench_model::concurrency::{Case as Start, Device};
use std::collections::{BTreeMap, BTreeSet};

/// A kernel and what ran concurrently with it in the first round that was measured.
struct Case {
    name: String,
    raw: Concurrency,
    summary: ConcurrencySummary,
    /// The pairs of all rounds.
    rounds: Vec<PairSummary>,
}

/// One section a device.
pub(super) fn section(input: &ReportInput) -> Section {
    let section = Section::new("concurrency", "Concurrent kernels").text(
        "Speedup over serial is the sum of both isolated times over the concurrent time: 1 where \
         kernels take turns, 2 where neither slows the other. A is the row's kernel, which was queued \
         first; the darker a cell, the larger the speedup. The second kernel starts with the first \
         (case A), in its last wave (B), or after it (C), as inferred from the ends of both; swapped: \
         the device began the one queued second first.",
    );
    let devices = 0..input.reported_devices.len();
    devices.fold(section, |section, device| {
        let known = Known {
            device: modelled_device(input, device),
            bandwidth: Roof::at_values(measured(input, device)).bandwidth(),
        };
        section.section(of(device_section(input, device), measured(input, device), known))
    })
}

/// What model 7 knows of a device.
#[derive(Clone, Copy)]
struct Known {
    /// What its units hold.
    device: Option<Device>,
    /// Its measured ceiling, in bytes a second.
    bandwidth: Option<f64>,
}

/// `section` with the cases among `rows`, which are one device's.
fn of<'a>(
    section: Section,
    rows: impl Iterator<Item = &'a Aggregate<'a>>,
    known: Known,
) -> Section {
    let cases: Vec<Case> = rows.filter_map(|row| case(row, known)).collect();
    let names = Names::of(&cases);
    let predicted = |case: &Case| case.summary.pairs.iter().all(|pair| pair.expected.is_some());
    let section = section.table(matrix(&cases, &names));
    let section = match pair_tally(cases.iter().flat_map(|case| &case.rounds)) {
        Some(tally) => inputs(tallied(section, &tally), &cases, known),
        None => section,
    };
    let section = match known.device {
        _ if cases.is_empty() => section,
        None => section.note("model 7 predicts nothing: no run shows what a unit holds"),
        Some(_) if cases.iter().all(predicted) => section,
        Some(_) => section.note(
            "model 7 does not predict pairs with a group larger than any that a unit was seen to hold",
        ),
    };
    let pairs = cases.iter().fold(Section::new("pairs", "All pairs").folded(), |section, case| {
        section.section(pairs(case, &names))
    });
    let skipped = Section::new("not_run", "Not run").folded().table(skipped(&cases));
    section.table(copies(&cases, &names)).section(pairs).section(skipped)
}

fn case(row: &Aggregate, known: Known) -> Option<Case> {
    let raw = rounds(row).next()?;
    let summary = |raw: &Concurrency| concurrency(raw, known.device, known.bandwidth);
    let rounds = rounds(row).flat_map(|raw| summary(&raw).pairs).collect();
    let summary = summary(&raw);
    Some(Case { name: row.key.to_string(), raw, summary, rounds })
}

/// The names of all kernels on a device.
struct Names<'a>(BTreeSet<&'a str>);

impl<'a> Names<'a> {
    fn of(cases: &'a [Case]) -> Self {
        let seconds = cases.iter().flat_map(|case| &case.summary.pairs).map(|pair| &pair.second);
        Self(cases.iter().map(|case| &case.name).chain(seconds).map(String::as_str).collect())
    }

    /// `name` without its sizes, unless another has the same workload.
    fn short(&self, name: &str) -> String {
        let workload = |name: &str| name.split(' ').next().map(str::to_owned);
        let alike = self.0.iter().filter(|other| workload(other) == workload(name)).count();
        workload(name).filter(|_| alike == 1).unwrap_or_else(|| name.to_owned())
    }
}

/// Kernels that a matrix has columns for: the table of all pairs has the others too.
const MAX_COLUMNS: usize = 24;

fn matrix(cases: &[Case], names: &Names) -> Table {
    let mut seconds: Vec<&str> = vec![];
    for pair in cases.iter().flat_map(|case| &case.summary.pairs) {
        if seconds.len() < MAX_COLUMNS && !seconds.contains(&pair.second.as_str()) {
            seconds.push(&pair.second);
        }
    }
    let second = |name: &&str| Column::new(name, names.short(name), Unit::Ratio);
    let columns = seconds.iter().map(second);
    let first = Column::text("first", "A (first), with B (second)");
    let title = "Speedup over serial of the row's kernel with the column's";
    let table = Table::new("speedup", title, [first].into_iter().chain(columns));
    let mut table = table.shaded(Scale::Linear, [1.0, 2.0]);
    for case in cases.iter().filter(|case| !case.summary.pairs.is_empty()) {
        let speedup = |second: &&str| {
            let pair = case.summary.pairs.iter().find(|pair| pair.second == *second);
            Cell::from(pair.map(|pair| pair.speedup[0]))
        };
        table.row([names.short(&case.name).into()].into_iter().chain(seconds.iter().map(speedup)));
    }
    table
}

/// How well model 7 predicted all pairs of a device, over all rounds.
fn tallied(section: Section, tally: &PairTally) -> Section {
    let right = Sentence::new().value(tally.right as f64, Unit::Count).text(" of ");
    // What is not known of a pair makes it a miss.
    let right = right.counted(tally.pairs as u64, "pair").text(" (");
    let right = right.value(tally.right as f64 / tally.pairs as f64, Unit::Fraction).text(")");
    let wrong = tally.wrong.iter().map(|&(measured, predicted, n)| {
        let wrong = Sentence::new().counted(n as u64, "pair").text(" ").text(letter(measured));
        wrong.text(", not ").text(letter(predicted))
    });
    let wrong = (!tally.wrong.is_empty()).then(|| Sentence::new().list("; ", wrong));
    let undecided = (tally.undecided > 0).then_some(tally.undecided as u64);
    let section = section
        .fact("right", "case predicted by model 7", right)
        .fact("wrong", "the others are", wrong)
        .fact("undecided", "misses: not measured or not predicted", undecided)
        .table(slowdowns(tally));
    match tally.concurrent {
        0 => section.note("no pair is known to have run concurrently here"),
        _ => section,
    }
}

/// How near each variant of the model came, over all rounds.
fn slowdowns(tally: &PairTally) -> Table {
    let variants = VARIANTS.iter().zip(tally.slowdowns);
    let variants: Vec<(&str, SlowdownTally)> =
        variants.filter_map(|(variant, of)| Some((*variant, of?))).collect();
    let title = "Predicted slowdowns of later kernels: mean error over pairs that are measured and predicted, and \
                 pairs within 10 % of all";
    let columns = [
        Column::names("variant", "variant"),
        Column::new("error", "mean error", Unit::Fraction),
        Column::new("pairs", "over", Unit::Count),
        Column::new("near", "within 10 %", Unit::Fraction),
    ];
    let mut table = Table::new("slowdowns", title, columns);
    for (variant, of) in variants {
        let near = of.near as f64 / tally.pairs as f64;
        table.row([
            variant.to_owned().into(),
            of.error.into(),
            (of.pairs as u64).into(),
            near.into(),
        ]);
    }
    table
}

/// What the predictions took of kernels and device besides the times, or why not.
fn inputs(section: Section, cases: &[Case], known: Known) -> Section {
    let second = cases.iter().flat_map(|case| case.raw.pairs.iter().map(|pair| &pair.second));
    let launched: BTreeMap<&str, Option<u32>> = cases
        .iter()
        .map(|case| &case.raw.kernel)
        .chain(second)
        .map(|launched| (launched.name.as_str(), launched.registers))
        .collect();
    let with = launched.values().flatten().count() as u64;
    let registers = Sentence::new().value(with as f64, Unit::Count).text(" of ");
    let registers = registers.counted(launched.len() as u64, "kernel");
    let registers = match known.device.map(|device| device.unit.registers).filter(|all| *all > 0) {
        Some(all) => registers.text(", a unit has ").value(all.into(), Unit::Count),
        None => registers.text(", which limit nothing: it is not known how many a unit has"),
    };
    let section = section.fact(
        "registers",
        "registers, or private memory in their place, known of",
        registers,
    );
    match known.bandwidth {
        Some(all) => section.figure("bandwidth", "bandwidth, measured", all, Unit::BytesPerSecond),
        None => section.note("contention is not predicted: no ceiling of bandwidth was measured"),
    }
}

fn copies(cases: &[Case], names: &Names) -> Table {
    let columns = [
        Column::text("kernel", "kernel"),
        Column::new("copies", "most copies", Unit::Count),
        Column::new("really", "really at once, about", Unit::Count),
        Column::text("speedup", "copies: speedup over serial"),
    ];
    let mut table = Table::new("copies", "Copies of one kernel at once", columns);
    for case in cases {
        let copies = &case.summary.copies;
        let [_, .., (max_copies, _)] = copies[..] else { continue };
        let really = copies.iter().map(|(_, speedup)| speedup.round()).fold(0.0, f64::max);
        let each = copies.iter().map(|&(n, speedup)| {
            let n = Sentence::new().value(n.into(), Unit::Count).text(": ");
            n.value(speedup, Unit::Ratio)
        });
        let each = Sentence::new().list(", ", each);
        table.row([
            names.short(&case.name).into(),
            u64::from(max_copies).into(),
            really.into(),
            each.into(),
        ]);
    }
    table
}

fn skipped(cases: &[Case]) -> Table {
    let columns = ["first", "second", "reason"].map(|name| Column::text(name, name));
    let mut table = Table::new("skipped", "Pairs that did not run, and why", columns);
    for case in cases {
        for (second, reason) in &case.raw.skipped {
            table.row([&case.name, second, reason].map(|text| text.clone().into()));
        }
    }
    table
}

/// A kernel with all that ran concurrently with it.
fn pairs(case: &Case, names: &Names) -> Section {
    let queues = match case.raw.queues {
        1 => "one queue, in order",
        _ => "a queue each",
    };
    let (mut times, mut starts) = (times_table(), starts_table());
    for pair in &case.summary.pairs {
        let second = || Cell::from(names.short(&pair.second));
        let [isolated, concurrent] = [pair.isolated, pair.concurrent].map(|t| t.map(Cell::from));
        let figures = isolated.into_iter().chain(concurrent).chain(pair.speedup.map(Cell::from));
        times.row([second()].into_iter().chain(figures));
        let slowdown = [0, 1].map(|i| Cell::from(pair.slowdown.map(|slowdown| slowdown[i])));
        let expected = |of: fn(&super::analysis::Expected) -> Cell| pair.expected.as_ref().map(of);
        let case = pair.case.map(|case| match pair.swapped {
            true => Sentence::from(letter(case)).text(", swapped"),
            false => letter(case).into(),
        });
        let variants = (0..VARIANTS.len())
            .map(|variant| Cell::from(pair.expected.and_then(|of| of.slowdown[variant])));
        let predicted = [expected(|expected| letter(expected.case).into()).into()];
        let speedup = [expected(|expected| expected.speedup.into()).into()];
        let seen = [second(), case.into()].into_iter().chain(slowdown);
        starts.row(seen.chain(predicted).chain(variants).chain(speedup));
    }
    Section::new(&case.name, Sentence::new().name(&case.name))
        .fact("queues", "queues", queues)
        .table(times)
        .table(starts)
}

fn times_table() -> Table {
    let columns = [
        Column::text("second", "B"),
        Column::new("a_isolated", "A isolated", Unit::Seconds),
        Column::new("b_isolated", "B isolated", Unit::Seconds),
        Column::new("a_first", "A first", Unit::Seconds),
        Column::new("b_first", "B first", Unit::Seconds),
        Column::new("speedup_a_first", "speedup", Unit::Ratio),
        Column::new("speedup_b_first", "B first", Unit::Ratio),
    ];
    Table::new(
        "times",
        "Isolated, and concurrent with A or B queued first; speedup over serial of both orders",
        columns,
    )
}

fn starts_table() -> Table {
    let seen = [
        Column::text("second", "B"),
        Column::text("case", "case"),
        Column::new("a_slowed", "A slowed", Unit::Ratio),
        Column::new("b_slowed", "B slowed", Unit::Ratio),
        Column::text("case_predicted", "predicted"),
    ];
    let variants = VARIANTS
        .map(|variant| Column::new(variant, variant, Unit::Ratio).under("later one slowed, by"));
    let speedup = [Column::new("speedup_predicted", "speedup", Unit::Ratio)];
    let columns = seen.into_iter().chain(variants).chain(speedup);
    let title = "With A queued first: case and slowdowns, and what model 7 predicts";
    Table::new("starts", title, columns)
}

/// The case's letter.
fn letter(case: Start) -> &'static str {
    match case {
        Start::A => "A",
        Start::B => "B",
        Start::C => "C",
    }
}

#[cfg(test)]
mod tests;
