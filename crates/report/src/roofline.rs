//! Each device's roofline as it was measured, with every kernel on it (the roofline model, 3).

use crate::labels;
use gpubench_analysis::{Aggregate, Rate, ReportInput, Roof};
use gpubench_core::gpu::Numeric;
use gpubench_core::record::sole_type;
use gpubench_core::units::Bytes;
use gpubench_core::workload::Ceiling as Kind;
use gpubench_document::{
    Axis, Cell, Column, Plot, Quantity, Scale, Section, Sentence, Series, Style, Table, Unit,
};
use gpubench_model::roofline::{Bound, Ceilings};
use std::collections::BTreeMap;

/// One section a device with kernels whose work is counted.
pub fn section(input: &ReportInput) -> Section {
    let section = Section::new("rooflines", "Rooflines").text(
        "A kernel cannot be faster than the device computes or moves bytes. The lines are this \
         device's own measured ceilings (the best of the micro-benchmarks): of memory and its faster \
         levels, of f32 and other types. The marks are its verified kernels: operations and bytes as the \
         suite counts them. A share is that of the roof of a kernel's own types, at the level that its \
         working set is in. A mark above its line moved fewer bytes than counted, or a ceiling was not reached.",
    );
    let devices = 0..input.reported_devices.len();
    // One colour means one tag on all devices.
    let placed = devices.clone().flat_map(|device| kernels(input, device));
    let mut groups: Vec<String> =
        placed.filter(Kernel::has_place).map(|kernel| group(&kernel)).collect();
    groups.sort();
    groups.dedup();
    let devices = devices.filter_map(|device| one(input, device, &groups));
    devices.fold(section, Section::section)
}

/// A verified kernel with work to count.
struct Kernel<'m, 'a> {
    row: &'m Aggregate<'a>,
    seconds: f64,
    flops: f64,
    bytes: f64,
}

impl Kernel<'_, '_> {
    /// Whether it has a place between the axes.
    fn has_place(&self) -> bool {
        self.flops > 0.0 && self.bytes > 0.0
    }
}

fn kernels<'m, 'a>(input: &'m ReportInput<'a>, device: usize) -> Vec<Kernel<'m, 'a>> {
    let kernel = |row: &'m Aggregate<'a>| {
        let time = row.time.filter(|_| row.outcome.is_ok() && row.key.measure.is_kernel())?;
        let measured = row.rounds().next()?;
        let (seconds, flops, bytes) = (time.value, measured.flops, measured.bytes);
        (bytes > 0.0 || flops > 0.0).then_some(Kernel { row, seconds, flops, bytes })
    };
    input.of(device).filter_map(kernel).collect()
}

