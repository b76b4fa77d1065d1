//! A run against an older one, case by case.

mod export;

pub(crate) use export::verdict_label;
pub use export::{json, spreadsheet};

use super::labels::{case_name, device, explain, rounds, verdict_sign, with_reasons};
use gpubench_analysis::{Change, Comparison, Row, SpeedChange, Verdict};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::Host;
use gpubench_core::text::{counted, listed, printable};
use gpubench_document::{
    Axis, Column, Plot, Quantity, Scale, Section, Sentence, Series, Style, Table, Unit,
};
use serde::Serialize;

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// The file.
    pub file: String,
    /// When its run began.
    pub started: String,
    /// The machine.
    pub host: Host,
    /// The device as that run saw it.
    pub device: DeviceInfo,
    /// Rounds planned.
    pub rounds: u32,
    /// Rounds in which a case was measured, the fewest and the most.
    pub measured_rounds: [u32; 2],
}

/// A device's comparison with where both sides are from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// The run or baseline before.
    pub old: Side,
    /// The run now.
    pub new: Side,
    /// What came of it.
    pub comparison: Comparison,
}

/// One section a device.
pub fn section(all: &[Compared]) -> Section {
    let section = Section::new("comparison", "Comparison").text(
        "The ratio is the new time over the old one, without what the speed of the machine explains where that \
         differs: below 1 is faster. A case is called faster \
         or slower only where the change exceeds the tolerance and noise hardly explains it, however \
         many cases are compared (at most one in twenty of those called may be unchanged); same, where \
         the 95 % interval lies within the tolerance. How much rounds scatter is learnt from all cases \
         of the device.",
    );
    all.iter().map(one).fold(section, Section::section)
}

fn one(compared: &Compared) -> Section {
    let comparison = &compared.comparison;
    let section = sides(compared);
    let section = match comparison.rows.is_empty() {
        true => section.text("No case can be compared."),
        false => figures(section, comparison),
    };
    let skipped = Sentence::from("Skipped: ").counted(comparison.skipped.len() as u64, "case");
    let skipped = Section::new("skipped", skipped).folded();
    let reasons: Vec<_> =
        comparison.skipped.iter().map(|one| (one.key.clone(), one.reason.clone())).collect();
    section.section(with_reasons(skipped, &reasons))
}

/// The device and where the two sides are from; a new driver stands out.
fn sides(compared: &Compared) -> Section {
    let Compared { old, new, .. } = compared;
    let name = |text: &str| Sentence::from(printable(text, 80));
    let side = |side: &Side| {
        let from = name(&side.file).text(", begun ").then(name(&side.started)).text(", ");
        let from = from.then(rounds(side.measured_rounds)).text(", driver ");
        from.then(name(&side.device.driver))
    };
    let (before, now) = (&old.device, &new.device);
    let driver = (before.driver != now.driver)
        .then(|| name(&before.driver).text(" → ").then(name(&now.driver)));
    let hosts = [&old.host, &new.host].map(Host::class);
    let host = (hosts[0] != hosts[1]).then(|| name(&hosts[0]).text(" → ").then(name(&hosts[1])));
    let is_other = before.name != now.name || before.backend != now.backend;
    Section::new(&now.name, device(now))
        .fact("speed", "speed", speed(&compared.comparison))
        .fact("old", "old", side(old))
        .fact("new", "new", side(new))
        .fact("driver", "new driver", driver)
        .fact("host", "another host", host)
        .fact("device", "another device before", is_other.then(|| device(before)))
}

