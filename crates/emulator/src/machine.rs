//! Runs a program for one group: every step for all lanes at once, control flow by masks.

use super::counter::Counter;
use super::deadline::Deadline;
use super::fault::Faults;
use super::mask::Mask;
use super::memory::Memory;
use super::program::{Given, Node, Program, Row, Step};
use super::{Buffer, FaultKind, Instrumentation, Launch};
use gpubench_core::error::Result;

/// The state of a run.
pub(super) struct Machine<'p> {
    pub(super) program: &'p Program,
    pub(super) lanes: usize,
    /// Row after row, a value for each lane.
    pub(super) rows: Vec<u32>,
    pub(super) memory: Memory,
    /// One for each set of rules; none: nothing is counted.
    pub(super) counters: Vec<Counter>,
    pub(super) faults: Faults,
    pub(super) group: [u32; 3],
    /// Lanes of a subgroup.
    pub(super) subgroup: u32,
    all: Mask,
    pub(super) active: Mask,
    /// Whether every lane is active.
    pub(super) full: bool,
    /// Lanes that left the innermost loop or switch, wait for its next turn, or left the call.
    broke: Mask,
    continued: Mask,
    returned: Mask,
    deadline: Deadline,
}

impl<'p> Machine<'p> {
    pub(super) fn new(
        program: &'p Program,
        memory: Memory,
        counters: Vec<Counter>,
        instrumentation: &Instrumentation,
    ) -> Self {
        let lanes = program.group.iter().product::<u32>() as usize;
        let all = Mask::first(lanes);
        Self {
            program,
            lanes,
            rows: vec![0; program.rows as usize * lanes],
            memory,
            counters,
            faults: Faults::default(),
            group: [0; 3],
            subgroup: instrumentation.subgroup,
            all,
            active: all,
            full: true,
            broke: Mask::EMPTY,
            continued: Mask::EMPTY,
            returned: Mask::EMPTY,
            deadline: Deadline::new(instrumentation.limit),
        }
    }

    /// The first warp's tasks and the first work-item's reads are those of the next group.
    pub(super) fn restart(&mut self) {
        for counter in &mut self.counters {
            counter.tracer = super::tasks::Tracer::default();
            counter.reads = super::reuse::Reads::new(self.program.accesses.len());
        }
    }

    /// Runs the group `group` of `launch`.
    pub(super) fn run(&mut self, launch: &mut Launch, group: [u32; 3]) -> Result<()> {
        self.group = group;
        self.memory.begin_group();
        self.give(launch);
        self.activate(self.all);
        self.broke = Mask::EMPTY;
        self.continued = Mask::EMPTY;
        self.returned = Mask::EMPTY;
        let program = self.program;
        self.deadline.begin(&program.file, group)?;
        self.nodes(launch, &program.body)
    }

    /// Fills the rows whose numbers are known when a group starts.
    fn give(&mut self, launch: &Launch) {
        let (size, subgroup) = (self.program.group, self.subgroup);
        for &(given, row) in &self.program.given {
            let group = self.group;
            let local = |lane: u32, axis: u32| match axis {
                0 => lane % size[0],
                1 => lane / size[0] % size[1],
                _ => lane / (size[0] * size[1]),
            };
            let lanes = self.rows[row as usize * self.lanes..][..self.lanes].iter_mut().zip(0u32..);
            match given {
                Given::Constant(bits) => lanes.for_each(|(to, _)| *to = bits),
                Given::Param(word) => {
                    let value = launch.params.get(word as usize).copied().unwrap_or(0);
                    lanes.for_each(|(to, _)| *to = value);
                }
                Given::Length { buffer, offset, stride } => {
                    let words = launch.buffers.get(buffer as usize).map_or(0, Buffer::len);
                    let length = (2 * words).saturating_sub(offset as usize) / stride as usize;
                    let length = u32::try_from(length).unwrap_or(u32::MAX);
                    lanes.for_each(|(to, _)| *to = length);
                }
                Given::GlobalId(axis) => {
                    let a = axis as usize;
                    lanes.for_each(|(to, lane)| *to = group[a] * size[a] + local(lane, axis));
                }
                Given::LocalId(axis) => lanes.for_each(|(to, lane)| *to = local(lane, axis)),
                Given::GroupId(axis) => lanes.for_each(|(to, _)| *to = group[axis as usize]),
                Given::Groups(axis) => {
                    lanes.for_each(|(to, _)| *to = launch.groups[axis as usize]);
                }
                Given::LocalIndex => lanes.for_each(|(to, lane)| *to = lane),
                Given::SubgroupSize => lanes.for_each(|(to, _)| *to = subgroup),
                Given::SubgroupLane => lanes.for_each(|(to, lane)| *to = lane % subgroup),
                Given::SubgroupId => lanes.for_each(|(to, lane)| *to = lane / subgroup),
                Given::Subgroups => {
                    lanes.for_each(|(to, _)| *to = (self.lanes as u32).div_ceil(subgroup));
                }
            }
        }
    }

