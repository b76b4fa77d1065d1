//! All runs of a ranking, merged as they are read: one entry a device, driver and API, one
//! cell a case. Raw samples are summarised at once and not kept, so that a thousand runs fit.

use super::aggregate::{Tally, shown};
use super::roof::Figure;
use gpubench_core::gpu::{BoundsChecks, Clock, DeviceInfo, DeviceKind, Scalar};
use gpubench_core::record::{Built, Flag, Header, Record};
use gpubench_core::workload::{CaseKey, Ceiling};
use gpubench_stats::{Overall, Rounds, overalls};
use std::collections::{BTreeMap, BTreeSet, HashMap};

mod round;

pub use round::{Round, RunRounds, ranking_family};

/// A device seen through one API by one driver, with all of its runs.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The device, as its first run saw it.
    pub device: DeviceInfo,
    /// How many runs it took part in.
    pub runs: usize,
    /// By case. Boxed: a map has places that are empty.
    cells: BTreeMap<usize, Box<Cell>>,
}

/// A case, whoever ran it.
#[derive(Clone, Debug)]
pub struct Case {
    /// What distinguishes it from others.
    pub key: CaseKey,
    /// Which ranking family it counts in.
    pub family: String,
}

/// The result of an entry's rounds of one case.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    tally: Tally,
    /// Rounds whose energy is known, and the mean of the logarithms of joules.
    metered: (u32, f64),
    /// Operations of one launch.
    pub flops: f64,
    /// How many of them are of which type; the others are of `f32`.
    types: Vec<(Scalar, f64)>,
    /// Bytes of one launch or copy.
    pub bytes: f64,
    /// Whether the working set fits a cache.
    pub cache: bool,
    /// What it bounds, where the suite calls it a ceiling of the device.
    ceiling: Option<Ceiling>,
    /// Bytes of all buffers, where known.
    working_set: Option<u64>,
    /// Seconds of an empty launch, 0 where not known.
    empty_launch: f64,
    /// The kernel's hash and its checks; no hash where the variant was searched for.
    kernel: Option<(Option<u64>, BoundsChecks)>,
    /// The clock that its samples are of: one of a simulated GPU stands for a device's.
    clock: Option<Clock>,
    /// Whether its rounds did not all do the same work with the same kernel.
    differs: bool,
}

/// The entries and the cases that any of them ran.
#[derive(Clone, Debug, Default)]
pub struct ResultMatrix {
    /// One a device, driver and API, in the order in which they were met.
    pub entries: Vec<Entry>,
    /// Every case, in the order in which they were met.
    pub cases: Vec<Case>,
    /// The suites of the runs: name and hash.
    pub suites: BTreeSet<(String, String)>,
    numbers: HashMap<CaseKey, usize, foldhash::fast::RandomState>,
    places: HashMap<Identity, usize>,
}

/// What makes two runs those of one entry.
type Identity = (String, String, String, String, DeviceKind);

impl ResultMatrix {
    /// Takes in a run.
    pub fn take_in(&mut self, header: &Header, run: RunRounds) {
        let places = self.enter(header);
        let cases: Vec<usize> = run.cases.iter().map(|case| self.number(case)).collect();
        for mut round in run.rounds {
            let Some(&place) = places.get(round.device) else { continue };
            round.cell.tally = round.tally();
            let cells = &mut self.entries[place].cells;
            cells.entry(cases[round.number]).or_default().merge(&round.cell);
        }
    }

    /// Which entry each of a run's devices counts for.
    fn enter(&mut self, header: &Header) -> Vec<usize> {
        self.suites.insert((header.suite.clone(), header.suite_hash.clone()));
        let places: Vec<usize> = header.devices.iter().map(|d| self.place(d)).collect();
        // Two equal GPUs in one machine are one entry and one run.
        for place in places.iter().collect::<BTreeSet<_>>() {
            self.entries[*place].runs += 1;
        }
        places
    }

    /// Position of the case with this key.
    pub(super) fn find(&self, key: &CaseKey) -> Option<usize> {
        self.numbers.get(key).copied()
    }

