//! Bandwidth and latency against the working set, a line a device.

use super::PortraitDevice;
use gpubench_analysis::{Aggregate, Rate};
use gpubench_core::workload::Ceiling;
use gpubench_document::{Axis, Plot, Quantity, Scale, Series, Style, Unit};
use std::collections::BTreeMap;

/// Fewer sizes are no curve.
const MIN_SIZES: usize = 4;

/// The curves that were measured.
pub(super) fn plots(devices: &[PortraitDevice]) -> Vec<Plot> {
    let set = || Axis::new("working set", Unit::Bytes, Scale::Log2);
    let rate = Axis::new("bandwidth", Unit::BytesPerSecond, Scale::Log10);
    let mut bandwidths = Plot::new("bandwidth", "Bandwidth by working set", set(), rate);
    let time = Axis::new("a dependent load", Unit::Seconds, Scale::Log10);
    let mut latencies = Plot::new("latency", "Latency by working set", set(), time);
    for (place, device) in devices.iter().enumerate() {
        let name = || device.reported.label.clone();
        let points = bandwidth(&device.cases);
        if points.len() >= MIN_SIZES {
            let line = Series::new(name(), Style::Line).look(place, 0);
            bandwidths = bandwidths.series(line.points(points));
        }
        let chase = device.profile.map_or(&[][..], |profile| profile.chase.as_slice());
        if chase.len() >= MIN_SIZES {
            let mut line = Series::new(name(), Style::Line).look(place, 0);
            for point in chase {
                let latency = Quantity::between(point.latency.value, point.latency.interval);
                line.point(point.bytes as f64, latency);
            }
            latencies = latencies.series(line);
        }
    }
    [bandwidths, latencies].into_iter().filter(|plot| !plot.all().is_empty()).collect()
}

/// The workload that is a ceiling of bandwidth at the most working sets: bytes and rate, ascending.
fn bandwidth(cases: &[&Aggregate]) -> Vec<(f64, f64)> {
    let mut curves: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for case in cases.iter().filter(|case| case.exclusion.is_none()) {
        let record = case.described_by();
        let is_bandwidth = record.ceiling == Some(Ceiling::Bandwidth);
        let (Some(Rate::Bandwidth(rate)), Some(bytes), true) =
            (case.rate, record.working_set, is_bandwidth)
        else {
            continue;
        };
        curves.entry(&case.key.workload).or_default().push((bytes as f64, rate));
    }
    let mut longest = curves.into_values().max_by_key(Vec::len).unwrap_or_default();
    longest.sort_by(|a, b| a.0.total_cmp(&b.0));
    longest
}
