//! Counting while the machine runs.

use super::coalesce::{Banks, Segments};
use super::mask::Mask;
use super::program::{Access, Kind, Program, Space};
use super::recent::Recent;
use super::reuse::Reads;
use super::tasks::Tracer;
use super::{Class, Rules};

/// How often something was run: by work-items, and by warps of which any lane took part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Runs {
    pub(super) items: u64,
    pub(super) warps: u64,
}

/// Totals of one access of the text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SiteCount {
    pub(super) runs: Runs,
    /// Global: transactions. Local: rounds.
    pub(super) cost: u64,
    /// Local: the fewest rounds that could have done.
    pub(super) min_rounds: u64,
    /// Local: the most rounds for each that could have done, in one access of a warp.
    pub(super) worst: u64,
}

impl SiteCount {
    fn add(&mut self, one: &Self) {
        self.runs.items += one.runs.items;
        self.runs.warps += one.runs.warps;
        self.cost += one.cost;
        self.min_rounds += one.min_rounds;
        self.worst = self.worst.max(one.worst);
    }
}

/// The result of one access that was run once.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    all: SiteCount,
    /// Global: lanes of the first warp, and its transactions.
    first: [u64; 2],
}

/// Totals of one branch of the text, by warps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BranchCount {
    pub(super) items: u64,
    pub(super) warps: u64,
    /// Warps whose lanes went different ways.
    pub(super) divergent: u64,
    /// Lanes of the warps that entered a side, for each side that has code, and how many of
    /// them only waited.
    pub(super) slots: u64,
    pub(super) idle: u64,
}

/// All counts of a run.
pub(super) struct Counter {
    pub(super) rules: Rules,
    lanes: usize,
    /// Of the lanes that are active now.
    runs: Runs,
    /// Whether a lane of the first warp is active.
    first: bool,
    segments: Segments,
    banks: Banks,
    /// The addresses of one warp.
    addresses: Vec<Option<u32>>,
    /// Of each access of the text.
    recent: Vec<Recent<Cost>>,
    pub(super) pieces: Vec<Runs>,
    pub(super) sites: Vec<SiteCount>,
    pub(super) branches: Vec<BranchCount>,
    pub(super) barriers: Runs,
    /// How often a group passed a barrier.
    pub(super) passed: u64,
    pub(super) tracer: Tracer,
    /// Of each access of the text, what the first work-item has read by it.
    pub(super) reads: Reads,
}

impl Counter {
    pub(super) fn new(program: &Program, rules: &Rules) -> Self {
        Self {
            rules: *rules,
            runs: Runs::default(),
            first: true,
            lanes: program.group.iter().product::<u32>() as usize,
            segments: Segments::new(rules.transaction, rules.coalescing),
            banks: Banks::new(rules.banks),
            addresses: vec![],
            recent: vec![Recent::default(); program.accesses.len()],
            pieces: vec![Runs::default(); program.pieces.len()],
            sites: vec![SiteCount::default(); program.accesses.len()],
            branches: vec![BranchCount::default(); program.branches.len()],
            barriers: Runs::default(),
            passed: 0,
            tracer: Tracer::default(),
            reads: Reads::new(program.accesses.len()),
        }
    }

    /// What follows is run by these lanes.
    pub(super) fn activate(&mut self, mask: &Mask) {
        let warp = self.rules.warp;
        self.runs = Runs { items: mask.len(), warps: mask.warps(warp) };
        self.first = mask.any_within(0, self.lanes.min(warp as usize));
    }

    /// Straight code was run.
    pub(super) fn piece(&mut self, program: &Program, piece: u32) {
        let count = &mut self.pieces[piece as usize];
        count.items += self.runs.items;
        count.warps += self.runs.warps;
        if self.first {
            self.tracer.compute(&program.pieces[piece as usize].mix);
        }
    }

