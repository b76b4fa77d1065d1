//! A capability's page: claims against figures, commands, all tries, what changed, what is not known.

use crate::book::{Capability, Claim, Figure, Kind, Step};
use crate::changes::{self, Entry, date};
use crate::job::{Device, Target};
use crate::results::{Column, Finished, Table, table};
use crate::values::{Summary, unit};
use gpubench_document::{Unit, number};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Rows of a figure that a page shows; the table of all figures has the others.
const MAX_ROWS: usize = 24;
/// Lines of an output that is shown as it is.
const MAX_LISTED: usize = 30;

/// A page in the making.
pub struct Page<'a> {
    capability: &'a Capability,
    /// Its results.
    finished: Vec<&'a Finished>,
    /// Its figures.
    tables: Vec<(&'a Figure, Table)>,
    /// Whether columns say on which machine.
    has_machines: bool,
}

impl<'a> Page<'a> {
    /// From the results of all machines.
    pub fn new(capability: &'a Capability, all: &'a [Finished]) -> Self {
        let of = |one: &&Finished| {
            let (name, step) = (one.done.capability.as_str(), one.done.step.as_str());
            name == capability.name || capability.references().any(|other| other == (name, step))
        };
        let finished: Vec<&Finished> = all.iter().filter(of).collect();
        let machines: BTreeSet<&str> =
            finished.iter().map(|one| one.done.machine.as_str()).collect();
        let tables =
            capability.figures.iter().map(|figure| (figure, table(capability, figure, all)));
        Self { capability, tables: tables.collect(), has_machines: machines.len() > 1, finished }
    }

    /// Whether nothing of it was run on any machine whose results are here.
    pub fn is_empty(&self) -> bool {
        self.finished.is_empty()
    }

    /// Whether results of this machine are here.
    pub fn has_machine(&self, name: &str) -> bool {
        self.finished.iter().any(|one| one.done.machine == name)
    }

    /// Every figure of every try.
    pub fn entries(&self) -> Vec<Entry> {
        let entries = |(figure, table): &(&Figure, Table)| {
            let name = &self.capability.name;
            changes::entries(name, &figure.id, table, |column| self.started(column))
        };
        self.tables.iter().flat_map(entries).collect()
    }

    /// When the try of a column began.
    fn started(&self, column: &Column) -> String {
        let same = |one: &&&Finished| {
            one.done.machine == column.machine
                && one.done.target.label() == column.target
                && one.done.attempt == column.attempt
                && (column.step.is_empty() || one.done.step == column.step)
        };
        let times = self.finished.iter().filter(same).map(|one| one.done.started.as_str());
        times.min().unwrap_or_default().to_owned()
    }

    /// The page; `changes` are the lines of what changed.
    pub fn text(&self, changes: &[String]) -> String {
        let mut out = self.head();
        self.claims(&mut out);
        self.commands(&mut out);
        self.figures(&mut out);
        self.listings(&mut out);
        let _ = write!(out, "\n## Since the last time\n{}\n", changes.join("\n"));
        if !self.capability.unknown.is_empty() {
            let _ = write!(out, "\n## Not known\n");
            for sentence in &self.capability.unknown {
                let _ = writeln!(out, "- {sentence}");
            }
        }
        out
    }

