//! Atomic changes of memory.

use super::super::program::{Atomic, Op, Row};
use super::Lowering;
use super::frame::Frame;
use gpubench_core::error::Result;
use naga::{AtomicFunction, Expression, Handle, ScalarKind, Span};

impl<'a> Lowering<'a> {
    /// Changes a word; the rows of the result: what it held, and for a comparison, whether it was
    /// exchanged.
    pub(super) fn atomic(
        &mut self,
        frame: &mut Frame<'a>,
        pointer: Handle<Expression>,
        function: &AtomicFunction,
        value: Handle<Expression>,
        span: Span,
    ) -> Result<Vec<Row>> {
        let kind = self.kind(frame, value, span)?;
        if kind == ScalarKind::Float {
            return Err(self.unknown("`atomic<f32>`", span));
        }
        let row = self.rows_of(frame, value)?[0];
        let AtomicFunction::Exchange { compare: Some(compare) } = function else {
            let function = simple(function, kind == ScalarKind::Sint);
            return Ok(vec![self.change(frame, pointer, function, [row; 2], span)?]);
        };
        let compare = self.rows_of(frame, *compare)?[0];
        let old = self.change(frame, pointer, Atomic::CompareExchange, [row, compare], span)?;
        Ok(vec![old, self.alu(Op::Equal, [old, compare, compare])])
    }
}

fn simple(function: &AtomicFunction, signed: bool) -> Atomic {
    match (function, signed) {
        (AtomicFunction::Add, _) => Atomic::Add,
        (AtomicFunction::Subtract, _) => Atomic::Subtract,
        (AtomicFunction::And, _) => Atomic::And,
        (AtomicFunction::InclusiveOr, _) => Atomic::Or,
        (AtomicFunction::ExclusiveOr, _) => Atomic::Xor,
        (AtomicFunction::Min, true) => Atomic::SMin,
        (AtomicFunction::Min, false) => Atomic::UMin,
        (AtomicFunction::Max, true) => Atomic::SMax,
        (AtomicFunction::Max, false) => Atomic::UMax,
        (AtomicFunction::Exchange { .. }, _) => Atomic::Exchange,
    }
}