    fn activate(&mut self, mask: Mask) {
        self.active = mask;
        self.full = mask == self.all;
        self.counters.iter_mut().for_each(|counter| counter.activate(&mask));
    }

    pub(super) fn row(&self, row: Row) -> &[u32] {
        &self.rows[row as usize * self.lanes..][..self.lanes]
    }

    /// Active lanes whose row is not 0.
    fn holds(&self, row: Row) -> Mask {
        self.active.and(&Mask::of(self.row(row)))
    }

    fn nodes(&mut self, launch: &mut Launch, nodes: &[Node]) -> Result<()> {
        for node in nodes {
            if self.active.is_empty() {
                break;
            }
            self.node(launch, node)?;
        }
        Ok(())
    }

    fn node(&mut self, launch: &mut Launch, node: &Node) -> Result<()> {
        match node {
            Node::Run(piece) => self.piece(launch, *piece)?,
            Node::If { condition, accept, reject, branch } => {
                self.branch(launch, *condition, [accept, reject], *branch)?;
            }
            Node::Loop { body, continuing, break_if, line } => {
                self.repeat(launch, body, continuing, *break_if, *line)?;
            }
            Node::Switch { selector, cases, branch } => {
                self.switch(launch, *selector, cases, *branch)?;
            }
            Node::Call(body) => {
                let outer = std::mem::replace(&mut self.returned, Mask::EMPTY);
                self.nodes(launch, body)?;
                self.activate(self.active.or(&self.returned));
                self.returned = outer;
            }
            Node::Break => {
                self.broke = self.broke.or(&self.active);
                self.activate(Mask::EMPTY);
            }
            Node::Continue => {
                self.continued = self.continued.or(&self.active);
                self.activate(Mask::EMPTY);
            }
            Node::Return => {
                self.returned = self.returned.or(&self.active);
                self.activate(Mask::EMPTY);
            }
            Node::Barrier { local, storage, line } => self.barrier(*local, *storage, *line),
        }
        Ok(())
    }

    fn branch(
        &mut self,
        launch: &mut Launch,
        condition: Row,
        [accept, reject]: [&[Node]; 2],
        branch: u32,
    ) -> Result<()> {
        let came = self.active;
        let yes = self.holds(condition);
        let no = came.without(&yes);
        for counter in &mut self.counters {
            counter.branch(branch, &came, &yes, [has_code(accept), has_code(reject)]);
        }
        self.activate(yes);
        self.nodes(launch, accept)?;
        let after = self.active;
        if !no.is_empty() {
            self.activate(no);
            self.nodes(launch, reject)?;
            self.activate(self.active.or(&after));
        }
        Ok(())
    }

    fn repeat(
        &mut self,
        launch: &mut Launch,
        body: &[Node],
        continuing: &[Node],
        break_if: Option<(Row, u32)>,
        line: u32,
    ) -> Result<()> {
        let broke = std::mem::replace(&mut self.broke, Mask::EMPTY);
        let continued = std::mem::replace(&mut self.continued, Mask::EMPTY);
        while !self.active.is_empty() {
            self.deadline.turn(&self.program.file, line, self.group)?;
            self.nodes(launch, body)?;
            if !self.continued.is_empty() {
                let waiting = std::mem::replace(&mut self.continued, Mask::EMPTY);
                self.activate(self.active.or(&waiting));
            }
            self.nodes(launch, continuing)?;
            if let Some((row, branch)) = break_if
                && !self.active.is_empty()
            {
                let leaving = self.holds(row);
                for counter in &mut self.counters {
                    counter.branch(branch, &self.active, &leaving, [false, true]);
                }
                self.broke = self.broke.or(&leaving);
                self.activate(self.active.without(&leaving));
            }
        }
        self.activate(self.broke);
        self.broke = broke;
        self.continued = continued;
        Ok(())
    }

