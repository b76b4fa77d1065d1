//! What a compiler has left to do of a text: it unrolls loops whose bounds it knows, so that their counters, and what follows
//! from these alone, cost nothing; what stays the same in a loop it does once before it, which is not counted either.

use super::program::{Given, Node, Program, Row, Space, Step};

/// A stretch of the text that may be left out or repeated.
#[derive(Clone, Copy, Debug)]
struct Region {
    is_loop: bool,
    /// Whether the compiler knows how often it is run.
    certain: bool,
}

/// A row is set or read.
#[derive(Clone, Debug)]
struct Event {
    sets: bool,
    /// The regions around it, the outermost first.
    path: Vec<usize>,
}

/// A program's rows and regions as its compiler sees them.
pub(super) struct Unrolled {
    /// Of each row, whether the compiler knows its value.
    known: Vec<bool>,
    /// In the order in which the text enters them.
    regions: Vec<Region>,
    /// Of each row, in the order of the text.
    events: Vec<Vec<Event>>,
    /// Of each row, whether what computes it is moved out of the innermost loop around it.
    moved: Vec<bool>,
    /// Of each piece, the regions around it, the outermost first.
    paths: Vec<Vec<usize>>,
    /// Of each branch, whether the compiler knows where it goes.
    decided: Vec<bool>,
    /// Whether anything turned out to be unknown.
    changed: bool,
}

impl Unrolled {
    pub(super) fn of(program: &Program) -> Self {
        let rows = program.rows as usize;
        let mut unrolled = Self {
            known: vec![true; rows],
            regions: vec![],
            events: vec![vec![]; rows],
            moved: vec![false; rows],
            paths: vec![vec![]; program.pieces.len()],
            decided: vec![true; program.branches.len()],
            changed: true,
        };
        for (given, row) in &program.given {
            unrolled.known[*row as usize] = matches!(given, Given::Constant(_));
        }
        unrolled.place(program, &program.body, &mut vec![]);
        while std::mem::take(&mut unrolled.changed) {
            unrolled.walk(program, &program.body, &mut vec![], &mut 0);
        }
        unrolled.move_out(program);
        unrolled
    }

    /// Whether the compiler knows where a branch goes.
    pub(super) fn is_decided(&self, branch: usize) -> bool {
        self.decided[branch]
    }

    /// Whether the compiler knows the value of a row.
    pub(super) fn is_known(&self, row: Row) -> bool {
        self.known[row as usize]
    }

    /// Whether what a piece computes from these rows costs nothing where it stands.
    pub(super) fn is_free(&self, piece: usize, from: &[Row]) -> bool {
        from.iter().all(|&row| self.is_known(row)) || self.is_moved(piece, from)
    }

    /// Whether it is moved out of the innermost loop.
    fn is_moved(&self, piece: usize, from: &[Row]) -> bool {
        let inner = self.innermost(&self.paths[piece]);
        inner.is_some_and(|inner| from.iter().all(|&row| self.stays(row, inner)))
    }

    /// Whether a piece's innermost loop is unrolled, and the piece is in every round of it.
    pub(super) fn is_unrolled(&self, piece: usize) -> bool {
        let path = &self.paths[piece];
        let Some(inner) = self.innermost(path) else { return false };
        path.iter()
            .skip_while(|region| **region != inner)
            .all(|region| self.regions[*region].certain)
    }

    fn innermost(&self, path: &[usize]) -> Option<usize> {
        path.iter().rev().copied().find(|region| self.regions[*region].is_loop)
    }

    /// Whether a row is the same whenever a loop goes round.
    fn stays(&self, row: Row, inner: usize) -> bool {
        let is_moved =
            |path: &[usize]| self.moved[row as usize] && self.innermost(path) == Some(inner);
        let mut sets = self.events[row as usize].iter().filter(|event| event.sets);
        sets.all(|event| !event.path.contains(&inner) || is_moved(&event.path))
    }

    /// Whether what a row holds at the end of a region matters behind it, or when it is run again: unless it is set
    /// there before anything reads it.
    fn outlives(&self, row: Row, region: usize) -> bool {
        let mut events = self.events[row as usize].iter();
        let first = events.clone().find(|event| event.path.contains(&region));
        let again = first.is_some_and(|event| !event.sets || event.path.last() != Some(&region));
        again || events.any(|event| !event.sets && !event.path.contains(&region))
    }

    fn note(&mut self, row: Row, sets: bool, path: &[usize]) {
        self.events[row as usize].push(Event { sets, path: path.to_vec() });
    }

    /// Enters a region, notes what is `within`, and leaves it.
    fn region(
        &mut self,
        is_loop: bool,
        path: &mut Vec<usize>,
        within: impl FnOnce(&mut Self, &mut Vec<usize>),
    ) {
        path.push(self.regions.len());
        self.regions.push(Region { is_loop, certain: true });
        within(self, path);
        path.pop();
    }

    /// Notes around what every piece and every setting of a row stands.
    fn place(&mut self, program: &Program, nodes: &[Node], path: &mut Vec<usize>) {
        for node in nodes {
            match node {
                Node::Run(piece) => {
                    self.paths[*piece as usize].clone_from(path);
                    for step in &program.pieces[*piece as usize].steps {
                        read_by(program, step)
                            .into_iter()
                            .for_each(|row| self.note(row, false, path));
                        set_by(program, step)
                            .into_iter()
                            .for_each(|row| self.note(row, true, path));
                    }
                }
                Node::If { condition, accept, reject, .. } => {
                    self.note(*condition, false, path);
                    for side in [accept, reject] {
                        self.region(false, path, |all, path| all.place(program, side, path));
                    }
                }
                Node::Switch { selector, cases, .. } => {
                    self.note(*selector, false, path);
                    for (_, side) in cases {
                        self.region(false, path, |all, path| all.place(program, side, path));
                    }
                }
                Node::Loop { body, continuing, break_if, .. } => {
                    self.region(true, path, |all, path| {
                        all.place(program, body, path);
                        all.place(program, continuing, path);
                        break_if.iter().for_each(|(row, _)| all.note(*row, false, path));
                    });
                }
                Node::Call(body) => {
                    self.region(false, path, |all, path| all.place(program, body, path));
                }
                Node::Break | Node::Continue | Node::Return | Node::Barrier { .. } => {}
            }
        }
    }

