//! What a replay found, for people and for programs.

use gpubench_core::units::quoted;
use gpubench_document::{Cell, Column, Section, Sentence, Table, Unit};
use gpubench_tune::{Kind, Recorded, Summary, worths};
use serde_json::{Map, Value, json};

/// Variants that take at most this many times as long as the best are as good.
pub const AS_GOOD: f64 = 1.05;
/// Where people see the curve.
const STEPS: [usize; 9] = [1, 2, 5, 10, 20, 30, 50, 100, 200];

/// A replay and where it came from.
#[derive(Debug)]
pub struct Report<'a> {
    /// The recorded space, as the user named it.
    pub file: String,
    /// The strategy.
    pub kind: Kind,
    /// How many searches.
    pub seeds: u32,
    /// The space.
    pub recorded: &'a Recorded,
    /// What the searches found.
    pub summary: &'a Summary,
}

impl Report<'_> {
    /// For programs. A ratio is null where a search had no success yet.
    pub fn data(&self) -> Value {
        let (recorded, summary) = (self.recorded, self.summary);
        let space = recorded.space();
        let pairs = space.names().iter().zip(&space.variants()[recorded.best()]);
        let best: Map<String, Value> =
            pairs.map(|(name, value)| (name.clone(), json!(value))).collect();
        json!({
            "variants": summary.curve.len(),
            "seeds": self.seeds,
            "strategy": self.kind,
            "file": self.file,
            "mean_ratio": summary.mean_ratio,
            "p90_ratio": summary.p90_ratio,
            "curve": summary.curve,
            "cut_off": summary.cut_off,
            "space": {
                "variants": space.len(),
                "failed": self.failed(),
                "within_5_percent": recorded.within(AS_GOOD),
                "best": best,
                "best_seconds": recorded.best_time(),
            },
            "parameters": worths(recorded),
        })
    }

    /// For people.
    pub fn section(&self) -> Section {
        let (recorded, summary) = (self.recorded, self.summary);
        let all = recorded.space().len() as u64;
        let space = Sentence::new()
            .name(self.file.clone())
            .text(": ")
            .counted(all, "variant")
            .text(", of which ")
            .value(self.failed() as f64, Unit::Count)
            .text(" failed and ")
            .value(recorded.within(AS_GOOD) as f64, Unit::Count)
            .text(" are within 5 % of the best");
        let best = Sentence::new()
            .text("Best: ")
            .name(recorded.space().label(recorded.best()))
            .text(", ")
            .value(recorded.best_time(), Unit::Seconds);
        let found = Sentence::new()
            .text("The ratio is the best median time found over the best of all variants that ran. After ")
            .counted(summary.curve.len() as u64, "variant")
            .text(" it is ")
            .value(summary.mean_ratio, Unit::Relative)
            .text(" in the mean of ")
            .counted(u64::from(self.seeds), "seed")
            .text("; nine of ten reach ")
            .value(summary.p90_ratio, Unit::Relative);
        let race = Sentence::new()
            .text("Racing cuts off ")
            .value(summary.cut_off, Unit::Fraction)
            .text(" of the variants tried: their intervals lie above the best's");
        let ratio = Column::new("ratio", "mean ratio", Unit::Relative);
        Section::new("tune", "Replay")
            .text(space)
            .text(best)
            .text(found)
            .text(race)
            .table(curve(summary.curve.len(), ratio, |at| summary.curve[at]))
            .table(worth(self.recorded))
    }

    fn failed(&self) -> usize {
        self.recorded.outcomes().iter().filter(|outcome| outcome.time().is_none()).count()
    }
}

/// The best so far after some numbers of variants, up to `last`; `best` gives the one after the try at an index.
pub fn curve<C: Into<Cell>>(last: usize, column: Column, best: impl Fn(usize) -> C) -> Table {
    let places = STEPS.into_iter().filter(|at| *at < last).chain((last > 0).then_some(last));
    Table::of("curve", "Best so far", places)
        .column(Column::new("tried", "variants tried", Unit::Count), |at| *at as u64)
        .column(column, |at| best(*at - 1))
        .table()
}

/// What each parameter is worth among what was tried.
pub fn worth(recorded: &Recorded) -> Table {
    let title = "What each parameter is worth: the best time without its best value, over the best";
    Table::of("parameters", title, worths(recorded))
        .column(Column::text("parameter", "parameter"), |of| of.parameter.clone())
        .column(Column::new("best_value", "best value", Unit::None), |of| quoted(of.best_value))
        .column(Column::new("other_values", "any other", Unit::Relative), |of| of.other_values)
        .column(Column::new("worst_value", "worst value", Unit::Relative), |of| of.worst_value)
        .table()
}