    fn head(&self) -> String {
        let day = self.finished.iter().map(|one| one.done.started.as_str()).max();
        let day = day.and_then(|started| started.get(..10)).unwrap_or("not run yet");
        let mut out = format!(
            "# {day}: {}\n\n{} Written by `./x evidence` from what the commands print; \
             `docs/evidence.yaml` holds claims and commands, [the overview](README.md) says how to read this.\n\n",
            self.capability.title, self.capability.question
        );
        let devices = self.devices();
        let gpus = devices.values().filter(|device| device.kind != "cpu").count();
        if gpus == 0 {
            out += "**On a GPU: not measured.** ";
        }
        let machines: BTreeSet<&str> = devices.keys().map(|(machine, _)| *machine).collect();
        for machine in machines {
            let of = devices.iter().filter(|((of, _), _)| *of == machine);
            let named = of.map(|(_, device)| {
                format!(
                    "{} is {} ({}, {})",
                    device.selector, device.name, device.kind, device.driver
                )
            });
            let _ = writeln!(out, "On `{machine}`: {}.", named.collect::<Vec<_>>().join("; "));
        }
        let loads = self.finished.iter().flat_map(|one| one.done.load);
        let [low, high] = loads.fold([f64::INFINITY, 0.0], |[low, high]: [f64; 2], load| {
            [low.min(load), high.max(load)]
        });
        let versions: BTreeSet<&str> =
            self.finished.iter().map(|one| one.done.gpubench.as_str()).collect();
        if !versions.is_empty() {
            let versions: Vec<&str> = versions.into_iter().collect();
            let _ = writeln!(
                out,
                "Load of the machine: {low:.1} to {high:.1}. By {}. All tries are shown, none is chosen.",
                versions.join(", ")
            );
        }
        out
    }

    /// The devices that were measured, by machine and selector.
    fn devices(&self) -> BTreeMap<(&str, &str), &Device> {
        let mut found = BTreeMap::new();
        for one in &self.finished {
            if let Target::Real(devices) = &one.done.target {
                for device in devices {
                    found.insert((one.done.machine.as_str(), device.selector.as_str()), device);
                }
            }
        }
        found
    }

    fn claims(&self, out: &mut String) {
        if self.capability.claims.is_empty() {
            return;
        }
        *out += "\n## Claims\n| published claim | in | kind | published | real drivers | difference \
                 | simulated or calculated here | difference |\n|---|---|---|---|---|---|---|---|\n";
        for claim in &self.capability.claims {
            let kind = match claim.kind {
                Kind::Measured => "measured",
                Kind::Calculated => "calculated",
            };
            let figure = claim.figure.as_ref();
            let found = figure.and_then(|id| self.tables.iter().find(|(f, _)| f.id == *id));
            let [real, other] = [true, false].map(|is_real| match found {
                Some((_, table)) => compared(claim, table, is_real),
                None => ["–".to_owned(), "–".to_owned()],
            });
            let unit = found.map_or(Unit::None, |(figure, table)| unit_of(figure, table));
            let published: Vec<String> = claim.published.iter().map(|x| number(*x, unit)).collect();
            let says = match claim.note.is_empty() {
                true => claim.says.clone(),
                false => format!("{} ({})", claim.says, claim.note),
            };
            let _ = writeln!(
                out,
                "| {says} | {} | {kind} | {} | {} | {} | {} | {} |",
                claim.source,
                if published.is_empty() { "–".to_owned() } else { published.join(" to ") },
                real[0],
                real[1],
                other[0],
                other[1]
            );
        }
    }

    fn commands(&self, out: &mut String) {
        *out += "\n## Commands\n| step | command | on | tries: began (UTC), took, result |\n|---|---|---|---|\n";
        for step in &self.capability.steps {
            self.command(step, out);
        }
        for (name, step) in self.capability.references().collect::<BTreeSet<_>>() {
            let _ = writeln!(out, "| {step} | as on the page of [{name}]({name}.md) | | |");
        }
    }

    fn command(&self, step: &Step, out: &mut String) {
        let mut targets: BTreeMap<(&str, String), Vec<&Finished>> = BTreeMap::new();
        for one in self.own_results(step) {
            let target = (one.done.machine.as_str(), one.done.target.label());
            targets.entry(target).or_default().push(one);
        }
        if targets.is_empty() {
            let _ = writeln!(out, "| {} | `gpubench {}` | – | not run |", step.name, shown(step));
        }
        for ((machine, target), tries) in targets {
            let result = |one: &&Finished| {
                let done = &one.done;
                let end = if done.error.is_empty() { "ok" } else { done.error.as_str() };
                format!("{}, {:.0} s, {end}", date(&done.started), done.seconds)
            };
            let on = self.on(machine, &target);
            let tries_text: Vec<String> = tries.iter().map(result).collect();
            let command = &tries[0].done.command.replace("--seed 1 ", "");
            let _ = writeln!(
                out,
                "| {} | `{}` | {on} | {} |",
                step.name,
                cell(command),
                cell(&tries_text.join("; "))
            );
        }
    }

