//! How many work-items saturate a device's memory.

use gpubench_core::record::profile::{Bandwidth, Stream};
use gpubench_document::Quantity;
use gpubench_model::saturation::{Point, fit};

/// The knee of bandwidth against work-items in flight; `None` with fewer points than its curve needs.
pub(crate) fn knee(stream: &Stream) -> Option<Quantity> {
    let point = |point: &Bandwidth| Point {
        items: f64::from(point.groups) * f64::from(stream.group_size),
        rate: point.bandwidth.value,
    };
    let points: Vec<Point> = stream.points.iter().map(point).collect();
    let solution = fit(&points).ok()?;
    crate::caches::quantity(solution.values.get(1)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::profile::{Traffic, Value};

    #[test]
    fn a_stream_saturates_where_its_curve_bends() {
        let point = |groups: u32| {
            let value = 1e9 * f64::from(groups.min(64));
            Bandwidth { groups, bandwidth: Value { value, interval: [value; 2] } }
        };
        let stream = |count: u32| Stream {
            traffic: Traffic::Read,
            width: 16,
            group_size: 256,
            points: (0..count).map(|i| point(1 << i)).collect(),
        };
        let found = knee(&stream(12)).unwrap().value();
        assert!((found / (64.0 * 256.0) - 1.0).abs() < 0.1, "{found}");
        assert_eq!(knee(&stream(3)), None);
    }
}