    /// An entry's cell of a case, where it was verified and measured.
    ///
    /// # Errors
    /// The reason for its exclusion.
    pub fn cell(&self, entry: usize, case: usize) -> Result<&Cell, &'static str> {
        match self.entries[entry].cells.get(&case) {
            None => Err("not run"),
            Some(cell) => cell.exclusion().map_or(Ok(cell), Err),
        }
    }

    /// All cells of an entry that were verified and measured, in the order of the cases.
    pub fn cells(&self, entry: usize) -> impl Iterator<Item = (&Case, &Cell)> {
        let cells = self.entries[entry].cells.iter();
        cells
            .filter(|(_, cell)| cell.exclusion().is_none())
            .map(|(&case, cell)| (&self.cases[case], &**cell))
    }

    /// As [`ResultMatrix::cells`], those that have a value with it.
    pub fn times(&self, entry: usize) -> Vec<(&Case, Overall)> {
        let cells: Vec<(&usize, &Box<Cell>)> = self.entries[entry].cells.iter().collect();
        let rounds: Vec<Rounds> = cells.iter().map(|(_, cell)| cell.tally.believed()).collect();
        let times = cells.into_iter().zip(overalls(&rounds));
        let verified = times.filter(|((_, cell), _)| cell.exclusion().is_none());
        verified.filter_map(|((case, _), time)| Some((&self.cases[*case], time?))).collect()
    }

    fn number(&mut self, case: &Case) -> usize {
        if let Some(&number) = self.numbers.get(&case.key) {
            let known = &mut self.cases[number];
            if known.is_unlike(&case.family) {
                known.family.clone_from(&case.family);
            }
            return number;
        }
        let number = self.cases.len();
        self.numbers.insert(case.key.clone(), number);
        self.cases.push(case.clone());
        number
    }

    fn place(&mut self, device: &DeviceInfo) -> usize {
        let text = |text: &str| text.to_owned();
        let [vendor, name] = [text(&device.vendor), text(&device.name)];
        let identity = (vendor, name, text(&device.driver), text(&device.backend), device.kind);
        let place = *self.places.entry(identity).or_insert(self.entries.len());
        if place == self.entries.len() {
            self.entries.push(Entry { device: device.clone(), runs: 0, cells: BTreeMap::new() });
        }
        place
    }
}

impl Cell {
    /// The rounds that were measured.
    pub fn rounds(&self) -> &Rounds {
        self.tally.rounds()
    }

    /// Logarithm of [`Cell::seconds`].
    pub fn log_seconds(&self) -> f64 {
        self.rounds().mean()
    }

    /// Seconds over all rounds.
    pub fn seconds(&self) -> f64 {
        self.log_seconds().exp()
    }

    /// Whether the suite calls it a ceiling of the device.
    pub(super) fn is_ceiling(&self) -> bool {
        self.ceiling.is_some()
    }