/// How fast the device was in both runs, by the reference kernels; `None` where they have none in common.
pub(crate) fn speed(comparison: &Comparison) -> Option<Sentence> {
    if comparison.in_turn {
        let said =
            "measured in turn: what the machine's speed does to one run it does to the other";
        return Some(said.into());
    }
    let speed = &comparison.speed;
    let kernels = [(speed.compute, "arithmetic "), (speed.memory, "memory ")];
    let both: Vec<(Change, &'static str)> =
        kernels.into_iter().filter_map(|(change, label)| Some((change?, label))).collect();
    let each = both
        .iter()
        .map(|(change, label)| Sentence::from(*label).value(change.ratio, Unit::Relative));
    let times =
        Sentence::from("the reference kernels take, of their time before: ").list(", ", each);
    let times = match common_shift(speed) {
        Some(common) if speed.differs() => times.then(common).text("; elsewhere, "),
        Some(common) => return Some(times.then(common)),
        None => times.text("; "),
    };
    let what = match (speed.differs(), speed.new_driver) {
        (false, _) => "no correction",
        (true, false) => {
            "what follows them is corrected for it, and the rest unsure where that decides"
        }
        (true, true) => {
            "not corrected, since the driver changed too, but unsure where that decides"
        }
    };
    (!both.is_empty()).then(|| times.text(what))
}

/// What the cases with unchanged kernels have in common, which is taken off, and where they contradict the readings.
fn common_shift(speed: &SpeedChange) -> Option<Sentence> {
    let family = |name: &str| Sentence::from(printable(name, 40));
    let shifted = speed.common.iter().map(|(name, shift)| {
        let factor = match shift.ratio == 1.0 {
            true => Sentence::from("nothing"),
            false => Sentence::new().value(shift.ratio, Unit::Relative),
        };
        let said = factor.text(" in family ").then(family(name)).text(" (");
        let said = said.counted(shift.cases as u64, "case");
        match shift.excess > 1.0 {
            true => {
                let said = said.text(", ").value(shift.excess, Unit::Relative);
                said.text(" times as far apart as their rounds scatter)")
            }
            false => said.text(")"),
        }
    });
    let off = (!speed.common.is_empty()).then(|| {
        let said = Sentence::from("; by what unchanged kernels have in common, taken off: ");
        said.list(", ", shifted)
    });
    let names = speed.contradicted.iter().map(|name| family(name));
    let odd = (!speed.contradicted.is_empty())
        .then(|| Sentence::from("; unchanged kernels contradict it in family ").list(", ", names));
    match (off, odd) {
        (Some(off), Some(odd)) => Some(off.then(odd)),
        (off, odd) => off.or(odd),
    }
}

fn figures(section: Section, comparison: &Comparison) -> Section {
    let rows = |wanted: fn(&Verdict) -> bool| -> Vec<&Row> {
        let mut rows: Vec<&Row> = comparison.rows.iter().filter(|r| wanted(&r.verdict)).collect();
        rows.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
        rows
    };
    let [slower, faster, unsure, same] = KINDS.map(rows);
    let none =
        if unsure.is_empty() { "No case changed." } else { "No case is known to have changed." };
    let [changed, others] = [[slower, faster].concat(), [unsure, same].concat()];
    let common = common_tolerance(comparison);
    let section = section
        .fact("verdicts", "cases", verdicts(comparison))
        .fact("planned", "planned comparisons", planned(comparison))
        .figure("mean", "geometric mean of the ratios", mean(comparison), Unit::Relative)
        .figure("tolerance", "tolerance", common, Unit::Fraction);
    let section = match changed.is_empty() {
        true => section.text(none),
        false => section.plot(plot(&changed)),
    };
    let section = changed_kernels(comparison).into_iter().fold(section, Section::text);
    let is_open = |row: &&Row| matches!(row.verdict, Verdict::Unsure { rounds: Some(_) });
    let rest = Section::new("others", "Cases not called changed").folded();
    let rest = match others.iter().any(is_open) {
        true => rest.text("“? n rounds”: unsure; n rounds on either side would settle it."),
        false => rest,
    };
    section
        .table(table("changed", "Changed cases", &changed, common))
        .table(doubts(comparison))
        .section(rest.table(table(
            "others",
            "The same within the tolerance, or unsure",
            &others,
            common,
        )))
}

/// Which cases have another kernel by now, where any has: what changed is not the device alone.
fn changed_kernels(comparison: &Comparison) -> Option<String> {
    const MAX_NAMES: usize = 5;
    let changed: Vec<_> = comparison.rows.iter().filter(|row| row.kernel_changed).collect();
    let names = listed(changed.iter().map(|row| case_name(&row.key)), MAX_NAMES);
    let cases = counted(changed.len(), "case");
    (!changed.is_empty())
        .then(|| format!("The kernel of {cases} changed between the runs: {names}."))
}

/// What calls for attention first: slower, faster, unsure, the same.
const KINDS: [fn(&Verdict) -> bool; 4] = [
    |verdict| *verdict == Verdict::Slower,
    |verdict| *verdict == Verdict::Faster,
    |verdict| matches!(verdict, Verdict::Unsure { .. }),
    |verdict| *verdict == Verdict::Same,
];

/// How many of each: `▼ 1 slower, ▲ 0 faster, ? 2 unsure, = 40 the same`.
fn verdicts(comparison: &Comparison) -> Sentence {
    let unsure = Verdict::Unsure { rounds: None };
    let verdicts = [Verdict::Slower, Verdict::Faster, unsure, Verdict::Same];
    let signs = verdicts.each_ref().map(verdict_sign).into_iter().zip(KINDS);
    let labels = [" slower", " faster", " unsure", " the same"];
    let each = signs.zip(labels).map(|((sign, kind), label)| {
        Sentence::from(sign).text(" ").value(comparison.count(kind) as f64, Unit::Count).text(label)
    });
    Sentence::new().list(", ", each)
}

/// How many were planned, and what these are not corrected for.
fn planned(comparison: &Comparison) -> Option<Sentence> {
    let count = comparison.rows.iter().filter(|row| row.planned).count();
    let sentence = Sentence::new().counted(count as u64, "case");
    (count > 0).then(|| sentence.text(", not corrected for the number of the others"))
}

fn mean(comparison: &Comparison) -> Option<Quantity> {
    Quantity::between(comparison.mean_ratio?, comparison.mean_interval?)
}

/// The tolerance of all cases, where it is one.
fn common_tolerance(comparison: &Comparison) -> Option<f64> {
    let first = comparison.rows.first()?.tolerance;
    comparison.rows.iter().all(|row| row.tolerance == first).then_some(first)
}

fn ratio(row: &Row) -> Option<Quantity> {
    Quantity::between(row.ratio, row.interval)
}

/// The slowest first, as many as can be told apart.
fn plot(rows: &[&Row]) -> Plot {
    const MAX_ROWS: usize = 40;
    let rows = &rows[..rows.len().min(MAX_ROWS)];
    let x = Axis::categories("case", rows.iter().map(|row| case_name(&row.key)));
    let y = Axis::new("new time over old", Unit::Relative, Scale::Log10);
    let shown = Sentence::new().counted(rows.len() as u64, "changed case");
    let plot = Plot::new("ratios", "Changed cases", x, y)
        .describe(shown.text(", the slowest first; the figures are in the table."))
        .tabled_in("changed");
    [("slower", Verdict::Slower, 4), ("faster", Verdict::Faster, 2)].into_iter().fold(
        plot,
        |plot, (name, verdict, look)| {
            let rows = rows.iter().enumerate().filter(|(_, row)| row.verdict == verdict);
            let points = rows.map(|(place, row)| (place as f64, ratio(row)));
            plot.series(Series::new(name, Style::Points).look(look, 0).quantities(points))
        },
    )
}

/// Of each case its own tolerance, where they differ.
fn table(key: &str, title: &'static str, rows: &[&Row], tolerance: Option<f64>) -> Table {
    let doubt = |row: &Row| if row.doubts.is_empty() { "" } else { " !" };
    let table = Table::of(key, title, rows)
        .column(Column::text("case", "case"), |row| case_name(&row.key))
        .column(Column::new("old", "old", Unit::Seconds), |row| row.old)
        .column(Column::new("new", "new", Unit::Seconds), |row| row.new)
        .column(Column::new("ratio", "ratio", Unit::Relative), |row| ratio(row))
        .column(Column::text("verdict", "verdict"), |row| mark(row).text(doubt(row)));
    let own = Column::new("tolerance", "tolerance", Unit::Fraction);
    match tolerance {
        Some(_) => table.table(),
        None => table.column(own, |row| row.tolerance).table(),
    }
}

fn mark(row: &Row) -> Sentence {
    let sign = Sentence::from(verdict_sign(&row.verdict)).text(" ");
    match &row.verdict {
        _ if row.unsure_by_speed => sign.text("speed"),
        Verdict::Slower => sign.text("SLOWER"),
        Verdict::Faster => sign.text("FASTER"),
        Verdict::Same => sign.text("same"),
        Verdict::Unsure { rounds: Some(rounds) } => {
            sign.value(f64::from(*rounds), Unit::Count).text(" rounds")
        }
        Verdict::Unsure { rounds: None } => sign.text("unsure"),
    }
}

/// Cases whose times are doubtful, and why.
fn doubts(comparison: &Comparison) -> Table {
    let title = "! The device drifted or was throttled on either side";
    let doubts = comparison.rows.iter().flat_map(|row| row.doubts.iter().map(move |of| (row, of)));
    Table::of("doubts", title, doubts)
        .column(Column::text("case", "case"), |(row, _)| case_name(&row.key))
        .column(Column::text("why", "why"), |(_, doubt)| printable(&explain(doubt), 200))
        .table()
}

#[cfg(test)]
mod tests;
