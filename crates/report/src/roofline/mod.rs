//! Each device's roofline as it was measured, with every kernel on it (the roofline model, 3).

mod measured;
mod shares;

use gpubench_analysis::{Aggregate, ReportInput};
use gpubench_core::workload::Ceiling as Kind;
use gpubench_document::{
    Axis, Cell, Column, Plot, Scale, Section, Sentence, Series, Style, Table, Unit,
};
use gpubench_model::roofline::Ceilings;
use measured::Measured;

/// The devices' ceilings, a plot each on the same axes, and how near every kernel comes to its roof.
pub fn section(input: &ReportInput) -> Section {
    let section = Section::new("rooflines", "Rooflines").text(
        "A kernel cannot be faster than the device computes or moves bytes. The lines are the \
         device's own measured ceilings (the best of the micro-benchmarks): of memory and its faster \
         levels, of f32 and other types. The marks are its verified kernels: operations and bytes as \
         the suite counts them. A share is that of the roof of a kernel's own types, at the level that \
         its working set is in. A mark above its line moved fewer bytes than counted, or a ceiling was \
         not reached.",
    );
    let devices: Vec<Device> =
        (0..input.reported_devices.len()).filter_map(|device| Device::of(input, device)).collect();
    if devices.is_empty() {
        return section;
    }
    let frame = Frame::around(&devices);
    let section = section.table(ceilings(&devices)).table(typed_ceilings(&devices));
    let section = devices.iter().fold(section, |section, one| section.plot(plot(one, &frame)));
    devices.iter().fold(section, |section, one| {
        let title = Sentence::from("Share of the roof: ").name(one.name);
        let shares = Section::new(&format!("shares {}", one.label), title).folded();
        section.section(shares.table(shares::table(&one.kernels, &one.measured)))
    })
}

/// A device with kernels whose work is counted.
struct Device<'m, 'a> {
    label: &'m str,
    name: &'m str,
    kernels: Vec<Kernel<'m, 'a>>,
    measured: Measured<'m, 'a>,
}

impl<'m, 'a> Device<'m, 'a> {
    fn of(input: &'m ReportInput<'a>, device: usize) -> Option<Self> {
        let kernels = kernels(input, device);
        let reported = &input.reported_devices[device];
        (!kernels.is_empty()).then(|| Self {
            label: &reported.label,
            name: &reported.name,
            kernels,
            measured: Measured::of(input, device),
        })
    }

    /// The kernels that have a place in the plot.
    fn placed(&self) -> impl Iterator<Item = &Kernel<'m, 'a>> {
        self.kernels.iter().filter(|kernel| kernel.has_place())
    }
}

/// What all devices' plots have in common.
struct Frame {
    /// One colour means one tag on all devices.
    groups: Vec<String>,
    /// The lowest and the highest intensity.
    intensities: [f64; 2],
    /// Every rate that is drawn.
    rates: Vec<f64>,
}

impl Frame {
    fn around(devices: &[Device]) -> Self {
        let placed = || devices.iter().flat_map(Device::placed);
        let mut groups: Vec<String> = placed().map(group).collect();
        groups.sort();
        groups.dedup();
        // Room to either side of every corner.
        let ceilings = devices.iter().filter_map(|one| one.measured.ceilings());
        let corners = ceilings.map(Ceilings::critical_intensity);
        let sides = corners.flat_map(|corner| [corner / 4.0, corner * 4.0]);
        let all: Vec<f64> = placed().map(Kernel::intensity).chain(sides).collect();
        let intensities = [
            all.iter().copied().fold(f64::INFINITY, f64::min),
            all.iter().copied().fold(0.0, f64::max),
        ];
        let roofs = devices.iter().flat_map(|one| one.measured.roofs(intensities));
        let roofs = roofs
            .flat_map(|roof| roof.all().iter().map(|point| point.y().value()).collect::<Vec<_>>());
        let rates = placed().map(|kernel| kernel.flops / kernel.seconds).chain(roofs).collect();
        Self { groups, intensities, rates }
    }
}

