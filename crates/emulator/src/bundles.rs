//! What straight code costs: its instructions, and how they fill the lanes of a VLIW unit, whose compiler puts operations
//! of one work-item that do not need each other into a bundle.
//!
//! Source: AMD, *Evergreen Family Instruction Set Architecture*, the chapter on ALU instructions: a bundle has five
//! operations, of which the fifth lane's alone is an integer product or a transcendental function, and one at most
//! goes to local memory. What a work-item reads from there, the next bundle has.

use super::Class;
use super::program::{Access, Index, Program, Row, Space, Step};
use super::unrolled::Unrolled;
use std::collections::{BTreeMap, HashMap};

/// Operations of a bundle.
const LANES: u32 = 5;

/// What a compiler leaves of straight code.
#[derive(Clone, Debug, Default)]
pub(super) struct Compiled {
    /// Instructions by class.
    pub(super) mix: Vec<(Class, u32)>,
    /// Instructions of a VLIW unit.
    pub(super) bundles: f64,
}

/// What of a bundle, or of several, is taken.
#[derive(Clone, Copy, Default)]
struct Bundle {
    lanes: u32,
    fifth: u32,
    local: u32,
}

/// Where an operation may stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lane {
    Any,
    Fifth,
    Local,
}

impl Lane {
    fn of(class: Class) -> Self {
        match class {
            Class::FloatDiv
            | Class::FloatSqrt
            | Class::FloatExp
            | Class::FloatLog
            | Class::FloatTrigonometry
            | Class::IntMul
            | Class::IntDiv
            | Class::Convert => Self::Fifth,
            _ => Self::Any,
        }
    }
}

impl Bundle {
    fn has_room(self, lane: Lane) -> bool {
        let taken = match lane {
            Lane::Any => 0,
            Lane::Fifth => self.fifth,
            Lane::Local => self.local,
        };
        self.lanes < LANES && taken == 0
    }

    fn take(&mut self, lane: Lane) {
        self.lanes += 1;
        self.fifth += u32::from(lane == Lane::Fifth);
        self.local += u32::from(lane == Lane::Local);
    }
}

/// Bundles of straight code, filled in the order of its text.
struct Packing<'a> {
    program: &'a Program,
    unrolled: &'a Unrolled,
    piece: usize,
    mix: BTreeMap<Class, u32>,
    all: Bundle,
    bundles: Vec<Bundle>,
    /// The first bundle that may use a row.
    ready: HashMap<Row, usize>,
    /// How many operations, one after the other, the variables of a loop need from round to round.
    chain: usize,
}

