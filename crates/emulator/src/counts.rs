//! What emulation counted, ready to read.

use super::Class;
use super::counter::{Counter, SiteCount};
use super::program::{Kind, Program, Space};
use super::reuse::Reuse;
use super::tasks::Period;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The device as far as counting needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// Lanes of a warp: a power of two, at most 128.
    pub warp: u32,
    /// Bytes of one transaction of global memory: a power of two, at least 4.
    pub transaction: u32,
    /// How accesses are put together into transactions.
    pub coalescing: super::Coalescing,
    /// Banks of local memory, each four bytes wide.
    pub banks: u32,
}

impl Default for Rules {
    /// Warps of 32, transactions of 128 bytes, 32 banks: what most GPUs of today have.
    fn default() -> Self {
        Self { warp: 32, transaction: 128, coalescing: super::Coalescing::Warp, banks: 32 }
    }
}

/// Instructions of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instructions {
    /// By work-items.
    pub items: u64,
    /// By warps: one for each warp of which any lane took part.
    pub warps: u64,
}

/// Branches, by warps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Branches {
    /// How often a warp reached a branch.
    pub warps: u64,
    /// How often its lanes went different ways.
    pub divergent: u64,
    /// Of the lanes of all warps that entered a side, the share that only waited; 0 where no side
    /// was entered.
    pub idle: f64,
}

/// Accesses to global memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Global {
    /// By work-items.
    pub items: u64,
    /// By warps.
    pub warps: u64,
    /// Bytes that work-items requested.
    pub bytes: u64,
    /// Transactions that it became.
    pub transactions: u64,
}

/// Accesses to local memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Local {
    /// By work-items.
    pub items: u64,
    /// By warps.
    pub warps: u64,
    /// Bytes that work-items requested.
    pub bytes: u64,
    /// Rounds that the banks needed.
    pub rounds: u64,
    /// Rounds beyond those that as many words need without conflicts.
    pub conflicts: u64,
    /// The worst access: how many rounds for each that would do without conflicts. 1: none had
    /// any; 0: there were no accesses.
    pub worst: u64,
}

/// The accesses of one line of the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// The line, from 1.
    pub line: u32,
    /// The variable.
    pub variable: String,
    /// What kind of access.
    pub class: Class,
    /// By work-items.
    pub items: u64,
    /// Transactions, or rounds.
    pub cost: u64,
    /// Local memory: rounds for each that would do without conflicts, in the worst access.
    pub worst: u64,
}

/// Everything counted in the groups that were emulated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// What was counted by.
    pub rules: Rules,
    /// Groups that were emulated.
    pub groups: u64,
    /// Work-items in a group.
    pub group_size: u32,
    /// Instructions by class, those without any left out.
    pub instructions: BTreeMap<Class, Instructions>,
    /// What a compiler leaves of the instructions of warps, where it unrolls loops whose bounds it knows and moves out of
    /// them what stays the same.
    #[serde(skip)]
    pub compiled: BTreeMap<Class, u64>,
    /// The same where a VLIW unit has up to five operations that do not need each other in one, branches left out.
    #[serde(skip)]
    pub bundles: f64,
    /// Of the lanes of all warps, over all instructions, the share that only waited.
    pub idle: f64,
    /// All branches.
    pub branches: Branches,
    /// Reads of global memory.
    pub global_reads: Global,
    /// Writes to global memory; atomics too.
    pub global_writes: Global,
    /// Reads of local memory.
    pub local_reads: Local,
    /// Writes to local memory; atomics too.
    pub local_writes: Local,
    /// Barriers that a group passed.
    pub barriers: u64,
    /// Bytes of local memory that a group uses.
    pub local_bytes: u32,
    /// An estimate of the 32-bit values that a work-item holds at once: the most that are alive at
    /// one place of the text. A compiler may need fewer or more registers.
    pub live_values: u32,
    /// What the first warp of the group does, one period after the other (of the last group
    /// where several were emulated).
    pub periods: Vec<Period>,
    /// Every access of the text to global and local memory.
    pub lines: Vec<Line>,
    /// What the first work-item reads again of each variable in global and local memory (of the last group where
    /// several were emulated).
    #[serde(skip)]
    pub reuse: BTreeMap<String, Reuse>,
}

impl Counts {
    /// Warps of a group; the last may be partly empty.
    pub fn warps(&self) -> u32 {
        self.group_size.div_ceil(self.rules.warp)
    }

    /// Instructions of a class.
    pub fn of(&self, class: Class) -> Instructions {
        self.instructions.get(&class).copied().unwrap_or_default()
    }

