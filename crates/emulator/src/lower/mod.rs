//! naga's tree becomes a [`Program`]: calls inlined, values taken apart into rows, pointers into
//! places, branches whose side is known left out.

mod arithmetic;
mod atomics;
mod compute;
mod control_flow;
mod frame;
mod layout;
mod math;
mod matrices;
mod memory;
mod names;
mod packing;
mod subgroups;
mod types;
mod values;

use super::dead_code::eliminate_dead_code;
use super::mask::MAX_LANES;
use super::program::{Given, Node, Op, Piece, Program, Row, Step};
use super::source::Source;
use frame::{Frame, Value};
use gpubench_core::error::{Error, Result};
use naga::{Barrier, Block, GlobalVariable, Handle, Span, Statement};

/// Most statements of a program, and values of a work-item and of all.
const MAX_STATEMENTS: u32 = 1 << 17;
const MAX_ROWS: u32 = 1 << 20;
const MAX_VALUES: u32 = 1 << 28;

/// The program of a kernel.
pub(super) fn lower(source: &Source) -> Result<Program> {
    let (index, entry) = source.entry();
    let group = entry.workgroup_size;
    let lanes: u64 = group.iter().map(|&n| u64::from(n)).product();
    if lanes == 0 || lanes > u64::from(MAX_LANES) {
        return Err(Error::Unsupported(format!(
            "{}: the emulator takes work-groups of 1 to {MAX_LANES} work-items, not {lanes}",
            source.file
        )));
    }
    let program = Program { file: source.file.clone(), group, ..Program::default() };
    let mut lowering = Lowering {
        source,
        program,
        nodes: vec![],
        piece: Piece::default(),
        placed: vec![],
        size: 0,
    };
    lowering.find_writable();
    lowering.private_variables()?;
    let info = source.info.get_entry_point(index);
    let arguments = lowering.built_ins(&entry.function)?;
    let mut frame = Frame::new(&source.module, &entry.function, info, arguments, vec![]);
    lowering.function(&mut frame)?;
    lowering.close();
    lowering.program.body = std::mem::take(&mut lowering.nodes);
    let mut program = lowering.program;
    eliminate_dead_code(&mut program);
    Ok(program)
}

/// A program in the making.
struct Lowering<'a> {
    source: &'a Source,
    program: Program,
    /// The list that is being filled, and the straight code at its end.
    nodes: Vec<Node>,
    piece: Piece,
    /// Variables outside of all functions, and where they lie in local memory or in rows.
    placed: Vec<(Handle<GlobalVariable>, u32)>,
    /// Statements so far, those of calls each time anew.
    size: u32,
}

impl<'a> Lowering<'a> {
    fn unknown(&self, what: &str, span: Span) -> Error {
        self.source.unknown(what, span)
    }

    fn row(&mut self) -> Row {
        self.rows(1)
    }

    /// The first of so many new rows, side by side.
    fn rows(&mut self, count: u32) -> Row {
        self.program.rows += count;
        self.program.rows - count
    }

    /// The row of a number that is known when a group starts.
    fn given(&mut self, given: Given) -> Row {
        if let Some((_, row)) = self.program.given.iter().find(|(g, _)| *g == given) {
            return *row;
        }
        let row = self.row();
        self.program.given.push((given, row));
        row
    }

    fn constant(&mut self, bits: u32) -> Row {
        self.given(Given::Constant(bits))
    }

    /// The number that a row always holds, where that is known.
    fn known(&self, row: Row) -> Option<u32> {
        self.program.given.iter().find_map(|(given, r)| match given {
            Given::Constant(bits) if *r == row => Some(*bits),
            _ => None,
        })
    }

    fn alu(&mut self, op: Op, from: [Row; 3]) -> Row {
        let to = self.row();
        self.piece.steps.push(Step::Alu { op, to, from });
        to
    }

    fn set(&mut self, to: Row, from: Row) {
        self.piece.steps.push(Step::Set { to, from });
    }

    /// Sets rows that stand side by side, from `first` on.
    fn set_all(&mut self, first: Row, from: Vec<Row>) {
        (first..).zip(from).for_each(|(to, from)| self.set(to, from));
    }

    /// Ends the straight code.
    fn close(&mut self) {
        let piece = std::mem::take(&mut self.piece);
        if !piece.steps.is_empty() {
            self.nodes.push(Node::Run(self.program.pieces.len() as u32));
            self.program.pieces.push(piece);
        }
    }

    /// What `fill` makes, in a list of its own.
    fn nested(&mut self, fill: impl FnOnce(&mut Self) -> Result<()>) -> Result<Vec<Node>> {
        self.close();
        let outer = std::mem::take(&mut self.nodes);
        let filled = fill(self);
        self.close();
        let inner = std::mem::replace(&mut self.nodes, outer);
        filled.map(|()| inner)
    }

