//! Bandwidth and latency against the working set, a line a device.

use super::PortraitDevice;
use super::ceilings::is_ceiling;
use gpubench_analysis::{Aggregate, Rate};
use gpubench_core::record::profile::Footprint;
use gpubench_core::workload::Ceiling;
use gpubench_document::{Axis, Plot, Quantity, Scale, Series, Style, Unit};
use std::collections::{BTreeMap, BTreeSet};

/// Fewer sizes are no curve.
const MIN_SIZES: usize = 4;

/// The curves that were measured: bandwidth by the working set, a chart a workload, and the latency of loads.
pub(super) fn plots(devices: &[PortraitDevice]) -> Vec<Plot> {
    let set = || Axis::new("working set", Unit::Bytes, Scale::Log2);
    let all: Vec<Curves> = devices.iter().map(|device| curves(&device.cases)).collect();
    let workloads: BTreeSet<&str> = all.iter().flat_map(|of| of.keys().copied()).collect();
    let bandwidth = |workload: &&str| {
        let rate = Axis::new("bandwidth", Unit::BytesPerSecond, Scale::Log10);
        let title = format!("Bandwidth by working set, {workload}");
        let plot = Plot::new(&format!("bandwidth {workload}"), title, set(), rate);
        let lines = devices.iter().zip(&all).enumerate();
        lines.fold(plot, |plot, (place, (device, of))| match of.get(workload) {
            Some(points) => plot.series(line(device, place, points.iter().copied())),
            None => plot,
        })
    };
    let time = Axis::new("a dependent load", Unit::Seconds, Scale::Log10);
    let mut latencies = Plot::new("latency", "Latency by working set", set(), time);
    for (place, device) in devices.iter().enumerate() {
        let chase = device.profile.map_or(&[][..], |profile| profile.chase.as_slice());
        let point = |point: &Footprint| {
            let latency = Quantity::between(point.latency.value, point.latency.interval)?;
            Some((point.bytes as f64, latency))
        };
        if chase.len() >= MIN_SIZES {
            latencies = latencies.series(line(device, place, chase.iter().filter_map(point)));
        }
    }
    let plots = workloads.iter().map(bandwidth).chain([latencies]);
    plots.filter(|plot| !plot.all().is_empty()).collect()
}

fn line(
    device: &PortraitDevice,
    place: usize,
    points: impl Iterator<Item = (f64, Quantity)>,
) -> Series {
    Series::new(device.reported.label.clone(), Style::Line).look(place, 0).quantities(points)
}

/// Bandwidths by the bytes of the working set, ascending, by workload.
type Curves<'a> = BTreeMap<&'a str, Vec<(f64, Quantity)>>;

/// The workloads among the ceilings that have enough working sets.
fn curves<'a>(cases: &[&Aggregate<'a>]) -> Curves<'a> {
    let mut curves = Curves::new();
    for case in cases.iter().filter(|case| case.exclusion.is_none() && is_ceiling(case)) {
        let (Some(Rate::Bandwidth(rate)), Some(bytes)) =
            (case.rate, case.described_by().working_set)
        else {
            continue;
        };
        let ends = case.rate_interval().unwrap_or([rate; 2]);
        let rate = Quantity::between(rate, ends).map(|rate| (bytes as f64, rate));
        curves.entry(&case.key.workload).or_default().extend(rate);
    }
    curves.retain(|_, points| points.len() >= MIN_SIZES);
    curves.values_mut().for_each(|points| points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    curves
}

/// The workload that has the most working sets among those that bound the bandwidth of others.
pub(super) fn bandwidth(cases: &[&Aggregate]) -> Vec<(f64, Quantity)> {
    let bounds = |case: &&&Aggregate| case.described_by().ceiling == Some(Ceiling::Bandwidth);
    let cases: Vec<&Aggregate> = cases.iter().filter(bounds).copied().collect();
    curves(&cases).into_values().max_by_key(Vec::len).unwrap_or_default()
}