    fn own_results(&self, step: &Step) -> impl Iterator<Item = &&'a Finished> {
        let is_of = |one: &&&Finished| {
            one.done.step == step.name && one.done.capability == self.capability.name
        };
        self.finished.iter().filter(is_of)
    }

    fn on(&self, machine: &str, target: &str) -> String {
        if self.has_machines { format!("{machine} {target}") } else { target.to_owned() }
    }

    fn figures(&self, out: &mut String) {
        for (figure, table) in &self.tables {
            let _ = write!(out, "\n## {}\n", capitalised(&figure.what));
            if table.is_empty() {
                *out += "Not measured.\n";
                continue;
            }
            let columns: BTreeSet<&Column> = table.values().flat_map(BTreeMap::keys).collect();
            let heads = columns.iter().map(|column| {
                let mut head = self.on(&column.machine, &column.target);
                if !column.step.is_empty() {
                    let _ = write!(head, ", {}", column.step);
                }
                if columns.iter().any(|other| other.attempt > 1 && other.target == column.target) {
                    let _ = write!(head, " #{}", column.attempt);
                }
                head
            });
            let _ = writeln!(out, "| | {} |", heads.collect::<Vec<_>>().join(" | "));
            let _ = writeln!(out, "|---|{}", "---|".repeat(columns.len()));
            for (row, cells) in table.iter().take(MAX_ROWS) {
                let of = |column: &&Column| cells.get(column).map_or("–".to_owned(), Summary::text);
                let texts: Vec<String> = columns.iter().map(of).map(|text| cell(&text)).collect();
                let _ = writeln!(out, "| {} | {} |", cell(row), texts.join(" | "));
            }
            if table.len() > MAX_ROWS {
                let more = table.len() - MAX_ROWS;
                let _ = writeln!(out, "\n{more} more rows are in [figures.csv](figures.csv).");
            }
        }
    }

    fn listings(&self, out: &mut String) {
        let listed = |one: &&&Finished| {
            let step = self.capability.step(&one.done.step);
            let is_own = one.done.capability == self.capability.name;
            is_own && step.is_some_and(|step| step.listing) && !one.text.trim().is_empty()
        };
        for one in self.finished.iter().filter(listed) {
            let lines: Vec<&str> = one.text.lines().take(MAX_LISTED).collect();
            let command = &one.done.command;
            let _ = write!(
                out,
                "\n`{command}`, try {}:\n```text\n{}\n```\n",
                one.done.attempt,
                lines.join("\n")
            );
        }
    }
}

/// A command that nobody ran.
fn shown(step: &Step) -> String {
    cell(&step.command.replace("{runs}", "RUN").replace("{folder}", "FOLDER"))
}

/// Text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

fn unit_of(figure: &Figure, table: &Table) -> Unit {
    let summaries = table.values().flat_map(BTreeMap::values);
    let found = summaries.into_iter().find_map(|summary| match summary {
        Summary::Numbers { unit, .. } => Some(*unit),
        Summary::Texts(_) => None,
    });
    found.unwrap_or_else(|| unit(&figure.unit))
}

