//! What was emulated, for people.

use super::Emulated;
use super::buffers::{Number, Shown};
use gpubench_core::text::printable;
use gpubench_core::units::{Bytes, seconds};
use gpubench_emulator::{Class, Counts, Global, Local};
use gpubench_report::grid::Grid;
use std::fmt::Write;

/// One line a case; a single case in full.
pub(super) fn text(all: &[Emulated], width: u16) -> String {
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
        text += "\nOne group ran: races between groups, and elements that no group writes, go \
                 unseen.\n`--grid` runs all groups.\n";
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

fn overview(all: &[Emulated], width: u16) -> String {
    let headings =
        ["Case", ">Warp", ">Instr.", ">Idle", ">Trans.", ">Rounds", ">Worst", ">Live", ">Time"];
    let mut grid = Grid::new(&headings);
    for one in all {
        let Some(counts) = &one.counts else { continue };
        let [reads, writes] = [counts.local_reads, counts.local_writes];
        grid.row([
            name(one),
            counts.rules.warp.to_string(),
            counts.instructions.values().map(|i| i.warps).sum::<u64>().to_string(),
            percent(counts.idle),
            (counts.global_reads.transactions + counts.global_writes.transactions).to_string(),
            (reads.rounds + writes.rounds).to_string(),
            reads.worst.max(writes.worst).to_string(),
            counts.live_values.to_string(),
            seconds(one.seconds),
        ]);
    }
    let rules = all.iter().find_map(|one| one.counts.as_ref()).map(rules).unwrap_or_default();
    format!("{}\n{rules}\n", grid.text(width))
}

fn name(one: &Emulated) -> String {
    format!("{} {}", one.case, one.variant).trim_end().to_owned()
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// What was counted by.
fn rules(counts: &Counts) -> String {
    let rules = &counts.rules;
    format!(
        "Cost: transactions of {} B of global memory, rounds of {} banks of local memory. Worst: rounds\n\
         of one access of a warp over those that as many words need without conflicts. Live values\n\
         are an estimate.",
        rules.transaction, rules.banks
    )
}

fn in_full(one: &Emulated, counts: &Counts, width: u16) -> String {
    let groups = match one.group {
        Some(group) => format!("group {group:?} of {:?}", one.groups),
        None => format!("all {} groups", counts.groups),
    };
    let mut text = format!(
        "{}: {groups}, {} work-items each, in {}\n\n",
        name(one),
        counts.group_size,
        seconds(one.seconds)
    );
    text += &instructions(counts).text(width);
    text.push('\n');
    text += &memory(counts).text(width);
    text.push('\n');
    text += &lines(counts).text(width);
    let _ = write!(text, "\n{}\n\n{}\n", facts(counts), rules(counts));
    text
}

fn instructions(counts: &Counts) -> Grid {
    let by_warps = format!(">By warps of {}", counts.rules.warp);
    let mut grid = Grid::new(&["Instructions", ">By work-items", &by_warps]);
    for class in Class::ALL {
        let count = counts.of(class);
        if count.warps > 0 {
            grid.row([class.label().into(), count.items.to_string(), count.warps.to_string()]);
        }
    }
    grid
}

fn memory(counts: &Counts) -> Grid {
    let mut grid = Grid::new(&[
        "Memory",
        ">By work-items",
        ">By warps",
        ">Bytes",
        ">Cost",
        ">Conflicts",
        ">Worst",
    ]);
    let global = |name: &str, g: Global| {
        let costs = [g.items, g.warps, g.bytes, g.transactions].map(|n| n.to_string());
        (g.warps > 0).then(|| [vec![name.into()], costs.into(), vec![String::new(); 2]].concat())
    };
    let local = |name: &str, l: Local| {
        let costs = [l.items, l.warps, l.bytes, l.rounds, l.conflicts, l.worst];
        (l.warps > 0).then(|| [vec![name.into()], costs.map(|n| n.to_string()).into()].concat())
    };
    let rows = [
        global("global reads", counts.global_reads),
        global("global writes", counts.global_writes),
        local("local reads", counts.local_reads),
        local("local writes", counts.local_writes),
    ];
    rows.into_iter().flatten().for_each(|row: Vec<String>| grid.row(row));
    grid
}

fn lines(counts: &Counts) -> Grid {
    let mut grid = Grid::new(&[">Line", "Access", "Variable", ">By work-items", ">Cost", ">Worst"]);
    for line in &counts.lines {
        grid.row([
            line.line.to_string(),
            line.class.label().into(),
            printable(&line.variable, 40),
            line.items.to_string(),
            line.cost.to_string(),
            if line.worst > 0 { line.worst.to_string() } else { String::new() },
        ]);
    }
    grid
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
