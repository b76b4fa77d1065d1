//! What the devices' memories deliver, by the bytes that a kernel touches: all devices in one plot.

use crate::labels;
use gpubench_analysis::{Aggregate, Figure, ReportInput};
use gpubench_core::workload::Ceiling;
use gpubench_document::{
    Axis, Column, Plot, Quantity, Scale, Section, Sentence, Series, Style, Table, Unit,
};
use std::collections::BTreeMap;

/// How many devices differ in colour.
const COLOURS: usize = 8;

/// The plot and its table; without parts where nothing was measured at two sizes.
pub fn section(input: &ReportInput) -> Section {
    let section = Section::new("bandwidth", "Memory bandwidth by size").text(
        "What the micro-benchmarks of memory reach, by the bytes that they touch: the best of them at each \
         size. Steps down are the ends of caches; the right end is the memory's own.",
    );
    let devices = 0..input.reported_devices.len();
    let curves: Vec<(usize, Curve)> = devices
        .map(|device| (device, curve(input, device)))
        .filter(|(_, c)| !c.is_empty())
        .collect();
    let sizes = || curves.iter().flat_map(|(_, curve)| curve.keys());
    if sizes().min() == sizes().max() {
        return section;
    }
    let details = Section::new("all", "All sizes").folded().table(table(input, &curves));
    let section = highest(input, &curves).into_iter().fold(section, Section::text);
    section.plot(plot(input, &curves)).section(details)
}

/// By bytes touched: the best rate, and the case that reached it.
type Curve<'m, 'a> = BTreeMap<u64, (Quantity, &'m Aggregate<'a>)>;

fn curve<'m, 'a>(input: &'m ReportInput<'a>, device: usize) -> Curve<'m, 'a> {
    let mut curve = Curve::new();
    for row in input.of(device).filter(|row| row.outcome.is_ok() && !row.is_doubtful()) {
        let (Some(Ceiling::Bandwidth), Some(time)) = (row.described_by().ceiling, row.time) else {
            continue;
        };
        let Some((record, measured)) = row.shown().next() else { continue };
        let touched = Figure::of(record).map_or(measured.bytes, |figure| figure.touched());
        let [low, high] = time.interval.map(|end| measured.bytes / end);
        let Some(rate) = Quantity::between(measured.bytes / time.value, [high, low]) else {
            continue;
        };
        let known = curve.entry(touched as u64).or_insert((rate, row));
        if rate.value() > known.0.value() {
            *known = (rate, row);
        }
    }
    curve
}

/// `Highest: A at 1.00 MiB (90.0 GB/s), B or C at 64.0 MiB (6.00 GB/s).` Sizes of one device alone are not compared;
/// devices whose intervals reach the highest value may be as fast.
fn highest(input: &ReportInput, curves: &[(usize, Curve)]) -> Option<Sentence> {
    let mut sizes: BTreeMap<u64, Vec<(usize, Quantity)>> = BTreeMap::new();
    for (device, curve) in curves {
        for (bytes, (rate, _)) in curve {
            sizes.entry(*bytes).or_default().push((*device, *rate));
        }
    }
    let compared = sizes.iter_mut().filter(|(_, rates)| rates.len() > 1).map(|(bytes, rates)| {
        rates.sort_by(|(_, a), (_, b)| b.value().total_cmp(&a.value()));
        let low = |rate: &Quantity| rate.interval().map_or(rate.value(), |[low, _]| low);
        let high = |rate: &Quantity| rate.interval().map_or(rate.value(), |[_, high]| high);
        let best = rates[0].1;
        let as_fast = rates.iter().filter(|(_, rate)| high(rate) >= low(&best));
        let names = as_fast.map(|(device, _)| input.reported_devices[*device].name.clone());
        let sentence = Sentence::new().list(" or ", names).text(" at ");
        let sentence = sentence.value(*bytes as f64, Unit::Bytes).text(" (");
        sentence.value(best.value(), Unit::BytesPerSecond).text(")")
    });
    let compared: Vec<Sentence> = compared.collect();
    (!compared.is_empty()).then(|| Sentence::from("Highest: ").list(", ", compared).text("."))
}

