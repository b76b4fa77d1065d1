//! Whether halos are better packed on the device or exchanged on the host.

use crate::halo::data::Halo;
use gpubench_core::record::Timed;
use gpubench_stats::Summary;

/// What came of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct HaloSummary {
    /// Median seconds of a step undivided.
    pub undivided: f64,
    /// In parts, with nothing exchanged.
    pub parts: f64,
    /// With faces packed on the device.
    pub packed: f64,
    /// With whole fields exchanged on the host.
    pub bulk: f64,
    /// What of that the host took, median; `None` where it was not measured.
    pub host: Option<f64>,
    /// Which design is faster.
    pub better: Better,
}

/// Which of two designs is faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Packing on the device.
    Packed,
    /// Exchanging on the host.
    Bulk,
    /// The 95 % intervals of both medians have times in common.
    Neither,
}

impl HaloSummary {
    /// How many times as long the slower design takes.
    pub fn ratio(&self) -> f64 {
        self.packed.max(self.bulk) / self.packed.min(self.bulk)
    }

    /// The share of a step that exchanging takes: packed, and in bulk. Negative where parts alone
    /// happened to take longer.
    pub fn shares(&self) -> [f64; 2] {
        [self.packed, self.bulk].map(|step| 1.0 - self.parts / step)
    }
}

/// Puts a case's raw times together; `None` where one is missing.
pub fn halo(raw: &Halo) -> Option<HaloSummary> {
    let (packed, bulk) = (summary(&raw.packed)?, summary(&raw.bulk)?);
    let better = match (packed.interval, bulk.interval) {
        ([_, high], [low, _]) if high < low => Better::Packed,
        ([low, _], [_, high]) if high < low => Better::Bulk,
        _ => Better::Neither,
    };
    Some(HaloSummary {
        undivided: summary(&raw.undivided)?.median,
        parts: summary(&raw.parts)?.median,
        packed: packed.median,
        bulk: bulk.median,
        host: Summary::of(&raw.host).map(|host| host.median).filter(|median| *median > 0.0),
        better,
    })
}

fn summary(timed: &Timed) -> Option<Summary> {
    Summary::of(&timed.walls).filter(|summary| summary.median > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::{Clock, MemoryKind};

    fn raw(packed: f64, bulk: f64) -> Halo {
        let around = |middle: f64| {
            let walls = (0..11).map(|i| middle * (0.95 + 0.01 * f64::from(i))).collect();
            Timed { walls, steps: vec![] }
        };
        Halo {
            clock: Clock::Device,
            host_memory: MemoryKind::Pinned,
            cells: [64; 3],
            cuts: [1, 1, 2],
            undivided: around(1.0),
            parts: around(1.1),
            packed: around(packed),
            bulk: around(bulk),
            host: vec![0.2; 11],
            bytes: [100, 10_000],
            copies: [8, 4],
            identical: [true; 2],
        }
    }

    #[test]
    fn a_design_is_better_where_its_times_are_apart_from_the_others() {
        let summary = halo(&raw(1.25, 2.5)).unwrap();
        assert_eq!((summary.better, summary.ratio()), (Better::Packed, 2.0));
        assert!((summary.shares()[0] - 0.12).abs() < 1e-9 && summary.host == Some(0.2));
        assert_eq!(halo(&raw(2.5, 1.25)).unwrap().better, Better::Bulk);
        assert_eq!(halo(&raw(1.25, 1.26)).unwrap().better, Better::Neither);
        assert_eq!(halo(&Halo { host: vec![0.0; 3], ..raw(1.0, 2.0) }).unwrap().host, None);
        assert_eq!(
            halo(&Halo { parts: Timed { walls: vec![], steps: vec![] }, ..raw(1.0, 2.0) }),
            None
        );
    }
}
