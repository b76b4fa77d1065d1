//! Where in the text each row is set and used: the text's order stands for time, and what is
//! used in a loop is used until the loop ends.

use super::program::{Access, Node, Program, Row, Space, Step};

/// One setting or use of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) at: u32,
    pub(super) sets: bool,
    /// The innermost loop around it, by its position in [`Liveness::loops`].
    inner: Option<usize>,
    /// Which list of nodes it stands in.
    pub(super) list: u32,
}

/// A loop's place in the text.
#[derive(Clone, Copy, Debug)]
struct Loop {
    start: u32,
    end: u32,
    outer: Option<usize>,
}

/// All settings and uses of all rows.
#[derive(Default)]
pub(super) struct Liveness {
    pub(super) events: Vec<Vec<Event>>,
    loops: Vec<Loop>,
    now: u32,
    inner: Option<usize>,
    lists: u32,
}

impl Liveness {
    pub(super) fn of(program: &Program) -> Self {
        let mut liveness = Self { events: vec![vec![]; program.rows as usize], ..Self::default() };
        liveness.walk(program, &program.body, 0);
        liveness
    }

    /// The last place at which what is set at `from` may still be needed.
    pub(super) fn needed_until(&self, row: Row, from: u32) -> u32 {
        let uses = self.events[row as usize].iter().filter(|event| !event.sets);
        uses.map(|event| self.until(event, from)).max().unwrap_or(from)
    }

    fn until(&self, event: &Event, from: u32) -> u32 {
        let (mut last, mut inner) = (event.at, event.inner);
        while let Some(l) = inner.map(|i| self.loops[i]).filter(|l| l.start > from) {
            last = l.end;
            inner = l.outer;
        }
        last
    }

    fn walk(&mut self, program: &Program, nodes: &[Node], list: u32) {
        for node in nodes {
            match node {
                Node::Run(piece) => {
                    for step in &program.pieces[*piece as usize].steps {
                        self.step(program, step, list);
                    }
                }
                Node::If { condition, accept, reject, .. } => {
                    self.event(*condition, false, list);
                    self.nested(program, accept);
                    self.nested(program, reject);
                }
                Node::Switch { selector, cases, .. } => {
                    self.event(*selector, false, list);
                    for (_, body) in cases {
                        self.nested(program, body);
                    }
                }
                Node::Loop { body, continuing, break_if, .. } => {
                    let id = self.loops.len();
                    let outer = self.inner.replace(id);
                    self.now += 1;
                    self.loops.push(Loop { start: self.now, end: self.now, outer });
                    self.nested(program, body);
                    self.nested(program, continuing);
                    if let Some((row, _)) = break_if {
                        self.event(*row, false, list);
                    }
                    self.now += 1;
                    self.loops[id].end = self.now;
                    self.inner = outer;
                }
                Node::Call(body) => self.walk(program, body, list),
                Node::Break | Node::Continue | Node::Return | Node::Barrier { .. } => {}
            }
        }
    }

    fn nested(&mut self, program: &Program, nodes: &[Node]) {
        self.lists += 1;
        let list = self.lists;
        self.walk(program, nodes, list);
    }

    fn step(&mut self, program: &Program, step: &Step, list: u32) {
        match step {
            Step::Alu { to, from, .. } => {
                from.iter().for_each(|&row| self.event(row, false, list));
                self.now += 1;
                self.event(*to, true, list);
            }
            Step::Set { to, from } => {
                self.event(*from, false, list);
                self.now += 1;
                self.event(*to, true, list);
            }
            Step::Load { to, access } => {
                let access = &program.accesses[*access as usize];
                self.place(access, list);
                self.now += 1;
                (*to..*to + access.width).for_each(|row| self.event(row, true, list));
            }
            Step::Store { from, access } => {
                let access = &program.accesses[*access as usize];
                let width = access.width as usize;
                from[..width].iter().for_each(|&row| self.event(row, false, list));
                self.place(access, list);
            }
            Step::Atomic { change, access } => {
                self.event(change.value, false, list);
                self.event(change.compare, false, list);
                self.place(&program.accesses[*access as usize], list);
                self.now += 1;
                self.event(change.to, true, list);
            }
            Step::Subgroup { from, to, .. } => {
                from.iter().for_each(|&row| self.event(row, false, list));
                self.now += 1;
                self.event(*to, true, list);
            }
        }
        self.now += 1;
    }

    /// Indices are used; of private arrays, every element is used and set.
    fn place(&mut self, access: &Access, list: u32) {
        let place = &access.place;
        place.indices.iter().for_each(|index| self.event(index.row, false, list));
        if place.space == Space::Private {
            for row in access.rows() {
                self.event(row, false, list);
                self.event(row, access.kind == super::program::Kind::Write, list);
            }
        }
    }

    fn event(&mut self, row: Row, sets: bool, list: u32) {
        let event = Event { at: self.now, sets, inner: self.inner, list };
        self.events[row as usize].push(event);
    }
}
