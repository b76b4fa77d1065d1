//! Each device's roofline as it was measured, with every kernel on it (the roofline model, 3).

use crate::labels;
use gpubench_analysis::{Aggregate, Rate, ReportInput, Roof};
use gpubench_core::workload::Ceiling as Kind;
use gpubench_document::{
    Axis, Cell, Column, Plot, Quantity, Scale, Section, Sentence, Series, Style, Table, Unit,
};
use gpubench_model::roofline::{Bound, Ceilings};

/// One section a device with kernels whose work is counted.
pub fn section(input: &ReportInput) -> Section {
    let section = Section::new("rooflines", "Rooflines").text(
        "A kernel cannot be faster than the device computes or moves bytes. The lines are this \
         device's own measured ceilings (the best of the micro-benchmarks), the marks its verified \
         kernels: operations and bytes as the suite counts them. A mark above the line moved fewer \
         bytes than counted, since caches helped, or a ceiling was not reached.",
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
    let fact = |found, unit| ceiling(found, &measured.roof, unit);
    let section = Section::new(&who.label, title)
        .fact("arithmetic", "ceiling of arithmetic", fact(measured.peak, Unit::FlopsPerSecond))
        .fact("memory", "ceiling of memory", fact(measured.bandwidth, Unit::BytesPerSecond))
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

fn ceiling(found: Option<Ceiling>, roof: &Roof, unit: Unit) -> Sentence {
    found.map_or_else(|| "not measured".into(), |ceiling| ceiling.sentence(roof, unit))
}

impl Ceiling<'_, '_> {
    fn sentence(self, roof: &Roof, unit: Unit) -> Sentence {
        let cached = unit == Unit::BytesPerSecond && is_cached(roof, self.row);
        let only = if cached { ", the cache's: no larger size was measured)" } else { ")" };
        let rate = Sentence::new().value(self.rate, unit);
        rate.text(" (").name(labels::case_name(self.row.key)).text(only)
    }
}

fn is_cached(roof: &Roof, row: &Aggregate) -> bool {
    row.records.iter().any(|record| roof.serves_from_cache(record))
}

/// The best of the micro-benchmarks.
#[derive(Clone, Default)]
struct Measured<'m, 'a> {
    roof: Roof,
    peak: Option<Ceiling<'m, 'a>>,
    bandwidth: Option<Ceiling<'m, 'a>>,
}

impl<'m, 'a> Measured<'m, 'a> {
    fn of(input: &'m ReportInput<'a>, device: usize) -> Self {
        let records = input.of(device).flat_map(|row| row.records.iter().copied());
        let roof = Roof::of(records);
        let mut found = Self { roof, ..Self::default() };
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
            match kind {
                Kind::Flops => {
                    let new = Ceiling { rate: measured.flops / time.value, row };
                    if found.peak.is_none_or(|best| new.rate > best.rate) {
                        found.peak = Some(new);
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

    fn ceilings(&self) -> Option<Ceilings> {
        Some(Ceilings { peak: self.peak?.rate, bandwidth: self.bandwidth?.rate })
    }

    /// The roof from the intensity `left` to `right`.
    fn roof(&self, left: f64, right: f64) -> Option<Series> {
        let Ceilings { peak, bandwidth } = self.ceilings()?;
        let corner = peak / bandwidth;
        let under = |intensity: f64| (intensity, (intensity * bandwidth).min(peak));
        let places = [left.min(corner / 4.0), corner, right.max(corner * 4.0)];
        Some(Series::new("roof", Style::Line).look(7, 0).points(places.map(under)))
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
    match measured.roof(left, right) {
        Some(roof) if !plot.all().is_empty() => plot.series(roof),
        _ => plot,
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
    let Some(ceilings) = measured.ceilings() else { return table };
    let share =
        |kernel: &Kernel| ceilings.ideal_seconds(kernel.flops, kernel.bytes) / kernel.seconds;
    let mut best: Vec<&Kernel> = vec![];
    for kernel in kernels {
        match best.iter_mut().find(|known| known.row.key.workload == kernel.row.key.workload) {
            Some(known) if share(known) < share(kernel) => *known = kernel,
            Some(_) => {}
            None => best.push(kernel),
        }
    }
    best.sort_by(|a, b| share(b).total_cmp(&share(a)));
    for kernel in best {
        let compute = ceilings.bound(kernel.flops, kernel.bytes) == Bound::Compute;
        table.row([
            labels::case_name(kernel.row.key).into(),
            Quantity::new(kernel.flops / kernel.bytes).into(),
            kernel.row.rate.map(rate).into(),
            if compute { "arithmetic" } else { "memory" }.into(),
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
