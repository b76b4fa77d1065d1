//! Expressions that need instructions.

use super::super::program::{Op, Row};
use super::frame::Frame;
use super::{Lowering, names};
use gpubench_core::error::Result;
use naga::{BinaryOperator, Expression, Handle, MathFunction, ScalarKind, Span};

impl<'a> Lowering<'a> {
    pub(super) fn compute(
        &mut self,
        frame: &mut Frame<'a>,
        expression: &'a Expression,
        span: Span,
    ) -> Result<Vec<Row>> {
        match *expression {
            Expression::Unary { op, expr } => {
                let kind = self.kind(frame, expr, span)?;
                let rows = self.rows_of(frame, expr)?;
                Ok(self.unary(op, kind, &rows))
            }
            Expression::Binary { op, left, right } => {
                let kind = self.kind(frame, left, span)?;
                let rows = (self.rows_of(frame, left)?, self.rows_of(frame, right)?);
                let product = match op {
                    BinaryOperator::Multiply => {
                        self.product(frame.ty(left), &rows.0, frame.ty(right), &rows.1)
                    }
                    _ => None,
                };
                Ok(product.unwrap_or_else(|| self.binary(op, kind, &rows.0, &rows.1)))
            }
            Expression::Select { condition, accept, reject } => {
                let condition = self.rows_of(frame, condition)?;
                let (yes, no) = (self.rows_of(frame, accept)?, self.rows_of(frame, reject)?);
                Ok(self.each(Op::Select, &[&no, &yes, &condition]))
            }
            Expression::Relational { fun, argument } => {
                let rows = self.rows_of(frame, argument)?;
                self.relational(fun, &rows, span)
            }
            Expression::Math { fun, arg, arg1, arg2, arg3 } => {
                self.function_call(frame, fun, [Some(arg), arg1, arg2, arg3], span)
            }
            Expression::As { expr, kind, convert } => {
                let from = self.kind(frame, expr, span)?;
                let rows = self.rows_of(frame, expr)?;
                match convert {
                    None => Ok(rows),
                    Some(_) => self.convert(from, kind, &rows, span),
                }
            }
            ref other => Err(self.unknown(names::expression(other), span)),
        }
    }

    fn function_call(
        &mut self,
        frame: &mut Frame<'a>,
        function: MathFunction,
        arguments: [Option<Handle<Expression>>; 4],
        span: Span,
    ) -> Result<Vec<Row>> {
        let handles: Vec<_> = arguments.into_iter().flatten().collect();
        let kind = self.kind(frame, handles[0], span)?;
        let rows = handles
            .iter()
            .map(|&argument| self.rows_of(frame, argument))
            .collect::<Result<Vec<_>>>()?;
        let all: Vec<&[Row]> = rows.iter().map(Vec::as_slice).collect();
        let computed = self
            .matrix_function(function, frame.ty(handles[0]), all[0])
            .or_else(|| self.math(function, kind, &all));
        computed.ok_or_else(|| self.unknown(&format!("the function {function:?}"), span))
    }

    /// The scalar kind of an expression.
    pub(super) fn kind(
        &self,
        frame: &Frame,
        h: Handle<Expression>,
        span: Span,
    ) -> Result<ScalarKind> {
        frame.kind(h).map_err(|what| self.unknown(&what, span))
    }
}