/// Our values of a claim's rows, from the smallest to the largest of all rows and tries, and how far
/// they are from what is published.
fn compared(claim: &Claim, table: &Table, is_real: bool) -> [String; 2] {
    let rows = table.iter().filter(|(row, _)| row.contains(&claim.row));
    let cells = rows.flat_map(|(_, cells)| cells.iter());
    let of = cells.filter(|(column, _)| (column.group == 0) == is_real);
    let (mut ours, mut shared, mut texts) = (vec![], Unit::None, BTreeSet::new());
    for (_, summary) in of {
        match summary {
            Summary::Numbers { median, unit, .. } => {
                ours.push(*median);
                shared = *unit;
            }
            Summary::Texts(_) => {
                texts.insert(summary.text());
            }
        }
    }
    let low = ours.iter().copied().fold(f64::INFINITY, f64::min);
    let high = ours.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let text = match ours.len() {
        0 if texts.is_empty() => return ["not measured".to_owned(), "–".to_owned()],
        0 => return [cell(&texts.into_iter().collect::<Vec<_>>().join(" / ")), "–".to_owned()],
        _ if low == high => number(low, shared),
        n => format!("{} to {} ({n})", number(low, shared), number(high, shared)),
    };
    [text, difference(&claim.published, [low, high], shared)]
}

/// How far our values are from the published ones: the nearest ends, or that they share some.
fn difference(published: &[f64], [low, high]: [f64; 2], unit: Unit) -> String {
    let (Some(&first), Some(&last)) = (published.first(), published.last()) else {
        return "–".to_owned();
    };
    let apart = |ours: f64, theirs: f64| match unit {
        Unit::Fraction | Unit::Change => format!("{:+.1} points", 100.0 * (ours - theirs)),
        _ => format!("{:+.1} %", 100.0 * (ours / theirs - 1.0)),
    };
    match (low, high) {
        _ if high < first => apart(high, first),
        _ if low > last => apart(low, last),
        _ if low >= first && high <= last && first < last => "within".to_owned(),
        _ if low == high => apart(low, first),
        _ => "ranges meet".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::sample::{book, finished};

    #[test]
    fn all_tries_and_the_difference_are_shown() {
        let all = [finished("opencl:0", 1, 0.004), finished("opencl:0", 2, 0.006)];
        let book = book();
        let page = Page::new(&book.capabilities[0], &all);
        let text = page.text(&["This is the first time.".to_owned()]);
        for wanted in [
            "# 2026-11-23: A",
            "**On a GPU: not measured.** On `vm`: opencl:0 is PoCL (cpu, 3.1).",
            "| so | L14 | measured | 2.00 ms to 3.00 ms | 4.00 ms to 6.00 ms (2) | +33.3 % | not measured | – |",
            "| run | `gpubench run quick` | opencl:0 | 2026-11-23 01:00, 20 s, ok; 2026-11-23 02:00, 20 s, ok |",
            "| | opencl:0 #1 | opencl:0 #2 |",
            "|  | 4.00 ms | 6.00 ms |",
            "## Not known\n- Much.",
        ] {
            assert!(text.contains(wanted), "{wanted}:\n{text}");
        }
    }

    #[test]
    fn what_nobody_ran_says_so() {
        let book = book();
        let text = Page::new(&book.capabilities[0], &[]).text(&[]);
        assert!(text.contains("| run | `gpubench run quick` | – | not run |"), "{text}");
        assert!(text.contains("## Time\nNot measured."), "{text}");
        assert!(text.contains("| not measured | – | not measured | – |"), "{text}");
    }

    #[test]
    fn differences_are_from_the_nearest_ends() {
        let of = |published: &[f64], ours| difference(published, ours, Unit::Ratio);
        assert_eq!(of(&[1.0, 2.0], [1.2, 1.9]), "within");
        assert_eq!(of(&[1.0, 2.0], [0.5, 1.9]), "ranges meet");
        assert_eq!(of(&[1.0, 2.0], [0.5, 0.8]), "-20.0 %");
        assert_eq!(of(&[2.0], [3.0, 3.0]), "+50.0 %");
        assert_eq!(of(&[], [3.0, 3.0]), "–");
        assert_eq!(difference(&[-0.3], [-0.1, -0.1], Unit::Change), "+20.0 points");
    }
}