/// Each device's ceilings and the cases that reached them.
fn ceilings(devices: &[Device]) -> Table {
    let columns = [
        Column::names("device", "device"),
        Column::new("arithmetic", "ceiling of arithmetic", Unit::FlopsPerSecond),
        Column::text("arithmetic_case", "reached by"),
        Column::new("memory", "ceiling of memory", Unit::BytesPerSecond),
        Column::text("memory_case", "reached by"),
    ];
    let mut table = Table::new("ceilings", "What each device was seen to do at most", columns);
    for one in devices {
        let device = [Cell::from(one.name.to_owned())].into_iter();
        let kinds = [Kind::Flops, Kind::Bandwidth].map(|kind| one.measured.cells(kind));
        table.row(device.chain(kinds.into_iter().flatten()));
    }
    table
}

/// The ceilings of types other than `f32`, where they were measured.
fn typed_ceilings(devices: &[Device]) -> Table {
    let columns = [
        Column::names("device", "device"),
        Column::text("type", "type"),
        Column::new("arithmetic", "ceiling of arithmetic", Unit::FlopsPerSecond),
        Column::text("arithmetic_case", "reached by"),
    ];
    let mut table = Table::new("typed ceilings", "Ceilings of other types than f32", columns);
    for one in devices {
        for (name, cells) in one.measured.other_types() {
            let named = [Cell::from(one.name.to_owned()), name.into()];
            table.row(named.into_iter().chain(cells));
        }
    }
    table
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

    fn intensity(&self) -> f64 {
        self.flops / self.bytes
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

fn plot(device: &Device, frame: &Frame) -> Plot {
    let x = Axis::new("operations per byte", Unit::FlopsPerByte, Scale::Log10);
    let y = Axis::new("rate", Unit::FlopsPerSecond, Scale::Log10);
    let (x, y) = (x.shared(frame.intensities), y.shared(frame.rates.iter().copied()));
    let mut plot = Plot::new(&format!("roofline {}", device.label), device.name.to_owned(), x, y)
        .describe(Sentence::from("Rate against intensity on ").name(device.name).text("."));
    for (i, name) in frame.groups.iter().enumerate() {
        let of = device.placed().filter(|kernel| group(kernel) == *name);
        let points = of.map(|kernel| (kernel.intensity(), kernel.flops / kernel.seconds));
        let series = Series::new(name.clone(), Style::Points).look(i, 0);
        plot = plot.series(series.points(points));
    }
    match plot.all().is_empty() {
        true => plot,
        false => device.measured.roofs(frame.intensities).into_iter().fold(plot, Plot::series),
    }
}

/// The first tag: what the marks distinguish.
fn group(kernel: &Kernel) -> String {
    kernel.row.described_by().tags.first().cloned().unwrap_or_else(|| "other".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::text;
    use gpubench_analysis::Source;
    use gpubench_core::gpu::Scalar;
    use gpubench_core::record::sample::{device, header, key, record};
    use gpubench_core::record::{Flag, Record};
    use gpubench_document::{Drawing, Part};

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
    fn a_ceiling_that_fits_the_cache_says_so() {
        let mut records = with_ceiling(1e6).to_vec();
        records[1].flags.push(Flag::Cache);
        let remark = "the cache's: no larger size was measured";
        assert!(shown(&records).contains(remark));
        records.push(record_of("triad", 2.0, 1e8, Some(Kind::Bandwidth)));
        assert!(!shown(&records).contains(remark), "{}", shown(&records));
    }

    #[test]
    fn other_types_and_faster_levels_have_roofs_of_their_own() {
        let mut double = record_of("chains", 1e8, 4.0, Some(Kind::Flops));
        double.measured.as_mut().unwrap().types = vec![(Scalar::F64, 1e8)];
        let mut kernel = record_of("solve", 5e7, 4e4, None);
        kernel.measured.as_mut().unwrap().types = vec![(Scalar::F64, 5e7)];
        let triads = [1e6, 4e6].map(|bytes| record_of("triad", 2.0, bytes, Some(Kind::Bandwidth)));
        let mut cached = record_of("triad", 2.0, 1e5, Some(Kind::Bandwidth));
        cached.measured.as_mut().unwrap().samples = vec![1e-5; 20];
        let fma = record_of("fma", 1e9, 4.0, Some(Kind::Flops));
        let text = shown(&[&[fma, double, kernel, cached][..], &triads].concat());
        let line = |name: &str| text.lines().find(|line| line.contains(name)).unwrap_or("");
        assert!(line("f64 ").contains("100 GFLOP/s  chains n=4"), "{text}");
        let solve = line("solve n=40000");
        assert!(solve.contains("50") && solve.contains("arithmetic"), "half of its own: {text}");
    }

    #[test]
    fn a_ceiling_that_was_disturbed_is_none() {
        let mut records = with_ceiling(1e7);
        assert!(shown(&records).contains("triad n=10000000"));
        records[1].flags.push(Flag::Throttled("power cap".into()));
        let text = shown(&records);
        assert!(text.contains("measured only while disturbed"), "{text}");
        assert!(!text.contains("stencil n=4000000"), "no share: {text}");
    }

    #[test]
    fn every_share_is_of_its_ceiling_and_in_its_unit() {
        let mut records = with_ceiling(1e7).to_vec();
        // Three times the memory's rate, and a kernel that computes little in much time.
        let mut cached = record_of("cached", 1e6, 9e6, None);
        cached.measured.as_mut().unwrap().samples.iter_mut().for_each(|sample| *sample *= 0.3);
        records.push(cached);
        records.push(record_of("slow", 1e6, 10.0, None));
        let text = shown(&records);
        let line = |name: &str| text.lines().find(|line| line.contains(name)).unwrap().to_owned();
        assert!(line("cached n=9000000").contains("above"), "{text}");
        assert!(line("cached n=9000000").contains("memory") && line("cached n=").contains("GB/s"));
        let slow = line("slow n=10");
        assert!(slow.contains("arithmetic") && slow.contains("GFLOP/s"), "{slow}");
        assert!(!slow.contains("B/s"), "{slow}");
    }

    #[test]
    fn all_devices_share_their_axes_and_the_bandwidth_is_on_the_slope() {
        let header = header(vec![device("opencl"), device("wgpu")]);
        let on = |device: usize, factor: f64| {
            with_ceiling(1e7).map(|mut record| {
                record.device = device;
                record.measured.as_mut().unwrap().samples.iter_mut().for_each(|s| *s *= factor);
                record
            })
        };
        let records: Vec<Record> = on(0, 1.0).into_iter().chain(on(1, 50.0)).collect();
        let name = "sample.jsonl".into();
        let source =
            Source { name, header: &header, records: &records, footer: None, warnings: vec![] };
        let section = section(&ReportInput::new(vec![source]));
        let plots: Vec<&Plot> = section
            .parts()
            .iter()
            .filter_map(|part| match part {
                Part::Drawing(Drawing::Plot(plot)) => Some(plot),
                _ => None,
            })
            .collect();
        let [first, second] = plots.as_slice() else { panic!("{} plots", plots.len()) };
        assert_eq!((&first.x, &first.y), (&second.x, &second.y));
        for plot in plots {
            let places: Vec<f64> = plot.all().iter().flat_map(|s| s.all()).map(|p| p.x()).collect();
            let [low, high] = plot.x.places() else { panic!("no shared axis") };
            assert!(places.iter().all(|x| (low..=high).contains(&x)));
            let roof = plot.all().last().unwrap();
            let units: Vec<Unit> =
                roof.labels().iter().flat_map(|label| label.figures().map(|f| f.unit)).collect();
            assert_eq!(units, [Unit::BytesPerSecond, Unit::FlopsPerSecond]);
        }
    }
}