fn plot(input: &ReportInput, curves: &[(usize, Curve)]) -> Plot {
    let x = Axis::new("bytes touched", Unit::Bytes, Scale::Log2);
    let y = Axis::new("bandwidth", Unit::BytesPerSecond, Scale::Log10);
    let plot = Plot::new("by_size", "Bandwidth against size, all devices", x, y).tabled_in("sizes");
    curves.iter().fold(plot, |plot, (device, curve)| {
        let name = input.reported_devices[*device].name.clone();
        let look = Series::new(name, Style::Joined).look(device % COLOURS, device / COLOURS);
        plot.series(look.quantities(curve.iter().map(|(&bytes, (rate, _))| (bytes as f64, *rate))))
    })
}

fn table(input: &ReportInput, curves: &[(usize, Curve)]) -> Table {
    let points = curves.iter().flat_map(|(device, curve)| {
        let device = &input.reported_devices[*device];
        curve.iter().map(move |(bytes, (rate, row))| (device, *bytes, *rate, row))
    });
    Table::of("sizes", "Bandwidth, the best of each size", points)
        .column(Column::names("device", "device"), |(device, ..)| device.name.clone())
        .column(Column::new("bytes", "touched", Unit::Bytes), |(_, bytes, ..)| *bytes as f64)
        .column(Column::new("rate", "bandwidth", Unit::BytesPerSecond), |(_, _, rate, _)| *rate)
        .column(Column::text("case", "reached by"), |(.., row)| labels::case_name(row.key))
        .table()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_analysis::Source;
    use gpubench_core::record::Record;
    use gpubench_core::record::sample::{device, header, key, record};
    use gpubench_document::{Drawing, Part};

    fn triad(name: &str, device: usize, bytes: f64, seconds: f64) -> Record {
        let key = key(name, bytes as i64);
        let mut record =
            Record { device, ceiling: Some(Ceiling::Bandwidth), ..record(key, seconds) };
        record.measured.as_mut().unwrap().bytes = bytes;
        record
    }

    fn shown(records: &[Record]) -> Section {
        let header = header(vec![device("opencl"), device("wgpu")]);
        let name = "sample.jsonl".into();
        let source = Source { name, header: &header, records, footer: None, warnings: vec![] };
        section(&ReportInput::new(vec![source]))
    }

    #[test]
    fn all_devices_stand_in_one_plot_each_with_its_best() {
        let section = shown(&[
            triad("copy", 0, 1e6, 1e-3),
            triad("triad", 0, 1e6, 5e-4),
            triad("triad", 0, 1e8, 1e-1),
            triad("triad", 1, 1e6, 1e-2),
        ]);
        let plots: Vec<&Plot> = section
            .parts()
            .iter()
            .filter_map(|part| match part {
                Part::Drawing(Drawing::Plot(plot)) => Some(plot),
                _ => None,
            })
            .collect();
        let [plot] = plots.as_slice() else { panic!("{} plots", plots.len()) };
        let points: Vec<Vec<(f64, f64)>> = plot
            .all()
            .iter()
            .map(|series| series.all().iter().map(|p| (p.x(), p.y().value().round())).collect())
            .collect();
        assert_eq!(points, [vec![(1e6, 2e9), (1e8, 1e9)], vec![(1e6, 1e8)]]);
        assert_eq!(section.find_table("sizes").map(|table| table.rows().len()), Some(3));
        let text = crate::render::text::section(&section, None);
        let highest = text.lines().find(|line| line.contains("Highest: ")).unwrap();
        assert!(highest.ends_with("opencl at 977 KiB (2.00 GB/s)."), "not at 1e8 alone: {highest}");
    }

    #[test]
    fn one_size_is_no_curve() {
        assert!(shown(&[triad("triad", 0, 1e6, 1e-3), triad("triad", 1, 1e6, 1e-3)]).is_empty());
        assert!(shown(&[]).is_empty());
    }
}
