//! How sections show bandwidth against the size of a copy, by direction and kind of host memory.

use crate::buffer_pairs::Direction;
use gpubench_core::gpu::MemoryKind;
use gpubench_document::{
    Axis, Cell, Column, Plot, Quantity, Scale, Section, Sentence, Series, Style, Table, Unit,
};
use std::collections::{BTreeMap, BTreeSet};

/// How bandwidths are to be read.
pub const EXPLANATION: &str = "Bandwidth is bytes over the median time, with its 95 % interval. Small copies cost the latency \
     of a copy, large ones the link's bandwidth; pageable memory is copied once more by the driver.";

/// How many devices differ in colour and mark.
const LOOKS: usize = 8;

/// The bandwidths of a device, by kind of host memory and bytes of one copy; cases of
/// one size stand beside each other.
#[derive(Default)]
pub struct Bandwidths(BTreeMap<Option<MemoryKind>, BTreeMap<(u64, usize), Rates>>);

/// One of each way, of copies of one size.
type Rates = BTreeMap<Direction, Quantity>;

fn label(memory: Option<MemoryKind>) -> &'static str {
    memory.map_or("unknown", MemoryKind::label)
}

fn against_size(key: &str, title: &'static str) -> Plot {
    let x = Axis::new("bytes of one copy", Unit::Bytes, Scale::Log2);
    let y = Axis::new("bandwidth", Unit::BytesPerSecond, Scale::Log10);
    Plot::new(key, title, x, y).tabled_in("sizes")
}

fn all_devices_title(way: Direction) -> &'static str {
    match way {
        Direction::Upload => "Upload by the fastest host memory, all devices",
        Direction::Download => "Download by the fastest host memory, all devices",
        Direction::Both => "Both ways at once by the fastest host memory, all devices",
    }
}

/// All devices, each with its number and name: a plot for each way. Both ways in one would be sixteen lines for
/// eight devices.
pub fn all_devices<'b>(
    devices: &[(usize, &'b String, &'b Bandwidths)],
) -> impl Iterator<Item = Plot> {
    Direction::ALL.into_iter().map(move |way| {
        let plot = against_size(way.label(), all_devices_title(way));
        devices.iter().fold(plot, |plot, (device, name, bandwidths)| {
            let series = Series::new((*name).clone(), Style::Joined).look(*device, device / LOOKS);
            let fastest = bandwidths.fastest(way).into_iter();
            plot.series(series.quantities(fastest.map(|(bytes, rate)| (bytes as f64, rate))))
        })
    })
}

impl Bandwidths {
    /// Adds what copies of `bytes` each took, with the interval of that time.
    pub fn add(
        &mut self,
        memory: Option<MemoryKind>,
        way: Direction,
        bytes: u64,
        seconds: f64,
        interval: [f64; 2],
    ) {
        let copies = if way == Direction::Both { 2.0 } else { 1.0 };
        let moved = copies * bytes as f64;
        let [low, high] = interval;
        if let Some(rate) = Quantity::between(moved / seconds, [moved / high, moved / low]) {
            let sizes = self.0.entry(memory).or_default();
            let is_free = |sizes: &BTreeMap<(u64, usize), Rates>, nth| {
                sizes.get(&(bytes, nth)).is_none_or(|rates| !rates.contains_key(&way))
            };
            let nth = (0..).find(|&nth| is_free(sizes, nth)).unwrap_or(0);
            sizes.entry((bytes, nth)).or_default().insert(way, rate);
        }
    }

    /// At how many sizes anything was copied.
    pub fn sizes(&self) -> usize {
        let sizes = self.0.values().flat_map(|sizes| sizes.keys().map(|(bytes, _)| *bytes));
        sizes.collect::<BTreeSet<_>>().len()
    }

    /// By the bytes of one copy: the bandwidth through the fastest kind of host memory.
    fn fastest(&self, way: Direction) -> BTreeMap<u64, Quantity> {
        let mut fastest: BTreeMap<u64, Quantity> = BTreeMap::new();
        for (&(bytes, _), rates) in self.0.values().flatten() {
            let Some(&rate) = rates.get(&way) else { continue };
            let best = fastest.entry(bytes).or_insert(rate);
            if rate.value() > best.value() {
                *best = rate;
            }
        }
        fastest
    }

    /// `section` with the plot and its table.
    pub fn in_section(&self, section: Section) -> Section {
        section
            .plot(self.plot())
            .section(Section::new("all", "All sizes").folded().table(self.table()))
    }

    /// The kind of memory is the colour, the way the dashes.
    fn plot(&self) -> Plot {
        let mut plot = against_size("against_size", "Bandwidth against the size of a copy");
        for (&memory, sizes) in &self.0 {
            for (dash, way) in Direction::ALL.into_iter().enumerate() {
                let name = Sentence::from(way.label()).text(" ").text(label(memory));
                let look = memory.map_or(4, |memory| memory as usize);
                let series = Series::new(name, Style::Joined).look(look, dash);
                let rate = |(&(bytes, _), rates): (&(u64, usize), &Rates)| {
                    (bytes as f64, rates.get(&way).copied())
                };
                plot = plot.series(series.quantities(sizes.iter().map(rate)));
            }
        }
        plot
    }

    fn table(&self) -> Table {
        let rows =
            || self.0.iter().flat_map(|(memory, sizes)| sizes.iter().map(move |s| (memory, s)));
        let seen = |way: &Direction| rows().any(|(_, (_, rates))| rates.contains_key(way));
        let ways: Vec<Direction> = Direction::ALL.into_iter().filter(seen).collect();
        let way = |way: &Direction| Column::new(way.label(), way.label(), Unit::BytesPerSecond);
        let first =
            [Column::text("memory", "memory"), Column::new("bytes", "one copy", Unit::Bytes)];
        let columns = first.into_iter().chain(ways.iter().map(way));
        let mut table = Table::new("sizes", "Bandwidth", columns);
        for (&memory, (&(bytes, _), rates)) in rows() {
            let rates = ways.iter().map(|way| rates.get(way).copied().into());
            let first: [Cell; 2] = [label(memory).into(), (bytes as f64).into()];
            table.row(first.into_iter().chain(rates));
        }
        table
    }
}