    pub(super) fn barrier(&mut self) {
        self.barriers.items += self.runs.items;
        self.barriers.warps += self.runs.warps;
        self.passed += 1;
        if self.first {
            self.tracer.compute(&[(Class::Barrier, 1)]);
        }
    }

    /// A branch: all lanes that came, those that go the first way, and which sides have code.
    pub(super) fn branch(&mut self, branch: u32, came: &Mask, accept: &Mask, code: [bool; 2]) {
        let warps = came.warps(self.rules.warp);
        let reject = came.without(accept);
        let sides = [accept.warps(self.rules.warp), reject.warps(self.rules.warp)];
        let count = &mut self.branches[branch as usize];
        count.items += came.len();
        count.warps += warps;
        count.divergent += sides[0] + sides[1] - warps;
        for ((side, lanes), has_code) in sides.into_iter().zip([accept, &reject]).zip(code) {
            if has_code && side > 0 {
                let slots = lanes.slots(self.rules.warp, self.lanes);
                count.slots += slots;
                count.idle += slots - lanes.len();
            }
        }
        if came.any_within(0, self.rules.warp as usize) {
            self.tracer.compute(&[(Class::Branch, 1)]);
        }
    }

    /// An access by the lanes of `mask`, each at its address.
    pub(super) fn access(&mut self, site: u32, access: &Access, addresses: &[u32], mask: &Mask) {
        let changes_nothing = |shift: u32| match access.place.space {
            Space::Buffer(_) => self.segments.are_same(shift),
            // Whatever the shift, words that shared a bank share one.
            Space::Local | Space::Private | Space::Params => true,
        };
        let known = self.recent[site as usize].again(addresses, mask, changes_nothing);
        let cost = known.unwrap_or_else(|| {
            let cost = self.cost(access, addresses, mask);
            self.recent[site as usize].remember(addresses, mask, cost);
            cost
        });
        self.sites[site as usize].add(&cost.all);
        if access.kind == Kind::Read
            && mask.has(0)
            && let Some(&place) = addresses.first()
        {
            self.reads.add(site, place);
        }
        let [lanes, transactions] = cost.first;
        if lanes > 0 {
            let bytes = lanes * access.bytes();
            self.tracer.memory(access.kind != Kind::Read, lanes, bytes, transactions);
        }
    }

    fn cost(&mut self, access: &Access, addresses: &[u32], mask: &Mask) -> Cost {
        let width = access.words();
        let mut cost = Cost::default();
        let mut addresses_of_warp = std::mem::take(&mut self.addresses);
        let starts = (0..addresses.len()).step_by(self.rules.warp as usize);
        for (warp, start) in starts.enumerate() {
            let end = (start + self.rules.warp as usize).min(addresses.len());
            if access.place.space == Space::Local
                && mask.all_within(start, end)
                && self.banks.apart(&addresses[start..end], width)
            {
                let runs = Runs { items: (end - start) as u64, warps: 1 };
                cost.all.add(&SiteCount { runs, cost: 1, min_rounds: 1, worst: 1 });
                continue;
            }
            addresses_of_warp.clear();
            addresses_of_warp
                .extend((start..end).map(|lane| mask.has(lane).then(|| addresses[lane])));
            let items = addresses_of_warp.iter().flatten().count() as u64;
            if items == 0 {
                continue;
            }
            let mut one = SiteCount { runs: Runs { items, warps: 1 }, ..SiteCount::default() };
            match access.place.space {
                Space::Buffer(_) => {
                    one.cost = self.segments.transactions(&addresses_of_warp, width);
                    if warp == 0 {
                        cost.first = [items, one.cost];
                    }
                }
                Space::Local => {
                    (one.cost, one.min_rounds) = self.banks.rounds(&addresses_of_warp, width);
                    one.worst = one.cost.div_ceil(one.min_rounds.max(1));
                }
                Space::Private | Space::Params => {}
            }
            cost.all.add(&one);
        }
        self.addresses = addresses_of_warp;
        cost
    }
}
