//! What reports say of it: how the APIs of a GPU differ by group, and every figure.

use super::{Figure, Line, Ratio, Uncompared, lines, physical_views, uncompared};
use gpubench_analysis::ReportInput;
use gpubench_core::gpu::{BoundsChecks, Clock};
use gpubench_document::{Cell, Column, Quantity, Section, Sentence, Table, Unit};

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

fn ratio_columns(names: &[&str]) -> Vec<Column> {
    let column = |[of, over]: [usize; 2]| {
        let title = format!("{} / {}", names[of], names[over]);
        Column::new(&title, Sentence::new().name(&title), Unit::Ratio)
    };
    pairs(names).into_iter().map(column).collect()
}

/// The groups in the order of their first line.
fn groups(lines: &[Line], names: &[&str]) -> Table {
    let mut groups: Vec<&str> = vec![];
    for line in lines {
        if !groups.contains(&line.group.as_str()) {
            groups.push(&line.group);
        }
    }
    let columns = [Column::text("what", "what")].into_iter().chain(ratio_columns(names));
    let mut table = Table::new("ratios", "How the APIs differ", columns);
    for group in groups {
        let of: Vec<&Line> = lines.iter().filter(|line| line.group == group).collect();
        let ratios = pairs(names).into_iter().map(|pair| {
            let each: Vec<Ratio> = of.iter().filter_map(|line| ratio(line, pair)).collect();
            cell(Ratio::mean(&each))
        });
        table.row([group.to_owned().into()].into_iter().chain(ratios));
    }
    table
}

fn figures(lines: &[Line], names: &[&str]) -> Table {
    let columns = [Column::text("what", "what"), Column::text("case", "case")];
    let seconds =
        names.iter().map(|name| Column::new(name, Sentence::new().name(*name), Unit::Seconds));
    let clock = Column::text("clock", "clock");
    let columns = columns.into_iter().chain(seconds).chain([clock]).chain(ratio_columns(names));
    let mut table = Table::new("figures", "Median times, each with its 95 % interval", columns);
    for line in lines {
        let seconds = line
            .figures
            .iter()
            .map(|figure| Cell::from(figure.and_then(|of| quantity(of.seconds, of.interval))));
        let ratios = pairs(names).into_iter().map(|pair| cell(ratio(line, pair)));
        let what = [line.group.clone().into(), line.what.clone().into()];
        table.row(what.into_iter().chain(seconds).chain([clocks(line).into()]).chain(ratios));
    }
    table
}

/// What runs as no other API runs it.
fn not_compared(uncompared: &[Uncompared], names: &[&str]) -> Table {
    let columns = ["case", "API", "variant", "bounds checks"];
    let columns = columns.map(|title| Column::text(title, title));
    let title = "Not compared: no other API ran this variant with these checks";
    let mut table = Table::new("not_compared", title, columns);
    for Uncompared { case, api, variant, bounds_checks } in uncompared {
        let checks = match bounds_checks {
            Some(BoundsChecks::On) => "on".into(),
            Some(BoundsChecks::Off) => "off".into(),
            None => Cell::Missing,
        };
        let variant = if variant.is_empty() { Cell::Missing } else { variant.clone().into() };
        table.row([case.clone().into(), names[*api].to_owned().into(), variant, checks]);
    }
    table
}

fn ratio(line: &Line, [of, over]: [usize; 2]) -> Option<Ratio> {
    line.figures[of]?.over(&line.figures[over]?)
}

fn cell(ratio: Option<Ratio>) -> Cell {
    ratio.and_then(|of| quantity(of.value, of.interval)).into()
}

fn quantity(value: f64, interval: Option<[f64; 2]>) -> Option<Quantity> {
    match interval {
        Some(interval) => Quantity::between(value, interval),
        None => Quantity::new(value),
    }
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
