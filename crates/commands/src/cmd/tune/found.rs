//! What searches on devices found, for people and for programs.

use super::search::{Attempt, Found};
use super::show::{AS_GOOD, curve, worth};
use super::target::Target;
use gpubench_document::{Column, Section, Sentence, Table, Unit};
use gpubench_stats::spearman;
use gpubench_tune::model::Expected;
use gpubench_tune::{Interval, Kind, Outcome, Recorded, Space, worths};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Variants that a correlation is of, at least.
const MIN_FOR_ORDER: usize = 5;

/// A search and what it found.
pub struct Searched {
    /// What was searched.
    pub target: Target,
    /// Seconds that a profile and the emulator's counts expect of each variant; empty without any.
    pub expected: Expected,
    /// What was found.
    pub found: Found,
}

impl Searched {
    /// Whether it is of the same workload at the same size on another device.
    pub fn is_other_device(&self, other: &Self) -> bool {
        let (one, two) = (&self.target, &other.target);
        one.workload.name == two.workload.name
            && one.size() == two.size()
            && !one.device.is_at(&two.device)
    }

    /// What was tried as a recorded space; `None` where nothing ran.
    pub fn recorded(&self) -> Option<Recorded> {
        let space = &self.target.space;
        let rows = self.found.tried.iter().map(|(variant, _)| space.variants()[*variant].clone());
        let space = Space::new(space.names().to_vec(), rows.collect()).ok()?;
        let outcomes = self.found.tried.iter().map(|(_, attempt)| attempt.outcome()).collect();
        Recorded::new(space, outcomes)
    }

    /// Best time so far after each variant that a device saw; `None` before the first success.
    fn curve(&self) -> Vec<Option<f64>> {
        let mut best: Option<f64> = None;
        let on_device = self.found.tried.iter().filter(|(_, attempt)| attempt.on_device);
        let so_far = |outcome: Outcome| {
            best = [best, outcome.time()].into_iter().flatten().min_by(f64::total_cmp);
            best
        };
        on_device.map(|(_, attempt)| attempt.outcome()).map(so_far).collect()
    }

    /// Failures by kind, of these attempts; what is only slow is none.
    fn failures(&self, of: impl Fn(&Attempt) -> bool) -> BTreeMap<&str, usize> {
        let mut all = BTreeMap::new();
        let failed = |attempt: &Attempt| attempt.interval.is_none() && attempt.launch.is_none();
        let failed = self.found.tried.iter().filter(|(_, one)| failed(one) && of(one));
        failed.for_each(|(_, attempt)| *all.entry(attempt.outcome.as_str()).or_default() += 1);
        all
    }

    /// How many ran within a factor of the best, itself among them.
    fn within(&self, factor: f64) -> usize {
        let best = self.found.best().map_or(0.0, |(_, best)| best.time);
        let times = self.found.tried.iter().filter_map(|(_, attempt)| attempt.interval);
        times.filter(|one| one.time <= factor * best).count()
    }

    /// Of how many variants a time was expected, and Spearman's ρ between those times and what launches took of the
    /// variants that were tried; `None` where no two differ.
    fn order(&self) -> Option<(usize, Option<f64>)> {
        let expected = &self.expected.0;
        let known: Vec<f64> = expected.iter().flatten().copied().collect();
        // Where all are predicted alike, that is no order.
        if known.iter().all(|seconds| *seconds == known[0]) {
            return None;
        }
        let both = self.found.tried.iter().filter_map(|(variant, attempt)| {
            Some((expected[*variant]?, attempt.outcome().estimate()?))
        });
        let (predicted, measured): (Vec<f64>, Vec<f64>) = both.unzip();
        let rho = (measured.len() >= MIN_FOR_ORDER).then(|| spearman(&predicted, &measured));
        Some((known.len(), rho))
    }

    /// The suite's own variant, where it ran.
    fn own(&self) -> Option<Interval> {
        self.found.of(self.target.own?)?.interval
    }

    fn name(&self) -> String {
        let size = self.target.size().iter().map(|(name, value)| format!(" {name}={value}"));
        format!("{}{}", self.target.workload.name, size.collect::<String>())
    }
}

/// All searches of a command.
pub struct Report<'a> {
    /// The suite's name.
    pub suite: &'a str,
    /// The strategy.
    pub kind: Kind,
    /// The searches.
    pub searched: &'a [Searched],
}

