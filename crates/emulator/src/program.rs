//! A kernel made ready to run: calls inlined, vectors taken apart, every scalar a row of lanes.

use super::Class;
use super::bundles::Compiled;
pub(super) use super::op::Op;

/// A row of the machine: one 32-bit value per work-item.
pub(super) type Row = u32;

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    /// In rows of the machine: offsets count rows.
    Private,
    /// In the group's local memory: offsets count words.
    Local,
    /// In storage buffer `i`: offsets count words.
    Buffer(u32),
    /// In the parameter block: offsets count words.
    Params,
}

/// One dynamic index of a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Index {
    pub(super) row: Row,
    /// Words (or rows) from one element to the next.
    pub(super) stride: u32,
    /// Number of elements; `None` for an array as long as its buffer.
    pub(super) count: Option<u32>,
}

/// Where a pointer points: a fixed offset and what each work-item adds.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) space: Space,
    pub(super) offset: u32,
    pub(super) indices: Vec<Index>,
    /// Name of the variable, for messages.
    pub(super) name: String,
}

/// What an access does with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    Atomic,
}

/// One access to memory in the kernel's text.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) place: Place,
    /// Scalars that it moves for each work-item, 1 to 4.
    pub(super) width: u32,
    /// Whether they are `f16`: then the place counts halves of a word.
    pub(super) narrow: bool,
    pub(super) kind: Kind,
    /// Whether it cannot race with others of its kind.
    pub(super) atomic: bool,
    /// Line of the kernel's text, from 1.
    pub(super) line: u32,
}

impl Access {
    /// Bytes that it moves for each work-item.
    pub(super) fn bytes(&self) -> u64 {
        u64::from(self.width) * if self.narrow { 2 } else { 4 }
    }

    /// Words that it touches for each work-item.
    pub(super) fn words(&self) -> u32 {
        if self.narrow { self.width.div_ceil(2) } else { self.width }
    }

    /// Of an access to private memory: every row that its indices may reach.
    pub(super) fn rows(&self) -> std::ops::Range<Row> {
        let Place { offset, indices, .. } = &self.place;
        let beyond: u32 = indices.iter().map(|i| i.stride * (i.count.unwrap_or(1) - 1)).sum();
        *offset..offset + beyond + self.width
    }

    /// The halves of words that it touches from `address` on.
    pub(super) fn halves(&self, address: u32) -> std::ops::Range<usize> {
        let each = if self.narrow { 1 } else { 2 };
        each * address as usize..each * (address + self.width) as usize
    }

    /// The class it counts in.
    pub(super) fn class(&self) -> Class {
        match (self.kind, self.place.space) {
            (Kind::Atomic, _) => Class::Atomic,
            (_, Space::Private) => Class::Private,
            (_, Space::Params) => Class::ParamRead,
            (Kind::Read, Space::Buffer(_)) => Class::GlobalRead,
            (Kind::Write, Space::Buffer(_)) => Class::GlobalWrite,
            (Kind::Read, Space::Local) => Class::LocalRead,
            (Kind::Write, Space::Local) => Class::LocalWrite,
        }
    }
}

/// What an atomic does with the old and the new value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Atomic {
    Add,
    Subtract,
    And,
    Or,
    Xor,
    UMin,
    UMax,
    SMin,
    SMax,
    Exchange,
    CompareExchange,
}

/// An atomic change of a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) function: Atomic,
    pub(super) value: Row,
    /// What the word must hold to be exchanged; for other functions, the value.
    pub(super) compare: Row,
    /// What it held.
    pub(super) to: Row,
}

/// What work-items of a subgroup make of their values. The second row is an index or distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubgroupOp {
    /// The value of the first active lane.
    First,
    /// Of the lane with this number.
    At,
    /// Of the lane so far behind, before, or with this number exclusive-or one's own.
    Down,
    Up,
    Xor,
    /// Of the lane with this number in one's four.
    Quad,
    /// 32 truth values from the lane of this number on, a bit each.
    Ballot,
    /// All values by an operation with its neutral element.
    Reduce(Op, u32),
    /// Those of the lanes up to one's own.
    Inclusive(Op, u32),
    /// Those of the lanes before one's own.
    Exclusive(Op, u32),
}