fn one(input: &ReportInput, device: usize, groups: &[String]) -> Option<Section> {
    let kernels = kernels(input, device);
    let who = &input.reported_devices[device];
    let measured = Measured::of(input, device);
    let title = Sentence::new().name(&who.label).text(" ").name(&who.name);
    let shares = Section::new("shares", "Share of the roof").folded();
    let shares = shares.table(shares_of(&kernels, &measured));
    let mut section = Section::new(&who.label, title).fact(
        "arithmetic",
        "ceiling of arithmetic",
        measured.arithmetic(Numeric::F32),
    );
    for r#type in measured.peaks.keys().filter(|r#type| **r#type != Numeric::F32) {
        let (key, label) = (format!("arithmetic_{}", r#type.name()), "ceiling of arithmetic in ");
        let label = Sentence::new().text(label).name(r#type.name());
        section = section.fact(&key, label, measured.arithmetic(*r#type));
    }
    let section = section
        .fact("memory", "ceiling of memory", measured.memory())
        .plot(plot(&kernels, &measured, groups))
        .section(shares);
    (!kernels.is_empty()).then_some(section)
}

/// A ceiling, and the case that reached it.
#[derive(Clone, Copy)]
struct Ceiling<'m, 'a> {
    rate: f64,
    row: &'m Aggregate<'a>,
}

fn is_cached(roof: &Roof, row: &Aggregate) -> bool {
    row.records.iter().any(|record| roof.serves_from_cache(record))
}

/// The best of the micro-benchmarks.
#[derive(Clone, Default)]
struct Measured<'m, 'a> {
    /// What is possible.
    roof: Roof,
    /// What is shown.
    values: Roof,
    peaks: BTreeMap<Numeric, Ceiling<'m, 'a>>,
    bandwidth: Option<Ceiling<'m, 'a>>,
    /// What else would be a ceiling, but for a warning.
    disturbed: Vec<Kind>,
}

impl<'m, 'a> Measured<'m, 'a> {
    fn of(input: &'m ReportInput<'a>, device: usize) -> Self {
        let records = input.of(device).flat_map(|row| row.records.iter().copied());
        let roof = Roof::of(records);
        let values = Roof::at_values(input.of(device));
        let mut found = Self { roof, values, ..Self::default() };
        // The memory's bandwidth, not a cache's, where both were measured; else that of the largest
        // working set, which is the nearest to it.
        let nearness = |roof: &Roof, Ceiling { rate, row }: &Ceiling| {
            let cached = is_cached(roof, row);
            let bytes = row.rounds().next().map_or(0.0, |measured| measured.bytes);
            (!cached, if cached { bytes } else { 0.0 }, *rate)
        };
        for row in input.of(device).filter(|row| row.outcome.is_ok()) {
            let (Some(kind), Some(time)) = (row.records[0].ceiling, row.time) else { continue };
            let Some(measured) = row.rounds().next() else { continue };
            if row.is_doubtful() {
                found.disturbed.push(kind);
                continue;
            }
            match kind {
                Kind::Flops => {
                    let new = Ceiling { rate: measured.flops / time.value, row };
                    let Some(of) = sole_type(measured.flops, &measured.types) else { continue };
                    let best = found.peaks.entry(of).or_insert(new);
                    if new.rate > best.rate {
                        *best = new;
                    }
                }
                Kind::Bandwidth => {
                    let new = Ceiling { rate: measured.bytes / time.value, row };
                    let of = |ceiling: &Ceiling| nearness(&found.roof, ceiling);
                    if found.bandwidth.is_none_or(|known| of(&new) > of(&known)) {
                        found.bandwidth = Some(new);
                    }
                }
            }
        }
        found
    }

    fn arithmetic(&self, r#type: Numeric) -> Sentence {
        match self.peaks.get(&r#type) {
            Some(Ceiling { rate, row }) => {
                let rate = Sentence::new().value(*rate, Unit::FlopsPerSecond);
                rate.text(" (").name(labels::case_name(row.key)).text(")")
            }
            None => self.missing(Kind::Flops),
        }
    }

    fn memory(&self) -> Sentence {
        let Some(Ceiling { rate, row }) = self.bandwidth else {
            return self.missing(Kind::Bandwidth);
        };
        let cached = is_cached(&self.roof, row);
        let only = if cached { ", the cache's: no larger size was measured)" } else { ")" };
        let rate = Sentence::new().value(rate, Unit::BytesPerSecond);
        rate.text(" (").name(labels::case_name(row.key)).text(only)
    }

    fn missing(&self, kind: Kind) -> Sentence {
        let disturbed = self.disturbed.contains(&kind);
        if disturbed { "measured only while disturbed" } else { "not measured" }.into()
    }

    /// The ceilings of a kernel: of its own types, and of the level of memory that it works in.
    fn ceilings_of(&self, kernel: &Kernel) -> Option<Ceilings> {
        let (record, _) = kernel.row.shown().next()?;
        self.values.ceilings_of(record).filter(|_| self.ceilings().is_some())
    }

    fn ceilings(&self) -> Option<Ceilings> {
        let peak = self.peaks.get(&Numeric::F32)?.rate;
        Some(Ceilings { peak, bandwidth: self.bandwidth?.rate })
    }

    /// The roofs from the intensity `left` to `right`: that of `f32` and memory first, then the slopes of faster
    /// levels of memory and the tops of other types.
    fn roofs(&self, left: f64, right: f64) -> Vec<Series> {
        let Some(Ceilings { peak, bandwidth }) = self.ceilings() else { return vec![] };
        let corner = peak / bandwidth;
        let (left, right) = (left.min(corner / 4.0), right.max(corner * 4.0));
        let line = |name: String, points: Vec<(f64, f64)>| {
            Series::new(name, Style::Line).look(7, 0).points(points)
        };
        let under = |intensity: f64| (intensity, (intensity * bandwidth).min(peak));
        let mut roofs = vec![line("roof".into(), [left, corner, right].map(under).to_vec())];
        let levels = self.values.levels();
        for (bytes, rate) in levels.iter().take(levels.len().saturating_sub(1)) {
            let name = format!("roof from {}", Bytes(*bytes as u64));
            roofs.push(line(name, vec![(left, left * rate), (peak / rate, peak)]));
        }
        for (r#type, Ceiling { rate, .. }) in
            self.peaks.iter().filter(|(r#type, _)| **r#type != Numeric::F32)
        {
            let name = format!("roof of {}", r#type.name());
            roofs.push(line(name, vec![(rate / bandwidth, *rate), (right, *rate)]));
        }
        roofs
    }
}

fn plot(kernels: &[Kernel], measured: &Measured, groups: &[String]) -> Plot {
    let x = Axis::new("operations per byte", Unit::FlopsPerByte, Scale::Log10);
    let y = Axis::new("rate", Unit::FlopsPerSecond, Scale::Log10);
    let mut plot = Plot::new("roofline", "Rate against intensity", x, y);
    let placed = || kernels.iter().filter(|kernel| kernel.has_place());
    let intensities = || placed().map(|kernel| kernel.flops / kernel.bytes);
    for (i, name) in groups.iter().enumerate() {
        let of = placed().filter(|kernel| group(kernel) == *name);
        let points = of.map(|kernel| (kernel.flops / kernel.bytes, kernel.flops / kernel.seconds));
        let series = Series::new(name.clone(), Style::Points).look(i, 0);
        plot = plot.series(series.points(points));
    }
    let (left, right) =
        (intensities().fold(f64::INFINITY, f64::min), intensities().fold(0.0, f64::max));
    match plot.all().is_empty() {
        true => plot,
        false => measured.roofs(left, right).into_iter().fold(plot, Plot::series),
    }
}

/// The first tag: what the marks distinguish.
fn group(kernel: &Kernel) -> String {
    kernel.row.records[0].tags.first().cloned().unwrap_or_else(|| "other".to_owned())
}

/// Each workload at the size that comes closest to the roof.
fn shares_of(kernels: &[Kernel], measured: &Measured) -> Table {
    let columns = [
        Column::text("case", "case"),
        Column::new("intensity", "intensity", Unit::FlopsPerByte),
        Column::new("rate", "rate", Unit::None),
        Column::text("bound", "bound by"),
        Column::new("share", "of its roof", Unit::Fraction),
        Column::text("cache", "from"),
    ];
    let title = "Each workload at the size that comes closest to the roof";
    let mut table = Table::new("shares", title, columns);
    if measured.ceilings().is_none() {
        return table;
    }
    let share = |kernel: &Kernel| {
        let ideal = measured.ceilings_of(kernel)?.ideal_seconds(kernel.flops, kernel.bytes);
        Some(ideal / kernel.seconds)
    };
    let mut best: Vec<&Kernel> = vec![];
    for kernel in kernels {
        match best.iter_mut().find(|known| known.row.key.workload == kernel.row.key.workload) {
            Some(known) if share(known) < share(kernel) => *known = kernel,
            Some(_) => {}
            None => best.push(kernel),
        }
    }
    let order = |kernel: &Kernel| share(kernel).unwrap_or(-1.0);
    best.sort_by(|a, b| order(b).total_cmp(&order(a)));
    for kernel in best {
        let bound = measured.ceilings_of(kernel).map(|of| of.bound(kernel.flops, kernel.bytes));
        let bound = match bound {
            Some(Bound::Compute) => "arithmetic",
            Some(Bound::Memory) => "memory",
            None => "no ceiling of that size",
        };
        table.row([
            labels::case_name(kernel.row.key).into(),
            Quantity::new(kernel.flops / kernel.bytes).into(),
            kernel.row.rate.map(rate).into(),
            bound.into(),
            share(kernel).into(),
            if is_cached(&measured.roof, kernel.row) { Cell::from("cache") } else { Cell::Missing },
        ]);
    }
    table.without_missing()
}

fn rate(rate: Rate) -> Sentence {
    match rate {
        Rate::Flops(rate) => Sentence::new().value(rate, Unit::FlopsPerSecond),
        Rate::Bandwidth(rate) => Sentence::new().value(rate, Unit::BytesPerSecond),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::text;
    use gpubench_analysis::Source;
    use gpubench_core::record::sample::{device, header, key, record};
    use gpubench_core::record::{Flag, Record};

    fn record_of(name: &str, flops: f64, bytes: f64, ceiling: Option<Kind>) -> Record {
        let mut record = Record { ceiling, ..record(key(name, bytes as i64), 1e-3) };
        let measured = record.measured.as_mut().unwrap();
        (measured.flops, measured.bytes) = (flops, bytes);
        record
    }

    fn shown(records: &[Record]) -> String {
        let header = header(vec![device("opencl")]);
        let name = "sample.jsonl".into();
        let source = Source { name, header: &header, records, footer: None, warnings: vec![] };
        text::section(&section(&ReportInput::new(vec![source])), None)
    }

    fn with_ceiling(bytes: f64) -> [Record; 3] {
        [
            record_of("fma", 1e9, 4.0, Some(Kind::Flops)),
            record_of("triad", 2.0, bytes, Some(Kind::Bandwidth)),
            record_of("stencil", 1e6, 4e6, None),
        ]
    }

    #[test]
    fn a_kernel_that_touches_more_than_any_ceiling_has_none() {
        let line = |bytes: f64| {
            let text = shown(&with_ceiling(bytes));
            let is_share = |line: &&str| line.contains("stencil n=4000000");
            text.lines().find(is_share).unwrap_or_else(|| panic!("{text}")).to_owned()
        };
        let (known, unknown) = (line(1e7), line(1e6));
        assert!(known.contains("memory") && known.contains('%'), "{known}");
        assert!(unknown.contains("no ceiling of that size"), "{unknown}");
        assert!(!unknown.contains('%'), "{unknown}");
    }

    #[test]
    fn other_types_and_faster_levels_have_roofs_of_their_own() {
        let mut double = record_of("chains", 1e8, 4.0, Some(Kind::Flops));
        double.measured.as_mut().unwrap().types = vec![(Numeric::F64, 1e8)];
        let mut kernel = record_of("solve", 5e7, 4e4, None);
        kernel.measured.as_mut().unwrap().types = vec![(Numeric::F64, 5e7)];
        let triads = [1e6, 4e6].map(|bytes| record_of("triad", 2.0, bytes, Some(Kind::Bandwidth)));
        let mut cached = record_of("triad", 2.0, 1e5, Some(Kind::Bandwidth));
        cached.measured.as_mut().unwrap().samples = vec![1e-5; 20];
        let fma = record_of("fma", 1e9, 4.0, Some(Kind::Flops));
        let text = shown(&[&[fma, double, kernel, cached][..], &triads].concat());
        assert!(text.contains("ceiling of arithmetic in f64: 100 GFLOP/s (chains n=4)"), "{text}");
        let line = text.lines().find(|line| line.contains("solve n=40000")).unwrap();
        assert!(line.contains("50") && line.contains("arithmetic"), "half of its own roof: {line}");
    }

    #[test]
    fn a_ceiling_that_was_disturbed_is_none() {
        let mut records = with_ceiling(1e7);
        assert!(shown(&records).contains("triad n=10000000)"));
        records[1].flags.push(Flag::Throttled("power cap".into()));
        let text = shown(&records);
        assert!(text.contains("measured only while disturbed"), "{text}");
        assert!(!text.contains("stencil n=4000000"), "no share: {text}");
    }
}
