//! Operators and functions become instructions, one a scalar.

use super::super::program::{Op, Row};
use super::Lowering;
use gpubench_core::error::Result;
use naga::{BinaryOperator, RelationalFunction, ScalarKind, Span, UnaryOperator};

impl Lowering<'_> {
    /// One instruction for each scalar; what has one scalar goes with every one of the others.
    pub(super) fn each(&mut self, op: Op, arguments: &[&[Row]]) -> Vec<Row> {
        let count = arguments.iter().map(|rows| rows.len()).max().unwrap_or(0);
        (0..count)
            .map(|i| {
                let scalar = |rows: &[Row]| rows[if rows.len() == 1 { 0 } else { i }];
                let mut from = [scalar(arguments[0]); 3];
                for (to, rows) in from.iter_mut().zip(arguments) {
                    *to = scalar(rows);
                }
                self.alu(op, from)
            })
            .collect()
    }

    pub(super) fn unary(&mut self, op: UnaryOperator, kind: ScalarKind, rows: &[Row]) -> Vec<Row> {
        let one = |s: &mut Self, bits: u32| [s.constant(bits)];
        match (op, kind) {
            (UnaryOperator::Negate, ScalarKind::Float) => self.each(Op::FNeg, &[rows]),
            (UnaryOperator::Negate, _) => self.each(Op::INeg, &[rows]),
            (UnaryOperator::LogicalNot, _) => {
                let one = one(self, 1);
                self.each(Op::Xor, &[rows, &one])
            }
            (UnaryOperator::BitwiseNot, _) => {
                let all = one(self, u32::MAX);
                self.each(Op::Xor, &[rows, &all])
            }
        }
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOperator,
        kind: ScalarKind,
        left: &[Row],
        right: &[Row],
    ) -> Vec<Row> {
        use BinaryOperator as B;
        let (op, swapped) = match op {
            B::Greater => (B::Less, true),
            B::GreaterEqual => (B::LessEqual, true),
            op => (op, false),
        };
        let (left, right) = if swapped { (right, left) } else { (left, right) };
        let by_kind = |float, signed, unsigned| match kind {
            ScalarKind::Float => float,
            ScalarKind::Sint => signed,
            _ => unsigned,
        };
        let op = match op {
            B::Add => by_kind(Op::FAdd, Op::IAdd, Op::IAdd),
            B::Subtract => by_kind(Op::FSub, Op::ISub, Op::ISub),
            B::Multiply => by_kind(Op::FMul, Op::IMul, Op::IMul),
            B::Divide => by_kind(Op::FDiv, Op::SDiv, Op::UDiv),
            B::Modulo => by_kind(Op::FRem, Op::SRem, Op::URem),
            B::Equal => by_kind(Op::FEqual, Op::Equal, Op::Equal),
            B::NotEqual => by_kind(Op::FNotEqual, Op::NotEqual, Op::NotEqual),
            B::Less | B::Greater => by_kind(Op::FLess, Op::SLess, Op::ULess),
            B::LessEqual | B::GreaterEqual => {
                by_kind(Op::FLessEqual, Op::SLessEqual, Op::ULessEqual)
            }
            B::And | B::LogicalAnd => Op::And,
            B::InclusiveOr | B::LogicalOr => Op::Or,
            B::ExclusiveOr => Op::Xor,
            B::ShiftLeft => Op::ShiftLeft,
            B::ShiftRight => by_kind(Op::ShiftRightU, Op::ShiftRightS, Op::ShiftRightU),
        };
        self.each(op, &[left, right])
    }

    pub(super) fn relational(
        &mut self,
        function: RelationalFunction,
        rows: &[Row],
        span: Span,
    ) -> Result<Vec<Row>> {
        let op = match function {
            RelationalFunction::All => Op::And,
            RelationalFunction::Any => Op::Or,
            _ => return Err(self.unknown("`isnan` and `isinf`", span)),
        };
        Ok(vec![self.reduce(op, rows)])
    }

    /// All scalars combined into one.
    pub(super) fn reduce(&mut self, op: Op, rows: &[Row]) -> Row {
        let mut result = rows[0];
        for &row in &rows[1..] {
            result = self.alu(op, [result, row, row]);
        }
        result
    }

    pub(super) fn convert(
        &mut self,
        from: ScalarKind,
        to: ScalarKind,
        rows: &[Row],
        span: Span,
    ) -> Result<Vec<Row>> {
        use ScalarKind::{Bool, Float, Sint, Uint};
        let op = match (from, to) {
            (Float, Uint) => Op::FToU,
            (Float, Sint) => Op::FToS,
            (Uint | Bool, Float) => Op::UToF,
            (Sint, Float) => Op::SToF,
            (Float, Bool) => {
                let zero = [self.constant(0)];
                return Ok(self.each(Op::FNotEqual, &[rows, &zero]));
            }
            (Uint | Sint, Bool) => {
                let zero = [self.constant(0)];
                return Ok(self.each(Op::NotEqual, &[rows, &zero]));
            }
            (Float, Float) | (Bool, Bool) | (Uint | Sint | Bool, Uint | Sint) => {
                return Ok(rows.to_vec());
            }
            _ => return Err(self.unknown("this conversion", span)),
        };
        Ok(self.each(op, &[rows]))
    }
}