    pub(super) fn new(program: &Program, groups: u64, counter: Counter) -> Self {
        let rules = counter.rules;
        let group_size = program.group.iter().product::<u32>();
        let instructions = instructions(program, &counter);
        let total = |f: fn(&Instructions) -> u64| instructions.values().map(f).sum::<u64>();
        let slots = total(|i| i.warps) * u64::from(rules.warp.min(group_size));
        let branches = &counter.branches;
        let sum = |f: fn(&super::counter::BranchCount) -> u64| branches.iter().map(f).sum::<u64>();
        Self {
            rules,
            groups,
            group_size,
            compiled: compiled(program, &counter),
            bundles: bundles(program, &counter),
            idle: share(slots.saturating_sub(total(|i| i.items)), slots),
            branches: Branches {
                warps: sum(|b| b.warps),
                divergent: sum(|b| b.divergent),
                idle: share(sum(|b| b.idle), sum(|b| b.slots)),
            },
            global_reads: global(program, &counter, true),
            global_writes: global(program, &counter, false),
            local_reads: local(program, &counter, true),
            local_writes: local(program, &counter, false),
            barriers: counter.passed,
            local_bytes: 4 * program.local_words,
            live_values: program.live,
            lines: lines(program, &counter),
            reuse: counter.reads.by_variable(program),
            periods: counter.tracer.finish(),
            instructions,
        }
    }
}

fn compiled(program: &Program, counter: &Counter) -> BTreeMap<Class, u64> {
    let mut all: BTreeMap<Class, u64> = BTreeMap::new();
    for (piece, runs) in program.pieces.iter().zip(&counter.pieces) {
        for &(class, count) in &piece.compiled.mix {
            *all.entry(class).or_default() += runs.warps * u64::from(count);
        }
    }
    let branches = counter.branches.iter().zip(&program.decided);
    let left = branches.filter(|(_, decided)| !**decided).map(|(branch, _)| branch.warps).sum();
    all.insert(Class::Branch, left);
    all
}

fn bundles(program: &Program, counter: &Counter) -> f64 {
    let pieces = program.pieces.iter().zip(&counter.pieces);
    pieces.map(|(piece, runs)| piece.compiled.bundles * runs.warps as f64).sum()
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn instructions(program: &Program, counter: &Counter) -> BTreeMap<Class, Instructions> {
    let mut all: BTreeMap<Class, Instructions> = BTreeMap::new();
    let mut add = |class, items, warps| {
        let entry = all.entry(class).or_default();
        entry.items += items;
        entry.warps += warps;
    };
    for (piece, runs) in program.pieces.iter().zip(&counter.pieces) {
        for &(class, count) in &piece.mix {
            add(class, runs.items * u64::from(count), runs.warps * u64::from(count));
        }
    }
    for branch in &counter.branches {
        add(Class::Branch, branch.items, branch.warps);
    }
    add(Class::Barrier, counter.barriers.items, counter.barriers.warps);
    all.retain(|_, count| count.warps > 0);
    all
}

/// The accesses to one kind of memory: what each is, and its totals.
fn sites<'a>(
    program: &'a Program,
    counter: &'a Counter,
    read: bool,
    of: fn(Space) -> bool,
) -> impl Iterator<Item = (u64, &'a SiteCount)> {
    let all = program.accesses.iter().zip(&counter.sites);
    all.filter(move |(access, _)| of(access.place.space) && (access.kind == Kind::Read) == read)
        .map(|(access, count)| (access.bytes(), count))
}

fn global(program: &Program, counter: &Counter, read: bool) -> Global {
    let mut sum = Global::default();
    for (bytes, site) in sites(program, counter, read, |s| matches!(s, Space::Buffer(_))) {
        sum.items += site.runs.items;
        sum.warps += site.runs.warps;
        sum.bytes += bytes * site.runs.items;
        sum.transactions += site.cost;
    }
    sum
}

fn local(program: &Program, counter: &Counter, read: bool) -> Local {
    let mut sum = Local::default();
    for (bytes, site) in sites(program, counter, read, |s| s == Space::Local) {
        sum.items += site.runs.items;
        sum.warps += site.runs.warps;
        sum.bytes += bytes * site.runs.items;
        sum.rounds += site.cost;
        sum.conflicts += site.cost - site.min_rounds;
        sum.worst = sum.worst.max(site.worst);
    }
    sum
}

/// One entry for each line, variable and class, in the order of the text.
fn lines(program: &Program, counter: &Counter) -> Vec<Line> {
    let mut all: BTreeMap<(u32, &str, Class), SiteCount> = BTreeMap::new();
    for (access, site) in program.accesses.iter().zip(&counter.sites) {
        if matches!(access.place.space, Space::Buffer(_) | Space::Local) && site.runs.items > 0 {
            let key = (access.line, access.place.name.as_str(), access.class());
            let sum = all.entry(key).or_default();
            sum.runs.items += site.runs.items;
            sum.cost += site.cost;
            sum.worst = sum.worst.max(site.worst);
        }
    }
    let line = |((line, variable, class), site): ((u32, &str, Class), SiteCount)| Line {
        line,
        variable: variable.to_owned(),
        class,
        items: site.runs.items,
        cost: site.cost,
        worst: site.worst,
    };
    all.into_iter().map(line).collect()
}