    fn branch(&mut self, span: Span) -> u32 {
        self.program.branches.push(self.source.line(span));
        self.program.branches.len() as u32 - 1
    }

    /// A whole function: its variables as they begin, then its body.
    fn function(&mut self, frame: &mut Frame<'a>) -> Result<()> {
        for (handle, variable) in frame.function.local_variables.iter() {
            let span = frame.function.local_variables.get_span(handle);
            let ty = &self.source.module.types[variable.ty].inner;
            let count = types::scalars(&self.source.module.types, ty)
                .map_err(|what| self.unknown(&what, span))?;
            let first = self.rows(count);
            frame.variables.push(first);
            self.program.initial.extend(first..first + count);
            let from = match variable.init {
                Some(init) => self.rows_of(frame, init)?,
                None => vec![self.constant(0); count as usize],
            };
            self.set_all(first, from);
        }
        self.block(frame, &frame.function.body)
    }

    fn block(&mut self, frame: &mut Frame<'a>, block: &'a Block) -> Result<()> {
        for (statement, span) in block.span_iter() {
            self.statement(frame, statement, *span)?;
        }
        Ok(())
    }

    fn statement(
        &mut self,
        frame: &mut Frame<'a>,
        statement: &'a Statement,
        span: Span,
    ) -> Result<()> {
        self.grow(span)?;
        match statement {
            Statement::Emit(range) => {
                for handle in range.clone() {
                    let value = self.evaluate(frame, handle)?;
                    frame.put(handle, value);
                }
            }
            Statement::Block(block) => self.block(frame, block)?,
            Statement::If { condition, accept, reject } => {
                self.branching(frame, *condition, [accept, reject], span)?;
            }
            Statement::Loop { body, continuing, break_if } => {
                self.looping(frame, body, continuing, *break_if, span)?;
            }
            Statement::Switch { selector, cases } => {
                self.switching(frame, *selector, cases, span)?;
            }
            Statement::Break => self.leave(Node::Break),
            Statement::Continue => self.leave(Node::Continue),
            Statement::Return { value } => {
                if let Some(value) = value {
                    let rows = self.rows_of(frame, *value)?;
                    for (to, from) in frame.result.clone().into_iter().zip(rows) {
                        self.set(to, from);
                    }
                }
                self.leave(Node::Return);
            }
            Statement::ControlBarrier(flags) if flags.contains(Barrier::SUB_GROUP) => {
                return Err(self.unknown("`subgroupBarrier`", span));
            }
            Statement::ControlBarrier(flags) => self.barrier(*flags, span),
            Statement::MemoryBarrier(_) => {}
            Statement::Store { pointer, value } => self.store(frame, *pointer, *value, span)?,
            Statement::Atomic { pointer, fun, value, result } => {
                let rows = self.atomic(frame, *pointer, fun, *value, span)?;
                if let Some(result) = result {
                    frame.put(*result, Value::Rows(rows));
                }
            }
            Statement::WorkGroupUniformLoad { pointer, result } => {
                self.barrier(Barrier::WORK_GROUP, span);
                let value = self.load(frame, *pointer, span)?;
                frame.put(*result, value);
                self.barrier(Barrier::WORK_GROUP, span);
            }
            Statement::Call { function, arguments, result } => {
                self.call(frame, *function, arguments, *result)?;
            }
            other => self.subgroup_statement(frame, other, span)?,
        }
        Ok(())
    }

    /// One more statement. Calls are inlined, so that a short text may become a program without
    /// bounds.
    fn grow(&mut self, span: Span) -> Result<()> {
        self.size += 1;
        let lanes = self.program.group.iter().product::<u32>();
        let rows = MAX_ROWS.min(MAX_VALUES / lanes);
        if self.size <= MAX_STATEMENTS && self.program.rows <= rows {
            return Ok(());
        }
        Err(Error::Unsupported(format!(
            "{}:{}: with its calls inlined the kernel becomes more than {MAX_STATEMENTS} statements \
             or {rows} values of each work-item: the emulator takes no more",
            self.source.file,
            self.source.line(span)
        )))
    }

    fn leave(&mut self, node: Node) {
        self.close();
        self.nodes.push(node);
    }

    fn barrier(&mut self, flags: Barrier, span: Span) {
        self.leave(Node::Barrier {
            local: flags.contains(Barrier::WORK_GROUP),
            storage: flags.contains(Barrier::STORAGE),
            line: self.source.line(span),
        });
    }
}
