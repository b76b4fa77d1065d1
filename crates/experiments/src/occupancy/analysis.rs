//! What steps in a launch's time say: how many groups the device holds at once, and how many
//! units it has.
//!
//! Equal groups that only wait take one time as long as all of them run at once, and twice that
//! from the first one on that has to wait: time against the number of groups rises in steps that are
//! as wide as the device. Every width is a multiple of the number of units; widths of
//! groups of different sizes have few other factors in common.

use crate::occupancy::data::OccupancySweep;
use gpubench_core::gpu::DeviceInfo;
use gpubench_model::concurrency::Device;
use gpubench_model::occupancy::Unit;
use std::collections::BTreeMap;

/// A time this many times the first step's is a higher step.
const HIGHER: f64 = 1.5;
/// A rise by this share of a step's height is a step's edge.
const EDGE: f64 = 0.5;
/// A rise by less than this share of a step's height is still level.
const LEVEL: f64 = 0.35;
/// How many full waves are looked at.
const WAVES: u32 = 3;
/// How often each number of groups at an edge is measured.
const VISITS: u32 = 2;

/// Chooses the numbers of groups to measure: doubles until time rises, closes in on the edge, and
/// looks at the next two edges.
#[derive(Clone, Debug, Default)]
pub struct OccupancySearch {
    max_groups: u32,
    /// By number of groups: how often it was measured, and the fastest time.
    points: BTreeMap<u32, (u32, f64)>,
}

impl OccupancySearch {
    /// Up to `max_groups` groups.
    pub fn new(max_groups: u32) -> Self {
        Self { max_groups: max_groups.max(1), points: BTreeMap::new() }
    }

    /// Notes the fastest of the times measured with `groups` groups.
    pub fn note(&mut self, groups: u32, seconds: f64) {
        let point = self.points.entry(groups).or_insert((0, f64::INFINITY));
        *point = (point.0 + 1, point.1.min(seconds));
    }

    /// Gives up on more groups than this, as a launch would take too long.
    pub fn limit_groups(&mut self, groups: u32) {
        self.max_groups = self.max_groups.min(groups.max(1));
    }

    /// The number of groups to measure next; `None` when there is nothing more to learn.
    pub fn next(&self) -> Option<u32> {
        let times: Times = self.points.iter().map(|(&groups, &(_, time))| (groups, time)).collect();
        let Some(low) = highest_level(&times) else { return Some(1) };
        let Some(&(high, _)) = times.iter().find(|(groups, _)| *groups > low) else {
            return (low < self.max_groups).then(|| low.saturating_mul(2).min(self.max_groups));
        };
        if high - low > 1 {
            return Some(low + (high - low) / 2);
        }
        let due = |groups: &u32| {
            let visits = self.points.get(groups).map_or(0, |(visits, _)| *visits);
            *groups <= self.max_groups && visits < VISITS
        };
        edges(low).find(due)
    }
}

/// Numbers of groups with the fastest time of each, in ascending order.
type Times = Vec<(u32, f64)>;

/// The last number of groups of each full wave and the first of the next, for steps `width` wide.
fn edges(width: u32) -> impl Iterator<Item = u32> {
    (1..=WAVES).flat_map(move |wave| {
        let last = width.saturating_mul(wave);
        [last, last.saturating_add(1)]
    })
}

/// The largest number of groups before time first rises above the first step.
fn highest_level(times: &Times) -> Option<u32> {
    let mut level = times.first()?.1;
    let mut low = None;
    for &(groups, time) in times {
        if time > HIGHER * level {
            break;
        }
        // A disturbed first point must not hide what follows.
        level = level.min(time);
        low = Some(groups);
    }
    low
}

/// The shape of time against the number of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Steps of a full wave: this many groups run at once.
    Steps {
        /// Groups that run at once.
        at_once: u32,
        /// Whether every later edge that was measured stands where it must.
        confirmed: bool,
    },
    /// No step up to the largest number of groups that was tried.
    Flat {
        /// That number.
        max_tried: u32,
    },
    /// Time rises little by little: groups share something before all places are taken.
    Gradual {
        /// Groups by which time has risen by half.
        half: u32,
    },
}

