//! A device's ceilings as they were measured: by type, and by level of memory.

use super::Kernel;
use crate::labels;
use gpubench_analysis::{Aggregate, Figure, ReportInput, Roof};
use gpubench_core::gpu::Scalar;
use gpubench_core::record::{Flag, sole_type};
use gpubench_core::units::Bytes;
use gpubench_core::workload::Ceiling as Kind;
use gpubench_document::{Cell, Sentence, Series, Style, Unit};
use gpubench_model::roofline::Ceilings;
use std::collections::BTreeMap;

/// A ceiling, and the case that reached it.
#[derive(Clone, Copy)]
struct Ceiling<'m, 'a> {
    rate: f64,
    row: &'m Aggregate<'a>,
}

impl Ceiling<'_, '_> {
    /// Its rate, and the case that reached it.
    fn cells(&self, only: &'static str) -> [Cell; 2] {
        let case = Sentence::new().name(labels::case_name(self.row.key)).text(only);
        [self.rate.into(), case.into()]
    }
}

/// Operations in `f32`, by instructions that do one at a time.
const PLAIN: (Scalar, bool) = (Scalar::F32, false);

/// The bytes of a launch.
fn bytes(row: &Aggregate) -> f64 {
    row.rounds().next().map_or(0.0, |measured| measured.bytes)
}

pub(super) fn is_cached(roof: &Roof, row: &Aggregate) -> bool {
    row.records.iter().any(|record| roof.serves_from_cache(record))
}

/// The best of the micro-benchmarks.
#[derive(Clone, Default)]
pub(super) struct Measured<'m, 'a> {
    pub(super) roof: Roof,
    /// By type, and whether of an instruction that does several operations at once.
    peaks: BTreeMap<(Scalar, bool), Ceiling<'m, 'a>>,
    bandwidth: Option<Ceiling<'m, 'a>>,
    /// The most bytes of a case that may be its ceiling.
    largest: f64,
    /// What else would be a ceiling, but for a warning.
    disturbed: Vec<Kind>,
}

impl<'m, 'a> Measured<'m, 'a> {
    /// Of a device's verified cases.
    pub(super) fn of(input: &'m ReportInput<'a>, device: usize) -> Self {
        let roof = Roof::at_values(input.of(device));
        let mut found = Self { roof, ..Self::default() };
        // The memory's bandwidth, not a cache's, where both were measured; else that of the largest
        // working set, which is the nearest to it.
        let nearness = |roof: &Roof, Ceiling { rate, row }: &Ceiling| {
            let touched = Figure::of(row.described_by()).map(|figure| figure.touched());
            let certainty = match touched.and_then(|bytes| roof.is_cached(bytes)) {
                Some(false) => 2,
                None if !is_cached(roof, row) => 1,
                _ => 0,
            };
            (certainty, if certainty == 2 { 0.0 } else { bytes(row) }, *rate)
        };
        for row in input.of(device).filter(|row| row.outcome.is_ok()) {
            let kind = row.described_by().ceiling;
            let (Some(time), Some(measured)) = (row.time, row.rounds().next()) else { continue };
            if row.is_doubtful() {
                found.disturbed.extend(kind);
                continue;
            }
            if kind == Some(Kind::Bandwidth) {
                found.largest = found.largest.max(measured.bytes);
                let new = Ceiling { rate: measured.bytes / time.value, row };
                let of = |ceiling: &Ceiling| nearness(&found.roof, ceiling);
                if found.bandwidth.is_none_or(|known| of(&new) > of(&known)) {
                    found.bandwidth = Some(new);
                }
            } else if measured.flops > 0.0 && row.key.measure.is_kernel() {
                let new = Ceiling { rate: measured.flops / time.value, row };
                let Some(of) = sole_type(measured.flops, &measured.types) else { continue };
                let several = match kind {
                    Some(kind) => kind == Kind::DotProduct,
                    None => found.roof.does_several(of, new.rate),
                };
                let best = found.peaks.entry((of, several)).or_insert(new);
                if new.rate > best.rate {
                    *best = new;
                }
            }
        }
        // Only where a ceiling of arithmetic was measured, and then by the kernel that computes most.
        found.peaks.retain(|(of, _), _| found.roof.types().any(|(known, _)| known == *of));
        found
    }

