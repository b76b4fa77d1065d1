//! What reports say of it: how the APIs of a GPU differ by group, and every figure.

use super::{Figure, Line, Ratio, Uncompared, lines, physical_views, uncompared};
use crate::results::quantity;
use gpubench_analysis::ReportInput;
use gpubench_core::gpu::{BoundsChecks, Clock};
use gpubench_document::{Cell, Column, Section, Sentence, Table, Unit};

/// One section for every physical GPU that was measured through several APIs.
pub fn section(input: &ReportInput) -> Section {
    let section = Section::new("apis", "What the APIs cost").text(
        "The same cases on one GPU through each of its APIs. A ratio is of times that were read from the same clock: \
         below 1 the first API is faster. Of several cases it is the geometric mean, and its interval the scatter \
         between them; of one, the interval is that of its two times. Kernels are compared in the same variant and \
         with the same checks. Commands are recorded before the clock starts; OpenCL records none, and its times hold \
         enqueueing them. By Vulkan the end is polled on a GPU; other APIs wait for it as their drivers do. A first \
         build is the run's first of its kernel; a further one may come from the driver's cache.",
    );
    physical_views(input).iter().fold(section, |section, card| section.section(of(input, card)))
}

fn of(input: &ReportInput, card: &[usize]) -> Section {
    let lines = lines(input, card);
    let views = card.iter().map(|&view| &input.reported_devices[view]);
    let names: Vec<&str> = views.map(|view| view.device.backend.as_str()).collect();
    let first = &input.reported_devices[card[0]];
    let others = Sentence::new().list(
        ", ",
        card[1..].iter().map(|&view| Sentence::new().name(&input.reported_devices[view].name)),
    );
    let title = Sentence::new().name(&first.name).text(" beside ").then(others);
    let all = Section::new("all", "All figures")
        .folded()
        .table(figures(&lines, &names))
        .table(not_compared(&uncompared(input, card), &names));
    Section::new(&first.label, title).table(groups(&lines, &names)).section(all)
}

/// Every two APIs, the later over the earlier.
fn pairs(names: &[&str]) -> Vec<[usize; 2]> {
    let behind = |of: usize| (0..of).map(move |over| [of, over]);
    (0..names.len()).flat_map(behind).collect()
}

fn ratio_column([of, over]: [usize; 2], names: &[&str]) -> Column {
    let title = format!("{} / {}", names[of], names[over]);
    Column::new(&title, Sentence::new().name(&title), Unit::Ratio)
}

/// The groups in the order of their first line.
fn groups(lines: &[Line], names: &[&str]) -> Table {
    let mut groups: Vec<&str> = vec![];
    for line in lines {
        if !groups.contains(&line.group.as_str()) {
            groups.push(&line.group);
        }
    }
    Table::of("ratios", "How the APIs differ", groups)
        .column(Column::text("what", "what"), |group| group.to_string())
        .columns(
            pairs(names),
            |pair| ratio_column(*pair, names),
            |group, pair| {
                let of = lines.iter().filter(|line| line.group == *group);
                let each: Vec<Ratio> = of.filter_map(|line| ratio(line, *pair)).collect();
                cell(Ratio::mean(&each))
            },
        )
        .table()
}

fn figures(lines: &[Line], names: &[&str]) -> Table {
    Table::of("figures", "Median times, each with its 95 % interval", lines)
        .column(Column::text("what", "what"), |line| line.group.clone())
        .column(Column::text("case", "case"), |line| line.what.clone())
        .columns(
            names.iter().enumerate(),
            |(_, name)| Column::new(name, Sentence::new().name(**name), Unit::Seconds),
            |line, (i, _)| line.figures[*i].and_then(|of| quantity(of.seconds, of.interval)),
        )
        .column(Column::text("clock", "clock"), |line| clocks(line))
        .columns(
            pairs(names),
            |pair| ratio_column(*pair, names),
            |line, pair| cell(ratio(line, *pair)),
        )
        .table()
}

/// What runs as no other API runs it.
fn not_compared(uncompared: &[Uncompared], names: &[&str]) -> Table {
    let title = "Not compared: no other API ran this variant with these checks";
    Table::of("not_compared", title, uncompared)
        .column(Column::text("case", "case"), |of| of.case.clone())
        .column(Column::text("API", "API"), |of| names[of.api].to_owned())
        .column(Column::text("variant", "variant"), |of| {
            (!of.variant.is_empty()).then(|| of.variant.clone())
        })
        .column(Column::text("bounds checks", "bounds checks"), |of| {
            of.bounds_checks.map(|checks| match checks {
                BoundsChecks::On => "on",
                BoundsChecks::Off => "off",
            })
        })
        .table()
}

fn ratio(line: &Line, [of, over]: [usize; 2]) -> Option<Ratio> {
    line.figures[of]?.over(&line.figures[over]?)
}

fn cell(ratio: Option<Ratio>) -> Cell {
    ratio.and_then(|of| quantity(of.value, of.interval)).into()
}

/// The clock of a line's figures; where they differ, each.
fn clocks(line: &Line) -> String {
    let name = |figure: &Figure| match figure.clock {
        Clock::Device => "device",
        Clock::Host => "host",
        Clock::Simulated => "simulated",
    };
    let mut names: Vec<&str> = line.figures.iter().flatten().map(name).collect();
    let all_equal = names.windows(2).all(|pair| pair[0] == pair[1]);
    names.truncate(if all_equal { 1 } else { names.len() });
    names.join(", ")
}
