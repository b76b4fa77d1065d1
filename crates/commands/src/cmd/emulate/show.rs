//! What was emulated, for people.

use super::Emulated;
use super::buffers::{Number, Shown};
use crate::cmd::show::wrapped;
use gpubench_core::text::printable;
use gpubench_core::units::{Bytes, seconds};
use gpubench_document::{Cell, Column, Sentence, Table, Unit, number as figure};
use gpubench_emulator::{Class, Counts, Global, Local};
use gpubench_report::render::text;
use std::fmt::Write;

/// One line a case; a single case in full.
pub(super) fn text(all: &[Emulated], width: Option<usize>) -> String {
    let mut text = match all {
        [one] => one.counts.as_ref().map_or_else(String::new, |counts| in_full(one, counts, width)),
        _ => overview(all, width),
    };
    for one in all {
        for fault in &one.faults {
            let _ = writeln!(text, "{}: {}", one.case, printable(&fault.to_string(), 400));
        }
        if let Some(error) = &one.error {
            let _ = writeln!(text, "{}: {error}", one.case);
        }
        for shown in &one.show {
            let _ = writeln!(text, "{}: {}", one.case, elements(shown));
        }
    }
    if all.iter().any(|one| one.group.is_some() && one.groups != [1; 3] && one.error.is_none()) {
        text += "\nOne group ran: races between groups, and elements that no group writes,\n\
                 go unseen. `--grid` runs all groups.\n";
    }
    text
}

/// Elements in one line; a dash for what nothing has written.
fn elements(shown: &Shown) -> String {
    let mut text = format!("{}[{}..]:", printable(&shown.buffer, 40), shown.first);
    for element in &shown.elements {
        let number = |n: &Option<Number>| n.as_ref().map_or_else(|| "–".into(), Number::to_string);
        let numbers: Vec<String> = element.iter().map(number).collect();
        let _ = match &numbers[..] {
            [one] => write!(text, " {one}"),
            several => write!(text, " ({})", several.join(", ")),
        };
    }
    text
}

fn overview(all: &[Emulated], width: Option<usize>) -> String {
    let counted = all.iter().filter_map(|one| Some((one, one.counts.as_ref()?)));
    let table = Table::of("cases", "Cases", counted)
        .column(Column::names("case", "Case"), |(one, _)| name(one))
        .column(number("Warp"), |(_, counts)| u64::from(counts.rules.warp))
        .column(number("Instr."), |(_, counts)| {
            counts.instructions.values().map(|i| i.warps).sum::<u64>()
        })
        .column(Column::new("idle", "Idle", Unit::Fraction), |(_, counts)| counts.idle)
        .column(number("Trans."), |(_, counts)| {
            counts.global_reads.transactions + counts.global_writes.transactions
        })
        .column(number("Rounds"), |(_, counts)| {
            counts.local_reads.rounds + counts.local_writes.rounds
        })
        .column(number("Worst"), |(_, counts)| {
            counts.local_reads.worst.max(counts.local_writes.worst)
        })
        .column(number("Live"), |(_, counts)| counts.live_values as u64)
        .column(Column::new("time", "Time", Unit::Seconds), |(one, _)| one.seconds)
        .table();
    let rules = all.iter().find_map(|one| one.counts.as_ref()).map(rules).unwrap_or_default();
    format!("{}\n{rules}", text::table(&table, width))
}

fn number(title: &'static str) -> Column {
    Column::new(title, title, Unit::Count)
}

fn name(one: &Emulated) -> String {
    format!("{} {}", one.case, one.variant).trim_end().to_owned()
}

fn percent(share: f64) -> String {
    figure(share, Unit::Fraction)
}

/// What was counted by.
fn rules(counts: &Counts) -> String {
    let rules = &counts.rules;
    let text = format!(
        "Cost: transactions of {} B of global memory, rounds of {} banks of local memory. Worst: rounds \
         of one access of a warp over those that as many words need without conflicts. Live values \
         are an estimate.",
        rules.transaction, rules.banks
    );
    wrapped(&text, ["", ""], false)
}

fn in_full(one: &Emulated, counts: &Counts, width: Option<usize>) -> String {
    let groups = match one.group {
        Some(group) => format!("group {group:?} of {:?}", one.groups),
        None => format!("all {} groups", counts.groups),
    };
    let (size, time) = (counts.group_size, seconds(one.seconds));
    let heading = format!("{}: {groups}, {size} work-items each, in {time}", name(one));
    let mut out = wrapped(&heading, ["", ""], false) + "\n";
    for table in [instructions(counts), memory(counts), lines(counts)] {
        out += &text::table(&table, width);
        out.push('\n');
    }
    out + &format!("{}\n\n{}", facts(counts), rules(counts))
}

fn instructions(counts: &Counts) -> Table {
    let warps = Sentence::from("By warps of ").value(counts.rules.warp.into(), Unit::Count);
    let all = Class::ALL.into_iter().map(|class| (class, counts.of(class)));
    Table::of("instructions", "Instructions", all.filter(|(_, count)| count.warps > 0))
        .column(Column::text("class", "Instructions"), |(class, _)| class.label())
        .column(number("By work-items"), |(_, count)| count.items)
        .column(Column::new("warps", warps, Unit::Count), |(_, count)| count.warps)
        .table()
}

fn memory(counts: &Counts) -> Table {
    let columns = ["By work-items", "By warps", "Bytes", "Cost", "Conflicts", "Worst"].map(number);
    let columns = [Column::text("access", "Memory")].into_iter().chain(columns);
    let mut table = Table::new("memory", "Memory", columns);
    let global = |g: Global| [g.items, g.warps, g.bytes, g.transactions].map(Cell::from).to_vec();
    let local = |l: Local| {
        [l.items, l.warps, l.bytes, l.rounds, l.conflicts, l.worst].map(Cell::from).to_vec()
    };
    for (name, warps, cells) in [
        ("global reads", counts.global_reads.warps, global(counts.global_reads)),
        ("global writes", counts.global_writes.warps, global(counts.global_writes)),
        ("local reads", counts.local_reads.warps, local(counts.local_reads)),
        ("local writes", counts.local_writes.warps, local(counts.local_writes)),
    ] {
        if warps > 0 {
            table.row([name.into()].into_iter().chain(cells));
        }
    }
    table
}

fn lines(counts: &Counts) -> Table {
    Table::of("lines", "Lines", &counts.lines)
        .column(number("Line"), |line| u64::from(line.line))
        .column(Column::text("Access", "Access"), |line| line.class.label())
        .column(Column::text("Variable", "Variable"), |line| line.variable.clone())
        .column(number("By work-items"), |line| line.items)
        .column(number("Cost"), |line| line.cost)
        .column(number("Worst"), |line| (line.worst > 0).then_some(line.worst))
        .table()
}

fn facts(counts: &Counts) -> String {
    let branches = counts.branches;
    format!(
        "Branches by warps: {}, divergent: {}; lanes idle in them: {}, in all: {}.\n\
         Barriers: {}. Local memory: {}. Live values: {}. Periods of the first warp: {}.",
        branches.warps,
        branches.divergent,
        percent(branches.idle),
        percent(counts.idle),
        counts.barriers,
        Bytes(u64::from(counts.local_bytes)),
        counts.live_values,
        counts.periods.iter().map(|period| period.times).sum::<u64>()
    )
}