impl Packing<'_> {
    fn ready(&self, from: &[Row]) -> usize {
        from.iter().filter_map(|row| self.ready.get(row)).copied().max().unwrap_or(0)
    }

    /// Counts an instruction, puts it into the first bundle from `first` on that has room, and returns the one behind that.
    fn put(&mut self, class: Class, first: usize) -> usize {
        self.count(class);
        self.bundle(Lane::of(class), first)
    }

    fn count(&mut self, class: Class) {
        *self.mix.entry(class).or_default() += 1;
    }

    fn bundle(&mut self, lane: Lane, first: usize) -> usize {
        self.all.take(lane);
        let room = self.bundles.iter().skip(first).position(|bundle| bundle.has_room(lane));
        let at = room.map_or(first.max(self.bundles.len()), |beyond| first + beyond);
        if at >= self.bundles.len() {
            self.bundles.resize(at + 1, Bundle::default());
        }
        self.bundles[at].take(lane);
        at + 1
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Alu { op, to, from } => {
                let first = self.ready(from);
                let class = op.class().filter(|_| !self.unrolled.is_free(self.piece, from));
                let class = class.map(|class| self.reduced(class, from));
                let ready = class.map_or(first, |class| self.put(class, first));
                self.ready.insert(*to, ready);
            }
            Step::Set { to, from } => {
                let ready = self.ready(&[*from]);
                self.ready.insert(*to, ready);
            }
            Step::Load { to, access } => {
                let access = &self.program.accesses[*access as usize];
                let ready = self.access(access, 0);
                self.ready.extend((*to..*to + access.width).map(|row| (row, ready)));
            }
            Step::Store { from, access } => {
                let access = &self.program.accesses[*access as usize];
                let first = self.ready(&from[..access.width as usize]);
                self.access(access, first);
            }
            Step::Atomic { change, access } => {
                let first = self.ready(&[change.value, change.compare]);
                let ready = self.access(&self.program.accesses[*access as usize], first);
                self.ready.insert(change.to, ready);
            }
            // What crosses lanes goes through the same wires as a comparison's results.
            Step::Subgroup { from, to, .. } => {
                let ready = self.put(Class::Compare, self.ready(from));
                self.ready.insert(*to, ready);
            }
        }
    }

    /// A compiler divides by a number that it knows with a multiplication (T. Granlund and P. L. Montgomery, *Division
    /// by invariant integers using multiplication*, PLDI 1994).
    fn reduced(&self, class: Class, from: &[Row]) -> Class {
        match (class, from) {
            (Class::IntDiv, [_, divisor, ..]) if self.unrolled.is_known(*divisor) => Class::IntMul,
            _ => class,
        }
    }

    /// An access whose address is computed first; what a compiler knows of it is part of the instruction. Global memory is
    /// reached by instructions of other units.
    fn access(&mut self, access: &Access, mut first: usize) -> usize {
        for index in &access.place.indices {
            if !self.unrolled.is_free(self.piece, &[index.row]) {
                let addressed = self.put(Class::Address, self.ready(&[index.row]));
                first = first.max(addressed);
            }
        }
        let is_indexed = |index: &Index| !self.unrolled.is_known(index.row);
        match access.place.space {
            Space::Local => {
                self.count(access.class());
                let words = 0..access.words();
                words.map(|_| self.bundle(Lane::Local, first)).max().unwrap_or(first)
            }
            // An array whose places a compiler knows is in registers.
            Space::Private if access.place.indices.iter().any(is_indexed) => {
                self.put(access.class(), first)
            }
            Space::Buffer(_) => {
                self.count(access.class());
                first
            }
            Space::Private | Space::Params => first,
        }
    }

    /// Where a loop is unrolled, its rounds share bundles: what there is too much of decides, or the chain from round to
    /// round.
    fn bundles(&self) -> f64 {
        if !self.unrolled.is_unrolled(self.piece) {
            return self.bundles.len() as f64;
        }
        let Bundle { lanes, fifth, local } = self.all;
        let filled = f64::from(lanes) / f64::from(LANES);
        filled.max(f64::from(fifth)).max(f64::from(local)).max(self.chain as f64)
    }
}

/// What a compiler leaves of a piece.
pub(super) fn compiled(program: &Program, unrolled: &Unrolled, piece: usize) -> Compiled {
    let steps = &program.pieces[piece].steps;
    let mut packing = Packing {
        program,
        unrolled,
        piece,
        mix: BTreeMap::new(),
        all: Bundle::default(),
        bundles: vec![],
        ready: HashMap::new(),
        chain: chain(unrolled, piece, steps),
    };
    steps.iter().for_each(|step| packing.step(step));
    let bundles = packing.bundles();
    Compiled { mix: packing.mix.into_iter().collect(), bundles }
}

/// How many operations, one after the other, the variables of a loop need from round to round, at most.
fn chain(unrolled: &Unrolled, piece: usize, steps: &[Step]) -> usize {
    let mut depth: HashMap<Row, usize> = HashMap::new();
    for step in steps {
        if let Step::Set { to, .. } = step {
            depth.insert(*to, 0);
        }
    }
    let mut longest = 0;
    for step in steps {
        match step {
            Step::Alu { op, to, from } => {
                let costs = op.class().is_some() && !unrolled.is_free(piece, from);
                if let Some(deepest) = from.iter().filter_map(|row| depth.get(row)).max() {
                    depth.insert(*to, deepest + usize::from(costs));
                }
            }
            Step::Set { to, from } => {
                let so_far = depth.get(from).copied().unwrap_or(0);
                depth.insert(*to, so_far);
                longest = longest.max(so_far);
            }
            _ => {}
        }
    }
    longest
}