/// One step of straight code. `access` is a position in [`Program::accesses`].
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// `to = op(from)` in every lane; `to` lies behind all of `from`.
    Alu { op: Op, to: Row, from: [Row; 3] },
    /// `to = from` in active lanes.
    Set { to: Row, from: Row },
    /// Rows from `to` on become what the place holds.
    Load { to: Row, access: u32 },
    /// The place becomes what the rows hold.
    Store { from: [Row; 4], access: u32 },
    /// The place is changed lane by lane.
    Atomic { change: Change, access: u32 },
    /// `to` becomes what the active lanes of each subgroup make of `from`.
    Subgroup { op: SubgroupOp, from: [Row; 2], to: Row },
}

/// Straight code. Of accesses to global memory it has at most one, at its end.
#[derive(Clone, Debug, Default)]
pub(super) struct Piece {
    pub(super) steps: Vec<Step>,
    /// How many instructions of each class it has.
    pub(super) mix: Vec<(Class, u32)>,
    /// What a compiler leaves of them.
    pub(super) compiled: Compiled,
}

/// Structured control flow.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// Straight code, by its position in [`Program::pieces`].
    Run(u32),
    /// Lanes whose condition is not 0 go one way, the others the other; `branch` is a position
    /// in [`Program::branches`].
    If { condition: Row, accept: Vec<Node>, reject: Vec<Node>, branch: u32 },
    /// Until all lanes have left.
    Loop { body: Vec<Node>, continuing: Vec<Node>, break_if: Option<(Row, u32)>, line: u32 },
    /// The bodies with the values that lead to them; the one without any is the default.
    Switch { selector: Row, cases: Vec<(Vec<u32>, Vec<Node>)>, branch: u32 },
    /// An inlined function: what returns goes on behind it.
    Call(Vec<Node>),
    /// Leaves the innermost loop or switch.
    Break,
    /// Goes on with the innermost loop.
    Continue,
    /// Leaves the innermost call.
    Return,
    /// All work-items wait for each other.
    Barrier { local: bool, storage: bool, line: u32 },
}

/// Numbers that the machine knows when a group starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Given {
    Constant(u32),
    /// A word of the parameter block.
    Param(u32),
    /// Elements of the array that begins at `offset` of a buffer, in halves of a word.
    Length {
        buffer: u32,
        offset: u32,
        stride: u32,
    },
    GlobalId(u32),
    LocalId(u32),
    GroupId(u32),
    Groups(u32),
    LocalIndex,
    SubgroupSize,
    SubgroupLane,
    SubgroupId,
    Subgroups,
}

/// An array of a buffer, or a member of its struct: what must be written where it is an output.
#[derive(Clone, Debug)]
pub(super) struct Output {
    pub(super) binding: u32,
    pub(super) name: String,
    /// The line of the buffer's declaration, from 1.
    pub(super) line: u32,
    /// Its place, in halves of a word, as all that follows.
    pub(super) offset: u32,
    /// From one element to the next, and how many elements there are; `None` for as many as the
    /// buffer holds.
    pub(super) stride: u32,
    pub(super) count: Option<u32>,
    /// What of an element holds something; the rest only keeps a distance.
    pub(super) halves: Vec<u32>,
}

impl Output {
    /// A buffer that the kernel's text does not mention.
    pub(super) fn undeclared(binding: u32) -> Self {
        let name = format!("binding {binding}");
        Self { binding, name, line: 1, offset: 0, stride: 2, count: None, halves: vec![0, 1] }
    }
}

/// A kernel made ready to run.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    /// The text's file, for messages.
    pub(super) file: String,
    /// Work-items per group.
    pub(super) group: [u32; 3],
    /// How many rows it needs.
    pub(super) rows: u32,
    pub(super) given: Vec<(Given, Row)>,
    pub(super) pieces: Vec<Piece>,
    pub(super) accesses: Vec<Access>,
    /// The line of each branch.
    pub(super) branches: Vec<u32>,
    /// Of each branch, whether a compiler knows where it goes.
    pub(super) decided: Vec<bool>,
    pub(super) body: Vec<Node>,
    /// Words of local memory.
    pub(super) local_words: u32,
    /// Which buffers the kernel may write.
    pub(super) writable: Vec<bool>,
    /// What lies in the buffers that the kernel may write.
    pub(super) outputs: Vec<Output>,
    /// Rows of variables, whose first setting is their initial value.
    pub(super) initial: Vec<Row>,
    /// Most values that are alive at once, estimated.
    pub(super) live: u32,
}