impl Report<'_> {
    /// For programs.
    pub fn data(&self) -> Value {
        let searches: Vec<Value> = self.searched.iter().map(|one| self.search_data(one)).collect();
        json!({ "suite": self.suite, "strategy": self.kind, "searches": searches })
    }

    fn search_data(&self, one: &Searched) -> Value {
        let Searched { target, found, .. } = one;
        let interval = |at: Interval| json!({ "seconds": at.time, "interval": [at.low, at.high] });
        let best = found.best().map(|(variant, at)| {
            let mut best = interval(at);
            best["variant"] = json!(target.variants[variant].label);
            let values = target.space.names().iter().zip(&target.space.variants()[variant]);
            best["parameters"] = values
                .map(|(name, value)| (name.clone(), json!(value)))
                .collect::<Map<_, _>>()
                .into();
            best
        });
        let size: Map<String, Value> =
            target.size().iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let prices: Vec<Value> = self
            .prices(one)
            .into_iter()
            .map(|(device, variant, ratio)| json!({ "device": device, "variant": variant, "ratio": ratio }))
            .collect();
        json!({
            "device": target.device.label(),
            "device_name": target.device.name,
            "workload": target.workload.name,
            "size": size,
            "space": target.space.len(),
            "tried": found.on_device(),
            "cut_off": found.cut_off,
            "failures": one.failures(|_| true),
            "verified": target.workload.verify.against(),
            "best": best,
            "within_5_percent": one.within(AS_GOOD),
            "own": one.own().map(interval),
            "order": one.order().map(|(variants, rho)| json!({ "variants": variants, "spearman": rho })),
            "curve": one.curve(),
            "parameters": one.recorded().as_ref().map(worths),
            "others_bests": prices,
            "interrupted": found.interrupted,
        })
    }

    /// For people: a section a search.
    pub fn sections(&self) -> Vec<Section> {
        self.searched.iter().map(|one| self.section(one)).collect()
    }

    fn section(&self, one: &Searched) -> Section {
        let Searched { target, found, .. } = one;
        let title = format!("{} on {} ({})", one.name(), target.device.name, target.device.label());
        let mut section = Section::new("tune", title).text(counts(one));
        if target.workload.verify.against().is_none() {
            section = section.text("The suite verifies nothing: any of them may be wrong");
        }
        let Some((variant, best)) = found.best() else {
            return section.text("None ran and was right");
        };
        section = section.text(
            Sentence::new()
                .text("Best: ")
                .name(target.variants[variant].label.clone())
                .text(", ")
                .value(best.time, Unit::Seconds)
                .text(", between ")
                .value(best.low, Unit::Seconds)
                .text(" and ")
                .value(best.high, Unit::Seconds)
                .text("; within 5 % of it: ")
                .value(one.within(AS_GOOD) as f64, Unit::Count),
        );
        if let Some(own) = one.own() {
            section = section.text(
                Sentence::new()
                    .text("The suite's own variant takes ")
                    .value(own.time, Unit::Seconds)
                    .text(": ")
                    .value(own.time / best.time, Unit::Ratio),
            );
        }
        if let Some(order) = one.order() {
            section = section.text(order_sentence(order));
        }
        let (so_far, best) = (one.curve(), Column::new("seconds", "best so far", Unit::Seconds));
        section = section.table(curve(so_far.len(), best, |at| so_far[at]));
        if let Some(recorded) = one.recorded() {
            section = section.table(worth(&recorded));
        }
        let prices = self.prices(one);
        if prices.is_empty() { section } else { section.table(price_table(prices)) }
    }

    /// What the best variants of other devices cost on this one: device, variant, time over the best.
    fn prices(&self, one: &Searched) -> Vec<(String, String, Option<f64>)> {
        let Some((_, best)) = one.found.best() else { return vec![] };
        let others = self.searched.iter().filter(|other| other.is_other_device(one));
        let price = |other: &Searched| {
            let variant = &other.target.variants[other.found.best()?.0];
            let here = one.target.variants.iter().position(|known| known == variant);
            let time = here.and_then(|here| one.found.of(here)?.interval);
            let ratio = time.map(|time| time.time / best.time);
            Some((other.target.device.label(), variant.label.clone(), ratio))
        };
        others.filter_map(price).collect()
    }
}

fn counts(one: &Searched) -> Sentence {
    let found = &one.found;
    let mut sentence = Sentence::new()
        .counted(one.target.space.len() as u64, "variant")
        .text("; tried ")
        .value(found.on_device() as f64, Unit::Count)
        .text(", of which racing cut off ")
        .value(found.cut_off as f64, Unit::Count);
    for (on_device, before) in [(true, ", "), (false, "; not tried, ")] {
        for (kind, count) in one.failures(|attempt| attempt.on_device == on_device) {
            let kind = sentence.text(before).name(kind.to_owned());
            sentence = kind.text(": ").value(count as f64, Unit::Count);
        }
    }
    sentence
}

fn order_sentence((variants, rho): (usize, Option<f64>)) -> Sentence {
    let sentence = Sentence::new()
        .text("Counts and the device's profile ordered ")
        .counted(variants as u64, "variant");
    match rho {
        Some(rho) => sentence
            .text("; of those tried, predicted and measured times correlate by ")
            .value(rho, Unit::None)
            .text(" (Spearman's ρ)"),
        None => sentence,
    }
}

fn price_table(prices: Vec<(String, String, Option<f64>)>) -> Table {
    Table::of("others_bests", "What another device's best costs here, over this one's", prices)
        .column(Column::text("device", "best of"), |(device, ..)| device.clone())
        .column(Column::text("variant", "variant"), |(_, variant, _)| variant.clone())
        .column(Column::new("ratio", "time here", Unit::Ratio), |(.., ratio)| *ratio)
        .table()
}