/// What one occupancy sweep says.
#[derive(Clone, Debug, PartialEq)]
pub struct OccupancySweepSummary {
    /// Work-items per group.
    pub group_size: u32,
    /// Bytes of local memory per group.
    pub local_bytes: u64,
    /// Seconds of a full wave.
    pub wave: f64,
    /// Its shape.
    pub shape: Shape,
}

impl OccupancySweepSummary {
    /// How many groups run at once, where the steps confirm it.
    pub fn at_once(&self) -> Option<u32> {
        match self.shape {
            Shape::Steps { at_once, confirmed: true } => Some(at_once),
            _ => None,
        }
    }
}

/// Reads an occupancy sweep; `None` where nothing was measured.
pub fn occupancy_sweep(raw: &OccupancySweep) -> Option<OccupancySweepSummary> {
    let fastest = |samples: &[f64]| samples.iter().copied().fold(f64::INFINITY, f64::min);
    let points: BTreeMap<u32, f64> =
        raw.points.iter().map(|(groups, samples)| (*groups, fastest(samples))).collect();
    let times: Times = points.iter().map(|(&groups, &time)| (groups, time)).collect();
    let low = highest_level(&times)?;
    Some(OccupancySweepSummary {
        group_size: raw.group_size,
        local_bytes: raw.local_bytes,
        wave: *points.get(&low)?,
        shape: shape(&points, low),
    })
}

fn shape(points: &BTreeMap<u32, f64>, low: u32) -> Shape {
    let at = |groups: u32| points.get(&groups).copied();
    let (Some(level), Some(above)) = (at(low), at(low.saturating_add(1))) else {
        return Shape::Flat { max_tried: low };
    };
    let height = above - level;
    if height < EDGE * level {
        return Shape::Gradual { half: low };
    }
    let mut confirmed = false;
    for wave in 2..=WAVES {
        let (first, last) = (low * (wave - 1) + 1, low * wave);
        let (Some(start), Some(end)) = (at(first), at(last)) else { break };
        confirmed = (end - start).abs() < LEVEL * height;
        if let Some(next) = at(last + 1) {
            confirmed &= next - end > EDGE * height;
        }
        if !confirmed {
            break;
        }
    }
    Shape::Steps { at_once: low, confirmed }
}

/// What the occupancy sweeps of one device say together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residency {
    /// Units: the largest number that divides the groups at once of every occupancy sweep.
    pub units: u32,
    /// Most groups that a unit was seen to hold.
    pub groups: u32,
    /// Most work-items that a unit was seen to hold.
    pub work_items: u32,
    /// Most bytes of local memory that a unit was seen to hand out.
    pub local_memory: u64,
    /// How many occupancy sweeps it was inferred from.
    pub sweeps: usize,
}

/// Puts occupancy sweeps of one device together; `None` where none is confirmed.
pub fn residency<'a>(
    all: impl IntoIterator<Item = &'a OccupancySweepSummary>,
) -> Option<Residency> {
    let confirmed: Vec<(&OccupancySweepSummary, u32)> =
        all.into_iter().filter_map(|sweep| Some((sweep, sweep.at_once()?))).collect();
    let units = confirmed.iter().map(|(_, at_once)| *at_once).reduce(common)?;
    let maximum = |of: &dyn Fn(&OccupancySweepSummary, u64) -> u64| {
        confirmed.iter().map(|(s, n)| of(s, u64::from(n / units))).max().unwrap_or(0)
    };
    let narrow = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    Some(Residency {
        units,
        groups: narrow(maximum(&|_, groups| groups)),
        work_items: narrow(maximum(&|sweep, groups| groups * u64::from(sweep.group_size))),
        local_memory: maximum(&|sweep, groups| groups * sweep.local_bytes),
        sweeps: confirmed.len(),
    })
}