    /// Marks what is not known, as far as what is marked already says so. `next` is the next region's number.
    fn walk(&mut self, program: &Program, nodes: &[Node], path: &mut Vec<usize>, next: &mut usize) {
        for node in nodes {
            match node {
                Node::Run(piece) => {
                    for step in &program.pieces[*piece as usize].steps {
                        self.step(program, step, path);
                    }
                }
                Node::If { condition, accept, reject, branch } => {
                    let known = self.decide(*condition, *branch);
                    for side in [accept, reject] {
                        self.side(program, side, known, path, next);
                    }
                }
                Node::Switch { selector, cases, branch } => {
                    let known = self.decide(*selector, *branch);
                    cases.iter().for_each(|(_, side)| self.side(program, side, known, path, next));
                }
                Node::Loop { body, continuing, break_if, .. } => {
                    let number = *next;
                    path.push(number);
                    *next += 1;
                    self.walk(program, body, path, next);
                    self.walk(program, continuing, path, next);
                    if let Some((row, branch)) = break_if
                        && !self.decide(*row, *branch)
                    {
                        self.doubt(path, number);
                    }
                    path.pop();
                }
                Node::Call(body) => {
                    path.push(*next);
                    *next += 1;
                    self.walk(program, body, path, next);
                    path.pop();
                }
                Node::Break | Node::Continue => {
                    let inner = self.innermost(path).unwrap_or_default();
                    self.leave(path, inner);
                }
                Node::Return => self.leave(path, 0),
                Node::Barrier { .. } => {}
            }
        }
    }

    /// One side of a branch that goes where the compiler knows or not.
    fn side(
        &mut self,
        program: &Program,
        nodes: &[Node],
        known: bool,
        path: &mut Vec<usize>,
        next: &mut usize,
    ) {
        path.push(*next);
        self.regions[*next].certain &= known;
        *next += 1;
        self.walk(program, nodes, path, next);
        path.pop();
    }

    fn decide(&mut self, condition: Row, branch: u32) -> bool {
        let known = self.known[condition as usize];
        self.decided[branch as usize] = known;
        known
    }

    /// What stands around is left, up to the region of number `to`: nobody knows how often that is run, nor what follows in
    /// it, where it depends on what is not known.
    fn leave(&mut self, path: &[usize], to: usize) {
        if path.iter().any(|region| *region >= to && !self.regions[*region].certain) {
            self.doubt(path, to);
        }
    }

    fn doubt(&mut self, path: &[usize], to: usize) {
        for &region in path.iter().filter(|region| **region >= to) {
            self.changed |= std::mem::replace(&mut self.regions[region].certain, false);
        }
    }

    fn step(&mut self, program: &Program, step: &Step, path: &[usize]) {
        let known = match step {
            Step::Alu { from, .. } => from.iter().all(|&row| self.known[row as usize]),
            // A variable is not known behind what may or may not have changed it.
            Step::Set { to, from } => {
                let mut uncertain = path.iter().filter(|region| !self.regions[**region].certain);
                self.known[*from as usize] && !uncertain.any(|&region| self.outlives(*to, region))
            }
            _ => false,
        };
        if !known {
            for row in set_by(program, step) {
                self.changed |= std::mem::replace(&mut self.known[row as usize], false);
            }
        }
    }

    /// Marks what is computed from nothing that its innermost loop changes. Pieces stand in the order of the text.
    fn move_out(&mut self, program: &Program) {
        for (number, piece) in program.pieces.iter().enumerate() {
            for step in &piece.steps {
                if let Step::Alu { to, from, .. } = step {
                    let once = self.events[*to as usize].iter().filter(|e| e.sets).count() == 1;
                    self.moved[*to as usize] = once && self.is_moved(number, from);
                }
            }
        }
    }
}

/// The rows that a step reads, those of private memory aside.
fn read_by(program: &Program, step: &Step) -> Vec<Row> {
    let address = |access: &u32| {
        let place = &program.accesses[*access as usize].place;
        place.indices.iter().map(|index| index.row).collect::<Vec<_>>()
    };
    match step {
        Step::Alu { from, .. } => from.to_vec(),
        Step::Set { from, .. } => vec![*from],
        Step::Load { access, .. } => address(access),
        Step::Store { from, access } => [&from[..], &address(access)].concat(),
        Step::Atomic { change, access } => {
            [&[change.value, change.compare][..], &address(access)].concat()
        }
        Step::Subgroup { from, .. } => from.to_vec(),
    }
}

/// The rows that a step sets.
fn set_by(program: &Program, step: &Step) -> Vec<Row> {
    match step {
        Step::Alu { to, .. } | Step::Set { to, .. } | Step::Subgroup { to, .. } => vec![*to],
        Step::Load { to, access } => {
            (*to..*to + program.accesses[*access as usize].width).collect()
        }
        Step::Atomic { change, .. } => vec![change.to],
        Step::Store { access, .. } => {
            let access = &program.accesses[*access as usize];
            if access.place.space != Space::Private {
                return vec![];
            }
            access.rows().collect()
        }
    }
}
