//! What reports say of concurrent kernels: the speedup of every pair as a matrix, how many copies of
//! a kernel really run at once, and what model 7 predicted.

use super::analysis::{
    ConcurrencySummary, PairSummary, PairTally, VARIANTS, concurrency, pair_tally,
};
use super::data::Concurrency;
use crate::results::{device_section, measured, modelled_device, rounds};
use gpubench_analysis::{Aggregate, ReportInput, Roof};
use gpubench_document::{Column, Scale, Section, Sentence, Table, Unit};
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
    let title = "Speedup over serial of the row's kernel with the column's";
    Table::of("speedup", title, cases.iter().filter(|case| !case.summary.pairs.is_empty()))
        .column(Column::text("first", "A (first), with B (second)"), |case| names.short(&case.name))
        .columns(
            seconds,
            |name| Column::new(name, names.short(name), Unit::Ratio),
            |case, second| {
                let pair = case.summary.pairs.iter().find(|pair| pair.second == *second);
                pair.map(|pair| pair.speedup[0])
            },
        )
        .table()
        .shaded(Scale::Linear, [1.0, 2.0])
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
    let title = "Predicted slowdowns of later kernels: mean error over pairs that are measured and predicted, and \
                 pairs within 10 % of all";
    let variants = VARIANTS.into_iter().zip(tally.slowdowns);
    let variants = variants.filter_map(|(variant, of)| Some((variant, of?)));
    Table::of("slowdowns", title, variants)
        .column(Column::names("variant", "variant"), |(variant, _)| *variant)
        .column(Column::new("error", "mean error", Unit::Fraction), |(_, of)| of.error)
        .column(Column::new("pairs", "over", Unit::Count), |(_, of)| of.pairs as u64)
        .column(Column::new("near", "within 10 %", Unit::Fraction), |(_, of)| {
            of.near as f64 / tally.pairs as f64
        })
        .table()
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
    let several = cases.iter().filter_map(|case| match case.summary.copies[..] {
        [_, .., (max_copies, _)] => Some((case, max_copies)),
        _ => None,
    });
    let each = |&(n, speedup): &(u32, f64)| {
        let n = Sentence::new().value(n.into(), Unit::Count).text(": ");
        n.value(speedup, Unit::Ratio)
    };
    Table::of("copies", "Copies of one kernel at once", several)
        .column(Column::text("kernel", "kernel"), |(case, _)| names.short(&case.name))
        .column(Column::new("copies", "most copies", Unit::Count), |(_, max)| u64::from(*max))
        .column(Column::new("really", "really at once, about", Unit::Count), |(case, _)| {
            case.summary.copies.iter().map(|(_, speedup)| speedup.round()).fold(0.0, f64::max)
        })
        .column(Column::text("speedup", "copies: speedup over serial"), |(case, _)| {
            Sentence::new().list(", ", case.summary.copies.iter().map(each))
        })
        .table()
}

fn skipped(cases: &[Case]) -> Table {
    let skipped = cases.iter().flat_map(|case| case.raw.skipped.iter().map(move |of| (case, of)));
    Table::of("skipped", "Pairs that did not run, and why", skipped)
        .column(Column::text("first", "first"), |(case, _)| case.name.clone())
        .column(Column::text("second", "second"), |(_, (second, _))| second.clone())
        .column(Column::text("reason", "reason"), |(_, (_, reason))| reason.clone())
        .table()
}

/// A kernel with all that ran concurrently with it.
fn pairs(case: &Case, names: &Names) -> Section {
    let queues = match case.raw.queues {
        1 => "one queue, in order",
        _ => "a queue each",
    };
    Section::new(&case.name, Sentence::new().name(&case.name))
        .fact("queues", "queues", queues)
        .table(times(&case.summary.pairs, names))
        .table(starts(&case.summary.pairs, names))
}

fn times(pairs: &[PairSummary], names: &Names) -> Table {
    let title =
        "Isolated, and concurrent with A or B queued first; speedup over serial of both orders";
    let seconds = |key, title| Column::new(key, title, Unit::Seconds);
    Table::of("times", title, pairs)
        .column(Column::text("second", "B"), |pair| names.short(&pair.second))
        .column(seconds("a_isolated", "A isolated"), |pair| pair.isolated[0])
        .column(seconds("b_isolated", "B isolated"), |pair| pair.isolated[1])
        .column(seconds("a_first", "A first"), |pair| pair.concurrent[0])
        .column(seconds("b_first", "B first"), |pair| pair.concurrent[1])
        .column(Column::new("speedup_a_first", "speedup", Unit::Ratio), |pair| pair.speedup[0])
        .column(Column::new("speedup_b_first", "B first", Unit::Ratio), |pair| pair.speedup[1])
        .table()
}

fn starts(pairs: &[PairSummary], names: &Names) -> Table {
    let title = "With A queued first: case and slowdowns, and what model 7 predicts";
    let ratio = |key, title| Column::new(key, title, Unit::Ratio);
    Table::of("starts", title, pairs)
        .column(Column::text("second", "B"), |pair| names.short(&pair.second))
        .column(Column::text("case", "case"), |pair| {
            pair.case.map(|case| match pair.swapped {
                true => Sentence::from(letter(case)).text(", swapped"),
                false => letter(case).into(),
            })
        })
        .column(ratio("a_slowed", "A slowed"), |pair| pair.slowdown.map(|of| of[0]))
        .column(ratio("b_slowed", "B slowed"), |pair| pair.slowdown.map(|of| of[1]))
        .column(Column::text("case_predicted", "predicted"), |pair| {
            pair.expected.map(|of| letter(of.case))
        })
        .columns(
            VARIANTS.into_iter().enumerate(),
            |(_, variant)| ratio(variant, variant).under("later one slowed, by"),
            |pair, (i, _)| pair.expected.and_then(|of| of.slowdown[*i]),
        )
        .column(ratio("speedup_predicted", "speedup"), |pair| pair.expected.map(|of| of.speedup))
        .table()
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
