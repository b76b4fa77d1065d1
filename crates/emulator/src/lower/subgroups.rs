//! What work-items of a subgroup make of each other's values.

use super::super::program::{Given, Op, Row, Step, SubgroupOp};
use super::frame::{Frame, Value};
use super::{Lowering, names};
use gpubench_core::error::Result;
use naga::{CollectiveOperation, Direction, Expression, GatherMode, Handle, ScalarKind};
use naga::{Span, Statement, SubgroupOperation};

impl<'a> Lowering<'a> {
    /// What is left of all statements.
    pub(super) fn subgroup_statement(
        &mut self,
        frame: &mut Frame<'a>,
        statement: &Statement,
        span: Span,
    ) -> Result<()> {
        match statement {
            Statement::SubgroupBallot { result, predicate } => {
                self.ballot(frame, *predicate, *result)
            }
            Statement::SubgroupGather { mode, argument, result } => {
                self.gather(frame, mode, *argument, *result)
            }
            Statement::SubgroupCollectiveOperation { op, collective_op, argument, result } => {
                self.collective(frame, (*op, *collective_op), *argument, *result, span)
            }
            other => Err(self.unknown(names::statement(other), span)),
        }
    }

    fn ballot(
        &mut self,
        frame: &mut Frame<'a>,
        predicate: Option<Handle<Expression>>,
        result: Handle<Expression>,
    ) -> Result<()> {
        let predicate = match predicate {
            Some(predicate) => self.rows_of(frame, predicate)?[0],
            None => self.constant(1),
        };
        let words = (0..4).map(|word| {
            let from = self.constant(32 * word);
            self.across(SubgroupOp::Ballot, predicate, from)
        });
        frame.put(result, Value::Rows(words.collect()));
        Ok(())
    }

    fn gather(
        &mut self,
        frame: &mut Frame<'a>,
        mode: &GatherMode,
        argument: Handle<Expression>,
        result: Handle<Expression>,
    ) -> Result<()> {
        let (op, other) = match *mode {
            GatherMode::BroadcastFirst => (SubgroupOp::First, self.given(Given::SubgroupLane)),
            GatherMode::Broadcast(h) | GatherMode::Shuffle(h) => {
                (SubgroupOp::At, self.rows_of(frame, h)?[0])
            }
            GatherMode::ShuffleDown(h) => (SubgroupOp::Down, self.rows_of(frame, h)?[0]),
            GatherMode::ShuffleUp(h) => (SubgroupOp::Up, self.rows_of(frame, h)?[0]),
            GatherMode::ShuffleXor(h) => (SubgroupOp::Xor, self.rows_of(frame, h)?[0]),
            GatherMode::QuadBroadcast(h) => (SubgroupOp::Quad, self.rows_of(frame, h)?[0]),
            GatherMode::QuadSwap(direction) => {
                let swapped = match direction {
                    Direction::X => 1,
                    Direction::Y => 2,
                    Direction::Diagonal => 3,
                };
                (SubgroupOp::Xor, self.constant(swapped))
            }
        };
        let rows = self.rows_of(frame, argument)?;
        let gathered = rows.into_iter().map(|row| self.across(op, row, other)).collect();
        frame.put(result, Value::Rows(gathered));
        Ok(())
    }

    fn collective(
        &mut self,
        frame: &mut Frame<'a>,
        (operation, how): (SubgroupOperation, CollectiveOperation),
        argument: Handle<Expression>,
        result: Handle<Expression>,
        span: Span,
    ) -> Result<()> {
        let kind = self.kind(frame, argument, span)?;
        let (op, neutral) = operator(operation, kind);
        let op = match how {
            CollectiveOperation::Reduce => SubgroupOp::Reduce(op, neutral),
            CollectiveOperation::InclusiveScan => SubgroupOp::Inclusive(op, neutral),
            CollectiveOperation::ExclusiveScan => SubgroupOp::Exclusive(op, neutral),
        };
        let rows = self.rows_of(frame, argument)?;
        let mut results: Vec<Row> = rows.into_iter().map(|row| self.across(op, row, row)).collect();
        if frame.is_half(argument) {
            results = self.each(Op::RoundHalf, &[&results]);
        }
        frame.put(result, Value::Rows(results));
        Ok(())
    }

    fn across(&mut self, op: SubgroupOp, value: Row, other: Row) -> Row {
        let to = self.row();
        self.piece.steps.push(Step::Subgroup { op, from: [value, other], to });
        to
    }
}

/// An operation, and the number that it changes nothing with.
fn operator(operation: SubgroupOperation, kind: ScalarKind) -> (Op, u32) {
    use ScalarKind::{Float, Sint};
    use SubgroupOperation as S;
    match (operation, kind) {
        (S::All, _) => (Op::And, 1),
        (S::Any | S::Or, _) => (Op::Or, 0),
        (S::And, _) => (Op::And, u32::MAX),
        (S::Xor, _) => (Op::Xor, 0),
        (S::Add, Float) => (Op::FAdd, 0),
        (S::Add, _) => (Op::IAdd, 0),
        (S::Mul, Float) => (Op::FMul, 1f32.to_bits()),
        (S::Mul, _) => (Op::IMul, 1),
        (S::Min, Float) => (Op::FMin, f32::INFINITY.to_bits()),
        (S::Min, Sint) => (Op::SMin, i32::MAX.cast_unsigned()),
        (S::Min, _) => (Op::UMin, u32::MAX),
        (S::Max, Float) => (Op::FMax, f32::NEG_INFINITY.to_bits()),
        (S::Max, Sint) => (Op::SMax, i32::MIN.cast_unsigned()),
        (S::Max, _) => (Op::UMax, 0),
    }
}