/// Greatest common divisor.
fn common(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { common(b, a % b) }
}

impl Residency {
    /// The device as model 7 sees it. Registers are not known and not limiting there.
    pub fn device(&self, info: &DeviceInfo) -> Device {
        let unit = Unit {
            warp: info.subgroup.map_or(1, |[_, largest]| largest.max(1)),
            work_items: self.work_items,
            groups: self.groups,
            registers: 0,
            local_memory: u32::try_from(self.local_memory).unwrap_or(u32::MAX),
            local_piece: 1,
        };
        Device { units: self.units, unit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::Clock;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    /// Sweeps the number of groups where launches take `time`, and says how many there were.
    fn sweep(max_groups: u32, mut time: impl FnMut(u32) -> f64) -> (OccupancySweepSummary, usize) {
        let mut search = OccupancySearch::new(max_groups);
        let mut points: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        let mut launches = 0;
        while let Some(groups) = search.next() {
            let samples: Vec<f64> = (0..3).map(|_| time(groups)).collect();
            launches += samples.len();
            search.note(groups, samples.iter().copied().fold(f64::INFINITY, f64::min));
            points.entry(groups).or_default().extend(samples);
            assert!(launches < 1000, "{points:?}");
        }
        let raw = OccupancySweep {
            clock: Clock::Simulated,
            group_size: 64,
            local_bytes: 0,
            points: points.into_iter().collect(),
        };
        (occupancy_sweep(&raw).unwrap(), launches)
    }

    fn waves(width: u32) -> impl Fn(u32) -> f64 {
        move |groups| f64::from(groups.div_ceil(width))
    }

    #[test]
    fn every_width_is_found_within_few_launches() {
        for width in [1, 2, 3, 7, 132, 240, 132 * 16, 4224] {
            let (summary, launches) = sweep(16384, waves(width));
            assert_eq!(summary.at_once(), Some(width));
            assert!(launches <= 150, "{width}: {launches}");
        }
    }

    #[test]
    fn a_launch_cost_and_disturbed_launches_change_nothing() {
        let mut rng = Pcg64Mcg::seed_from_u64(4);
        for width in [2, 15, 240, 1000] {
            // A cost of a quarter of a wave, one launch in five half as long again.
            let time = |groups| {
                let spike = if rng.random_bool(0.2) { 1.5 } else { 1.0 };
                (0.25 + waves(width)(groups)) * spike * rng.random_range(1.0..1.02)
            };
            assert_eq!(sweep(16384, time).0.at_once(), Some(width));
        }
    }

    #[test]
    fn what_does_not_step_gives_no_residency() {
        let shape = |time: fn(u32) -> f64| sweep(1000, time).0.shape;
        assert_eq!(shape(|_| 1.0), Shape::Flat { max_tried: 1000 });
        let shared = shape(|groups| 1.0f64.max(f64::from(groups) / 40.0));
        assert_eq!(shared, Shape::Gradual { half: 60 });
        // One step, and then no further one.
        let once = shape(|groups| if groups > 10 { 2.0 } else { 1.0 });
        assert_eq!(once, Shape::Steps { at_once: 10, confirmed: false });
    }

    #[test]
    fn widths_of_several_groups_give_the_units() {
        let sweep = |group_size, local_bytes, at_once| OccupancySweepSummary {
            group_size,
            local_bytes,
            wave: 1.0,
            shape: Shape::Steps { at_once, confirmed: true },
        };
        let all = [sweep(64, 4, 16 * 15), sweep(640, 4, 3 * 15), sweep(64, 16384, 2 * 15)];
        let found = residency(&all).unwrap();
        let expected =
            Residency { units: 15, groups: 16, work_items: 1920, local_memory: 32768, sweeps: 3 };
        assert_eq!(found, expected);
        assert_eq!(residency(&[]), None);
    }
}