    fn switch(
        &mut self,
        launch: &mut Launch,
        selector: Row,
        cases: &[(Vec<u32>, Vec<Node>)],
        branch: u32,
    ) -> Result<()> {
        let came = self.active;
        let outer = std::mem::replace(&mut self.broke, Mask::EMPTY);
        let of = |values: &[u32]| {
            let row = self.row(selector).iter();
            let chosen: Vec<u32> = row.map(|v| u32::from(values.contains(v))).collect();
            came.and(&Mask::of(&chosen))
        };
        let named: Vec<Mask> = cases.iter().map(|(values, _)| of(values)).collect();
        let rest = named.iter().fold(came, |rest, mask| rest.without(mask));
        let mut after = Mask::EMPTY;
        for ((values, body), mask) in cases.iter().zip(named) {
            let mask = if values.is_empty() { rest } else { mask };
            for counter in &mut self.counters {
                counter.branch(branch, &came, &mask, [has_code(body), false]);
            }
            self.activate(mask);
            self.nodes(launch, body)?;
            after = after.or(&self.active);
        }
        self.activate(after.or(&self.broke));
        self.broke = outer;
        Ok(())
    }

    fn barrier(&mut self, local: bool, storage: bool, line: u32) {
        if !self.full {
            let missing = self.all.without(&self.active);
            let lane = missing.lanes().next().unwrap_or(0);
            self.fault(FaultKind::DivergentBarrier, line, |machine| {
                let (active, all) = (machine.active.len(), machine.lanes);
                format!("{active} of {all} work-items reach it, {} does not", machine.item(lane))
            });
        }
        for counter in &mut self.counters {
            counter.barrier();
        }
        self.memory.barrier(local, storage);
    }

    /// Notes a fault of the kernel at `line`.
    pub(super) fn fault(&mut self, kind: FaultKind, line: u32, what: impl FnOnce(&Self) -> String) {
        let mut faults = std::mem::take(&mut self.faults);
        faults.add(kind, line, &self.program.file, || what(self));
        self.faults = faults;
    }

    /// A lane, as messages name it.
    pub(super) fn item(&self, lane: usize) -> String {
        self.item_of(lane, self.group)
    }

    /// A lane of any group.
    pub(super) fn item_of(&self, lane: usize, group: [u32; 3]) -> String {
        let [x, y, _] = self.program.group.map(|n| n as usize);
        let local = [lane % x, lane / x % y, lane / (x * y)];
        format!("work-item {local:?} of group {group:?}")
    }

    fn piece(&mut self, launch: &mut Launch, piece: u32) -> Result<()> {
        let program = self.program;
        for counter in &mut self.counters {
            counter.piece(program, piece);
        }
        for step in &program.pieces[piece as usize].steps {
            match step {
                Step::Alu { op, to, from } => {
                    op.run(&mut self.rows, self.lanes, *to, *from);
                }
                Step::Set { to, from } => self.set(*to, *from),
                Step::Load { to, access } => self.load(launch, *to, *access),
                Step::Store { from, access } => self.store(launch, *from, *access),
                Step::Atomic { change, access } => self.atomic(launch, change, *access),
                Step::Subgroup { op, from, to } => self.subgroup(*op, *from, *to),
            }
        }
        Ok(())
    }

    /// `to = from` in active lanes.
    fn set(&mut self, to: Row, from: Row) {
        let (to, from) = (to as usize * self.lanes, from as usize * self.lanes);
        if self.full {
            self.rows.copy_within(from..from + self.lanes, to);
        } else {
            for lane in self.active.lanes() {
                self.rows[to + lane] = self.rows[from + lane];
            }
        }
    }
}

/// Whether a side of a branch does more than leave.
fn has_code(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| !matches!(node, Node::Break | Node::Continue | Node::Return))
}