    /// The ceiling, of arithmetic that in `f32`, or why there is none, and the case that reached it.
    pub(super) fn cells(&self, kind: Kind) -> [Cell; 2] {
        let found = match kind {
            Kind::Flops | Kind::DotProduct => self.peaks.get(&PLAIN).copied(),
            Kind::Bandwidth => self.bandwidth,
        };
        let Some(ceiling) = found else {
            let disturbed = self.disturbed.contains(&kind);
            let why = if disturbed { "measured only while disturbed" } else { "not measured" };
            return [why.into(), Cell::Missing];
        };
        let cached = kind == Kind::Bandwidth && self.is_of_cache(ceiling.row);
        ceiling.cells(if cached { ", the cache's: no larger size was measured" } else { "" })
    }

    /// Whether a cache served it: by what was measured, and where no larger size was, by what the driver reports.
    fn is_of_cache(&self, row: &Aggregate) -> bool {
        let fits = row.flags.iter().any(|flag| **flag == Flag::Cache);
        is_cached(&self.roof, row) || fits && bytes(row) >= self.largest
    }

    /// The ceilings of arithmetic in other types, by name, and the cases that reached them.
    pub(super) fn other_types(&self) -> impl Iterator<Item = (String, [Cell; 2])> {
        self.others().map(|(r#type, name, ceiling)| {
            let [rate, case] = ceiling.cells("");
            // The column's unit is that of floats.
            let whole = Sentence::new().value(ceiling.rate, Unit::OperationsPerSecond);
            (name, [if r#type.is_float() { rate } else { whole.into() }, case])
        })
    }

    fn others(&self) -> impl Iterator<Item = (Scalar, String, Ceiling<'m, 'a>)> {
        let name = |(r#type, several): (Scalar, bool)| match several {
            true => format!("{}, several at once", r#type.name()),
            false => r#type.name().to_owned(),
        };
        let others = self.peaks.iter().filter(|(of, _)| **of != PLAIN);
        others.map(move |(of, ceiling)| (of.0, name(*of), *ceiling))
    }

    /// The ceilings of a kernel: of its own types, and of the level of memory that it works in.
    pub(super) fn ceilings_of(&self, kernel: &Kernel) -> Option<Ceilings> {
        let (record, _) = kernel.row.shown().next()?;
        self.roof.ceilings_of(record).filter(|_| self.ceilings().is_some())
    }

    /// Those of `f32` and of memory.
    pub(super) fn ceilings(&self) -> Option<Ceilings> {
        let peak = self.peaks.get(&PLAIN)?.rate;
        Some(Ceilings { peak, bandwidth: self.bandwidth?.rate })
    }

    /// The roofs from an intensity to another: the slopes of faster levels of memory and the tops of other types,
    /// and last that of `f32` and memory, with its ceilings written on it.
    pub(super) fn roofs(&self, [left, right]: [f64; 2]) -> Vec<Series> {
        let Some(Ceilings { peak, bandwidth }) = self.ceilings() else { return vec![] };
        let line = |name: String, points: Vec<(f64, f64)>| {
            Series::new(name, Style::Line).look(7, 0).points(points)
        };
        let levels = self.roof.levels();
        let faster = levels.iter().take(levels.len().saturating_sub(1));
        let slope = |(bytes, rate): &(f64, f64)| {
            let name = format!("roof from {}", Bytes(*bytes as u64));
            line(name, vec![(left, left * rate), (peak / rate, peak)])
        };
        let top = |(_, name, ceiling): (Scalar, String, Ceiling)| {
            let (name, rate) = (format!("roof of {name}"), ceiling.rate);
            line(name, vec![(rate / bandwidth, rate), (right, rate)])
        };
        let mut roofs: Vec<Series> = faster.map(slope).collect();
        roofs.extend(self.others().map(top));
        let under = |intensity: f64| (intensity, (intensity * bandwidth).min(peak));
        let labels = [
            Sentence::new().value(bandwidth, Unit::BytesPerSecond),
            Sentence::new().value(peak, Unit::FlopsPerSecond),
        ];
        let places = [left, peak / bandwidth, right];
        roofs.push(line("roof".into(), places.map(under).to_vec()).along(labels));
        roofs
    }
}