    /// As a ceiling of `workload`, where it is one, and the device was not disturbed: what it bounds.
    pub(super) fn ceiling<'a>(&'a self, workload: &'a str) -> Option<(Ceiling, Figure<'a>)> {
        let ceiling = self.ceiling.filter(|_| !self.tally.is_doubtful())?;
        Some((ceiling, self.figure(workload)))
    }

    /// As a figure of `workload`.
    pub(super) fn figure<'a>(&'a self, workload: &'a str) -> Figure<'a> {
        Figure {
            workload,
            flops: self.flops,
            types: &self.types,
            bytes: self.bytes,
            working_set: self.working_set,
            items: 0,
            seconds: [self.seconds(); 2],
            empty_launch: self.empty_launch,
        }
    }

    /// Why it is not ranked, in a reason or two.
    fn exclusion(&self) -> Option<&'static str> {
        self.tally.exclusion().or(self.differs.then_some("different work in its runs"))
    }

    /// Joules of one operation: geometric mean of the rounds that report it; `None` where none does.
    pub fn joules(&self) -> Option<f64> {
        let (rounds, mean) = self.metered;
        (rounds > 0).then(|| mean.exp())
    }

    /// Whether two cells measured the same work with the same kernel; else the reason why not.
    pub fn matches(&self, other: &Self) -> Result<(), &'static str> {
        self.matches_but_for_text(other)?;
        let hash = |cell: &Self| cell.kernel.and_then(|(hash, _)| hash);
        match (hash(self), hash(other)) {
            (Some(ours), Some(theirs)) if ours != theirs => Err("another kernel"),
            _ => Ok(()),
        }
    }

    /// As [`Cell::matches`], for kernels in two languages.
    pub fn matches_but_for_text(&self, other: &Self) -> Result<(), &'static str> {
        if self.flops != other.flops || self.bytes != other.bytes {
            return Err("another amount of work");
        }
        if self.clock != other.clock {
            return Err("another clock");
        }
        match (self.kernel, other.kernel) {
            (Some((_, ours)), Some((_, theirs))) if ours != theirs => Err("other bounds checks"),
            _ => Ok(()),
        }
    }

    /// Of one record, but for its tally.
    fn of(record: &Record) -> Self {
        let mut one = Self::default();
        if let Some(measured) = shown(record) {
            let short = |built: &Built| (built.fixed_hash().map(short_hash), built.bounds_checks);
            let joules = record.monitor.joules.map(f64::ln).filter(|log| log.is_finite());
            one.metered = joules.map_or((0, 0.0), |log| (1, log));
            (one.flops, one.bytes) = (measured.flops, measured.bytes);
            one.types.clone_from(&measured.types);
            one.clock = Some(match measured.clock {
                Clock::Host => Clock::Host,
                Clock::Device | Clock::Simulated => Clock::Device,
            });
            one.cache = record.flags.contains(&Flag::Cache);
            one.ceiling = record.ceiling.filter(|_| record.key.measure.is_kernel());
            one.working_set = record.working_set;
            one.empty_launch = record.monitor.empty_launch.unwrap_or(0.0);
            one.kernel = record.kernel.as_ref().map(short);
        }
        one
    }

    /// Takes in further rounds.
    fn merge(&mut self, other: &Self) {
        let (ours, theirs) = (self.rounds().count, other.rounds().count);
        self.tally.merge(&other.tally);
        self.differs |= other.differs;
        if theirs == 0 {
            return;
        }
        if ours == 0 {
            let (tally, differs) = (std::mem::take(&mut self.tally), self.differs);
            *self = Self { tally, differs, ..other.clone() };
            return;
        }
        self.differs |= self.matches(other).is_err();
        self.metered = pooled(self.metered, other.metered);
        self.cache |= other.cache;
    }
}

/// Two means, each of so many values, as one.
fn pooled(a: (u32, f64), b: (u32, f64)) -> (u32, f64) {
    let of = |(n, mean): (u32, f64)| f64::from(n) * mean;
    let n = a.0 + b.0;
    (n, if n == 0 { 0.0 } else { (of(a) + of(b)) / f64::from(n) })
}

/// The first 64 bits of a hash in hexadecimal: enough to distinguish the kernels of one case.
fn short_hash(hex: &str) -> u64 {
    hex.get(..16).and_then(|head| u64::from_str_radix(head, 16).ok()).unwrap_or_else(|| {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        hex.hash(&mut hasher);
        hasher.finish()
    })
}

/// The runs' records in one matrix: for those who hold them in memory anyway.
pub fn result_matrix<'a>(
    runs: impl IntoIterator<Item = (&'a Header, &'a [Record])>,
) -> ResultMatrix {
    let mut matrix = ResultMatrix::default();
    for (header, records) in runs {
        matrix.take_in(header, RunRounds::of(header, records));
    }
    matrix
}

/// The family of launches.
const LATENCY: &str = "latency";

/// Where a family stands among those that are shown; any other, behind them.
pub fn family_place(name: &str) -> usize {
    const ORDER: [&str; 6] = ["compute", "memory", "transfer", LATENCY, "overlap", "concurrency"];
    ORDER.iter().position(|known| *known == name).unwrap_or(ORDER.len())
}

/// Some `cases` of `all` by family: in the order in which families are shown, any others behind them by name.
pub(super) fn by_family(
    all: &[Case],
    cases: impl IntoIterator<Item = usize>,
) -> Vec<(&str, Vec<usize>)> {
    let mut found: BTreeMap<(usize, &str), Vec<usize>> = BTreeMap::new();
    for case in cases {
        let family = &*all[case].family;
        found.entry((family_place(family), family)).or_default().push(case);
    }
    found.into_iter().map(|((_, family), cases)| (family, cases)).collect()
}

#[cfg(test)]
mod tests;
