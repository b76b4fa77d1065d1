//! Where control goes: branches, loops, switches and calls.

use super::frame::{Frame, Value};
use super::{Lowering, types};
use crate::program::{Node, Op, Row};
use gpubench_core::error::Result;
use naga::{Block, Expression, Handle, Span, Statement, SwitchValue};

impl<'a> Lowering<'a> {
    pub(super) fn branching(
        &mut self,
        frame: &mut Frame<'a>,
        condition: Handle<Expression>,
        [accept, reject]: [&'a Block; 2],
        span: Span,
    ) -> Result<()> {
        let row = self.rows_of(frame, condition)?[0];
        if let Some(known) = self.known(row) {
            return self.block(frame, if known != 0 { accept } else { reject });
        }
        if self.short_circuit(frame, row, accept, reject)? {
            return Ok(());
        }
        let accept = self.nested(|s| s.block(frame, accept))?;
        let reject = self.nested(|s| s.block(frame, reject))?;
        let branch = self.branch(span);
        self.nodes.push(Node::If { condition: row, accept, reject, branch });
        Ok(())
    }

    /// naga spells `a && b` as a branch. Where `b` reads no memory it is no branch on any GPU.
    fn short_circuit(
        &mut self,
        frame: &mut Frame<'a>,
        condition: Row,
        accept: &'a Block,
        reject: &'a Block,
    ) -> Result<bool> {
        let Some(variable) = frame.short_circuit(accept, reject) else { return Ok(false) };
        let [.., Statement::Store { value: accepted, .. }] = &accept[..] else { return Ok(false) };
        let [Statement::Store { value: rejected, .. }] = &reject[..] else { return Ok(false) };
        for (statement, span) in accept.span_iter().take(accept.len() - 1) {
            self.statement(frame, statement, *span)?;
        }
        let (accepted, rejected) =
            (self.rows_of(frame, *accepted)?[0], self.rows_of(frame, *rejected)?[0]);
        let chosen = match self.known(rejected) {
            Some(0) => self.alu(Op::And, [condition, accepted, accepted]),
            _ => self.alu(Op::Select, [rejected, accepted, condition]),
        };
        let to = frame.variables[variable.index()];
        self.set(to, chosen);
        Ok(true)
    }

    pub(super) fn looping(
        &mut self,
        frame: &mut Frame<'a>,
        body: &'a Block,
        continuing: &'a Block,
        break_if: Option<Handle<Expression>>,
        span: Span,
    ) -> Result<()> {
        let body = self.nested(|s| s.block(frame, body))?;
        let mut condition = None;
        let continuing = self.nested(|s| {
            s.block(frame, continuing)?;
            if let Some(expression) = break_if {
                condition = Some(s.rows_of(frame, expression)?[0]);
            }
            Ok(())
        })?;
        let break_if = condition.map(|row| (row, self.branch(span)));
        let line = self.source.line(span);
        self.nodes.push(Node::Loop { body, continuing, break_if, line });
        Ok(())
    }

    pub(super) fn switching(
        &mut self,
        frame: &mut Frame<'a>,
        selector: Handle<Expression>,
        cases: &'a [naga::SwitchCase],
        span: Span,
    ) -> Result<()> {
        let selector = self.rows_of(frame, selector)?[0];
        let (mut lowered, mut values, mut default) = (vec![], vec![], false);
        for case in cases {
            match case.value {
                SwitchValue::I32(value) => values.push(value as u32),
                SwitchValue::U32(value) => values.push(value),
                SwitchValue::Default => default = true,
            }
            if case.fall_through {
                if !case.body.is_empty() {
                    return Err(self.unknown("a case that falls through", span));
                }
                continue;
            }
            let body = self.nested(|s| s.block(frame, &case.body))?;
            let values = std::mem::take(&mut values);
            lowered.push((if std::mem::take(&mut default) { vec![] } else { values }, body));
        }
        self.close();
        let branch = self.branch(span);
        self.nodes.push(Node::Switch { selector, cases: lowered, branch });
        Ok(())
    }

    pub(super) fn call(
        &mut self,
        frame: &mut Frame<'a>,
        function: Handle<naga::Function>,
        arguments: &[Handle<Expression>],
        result: Option<Handle<Expression>>,
    ) -> Result<()> {
        let arguments = arguments
            .iter()
            .map(|&argument| self.value(frame, argument))
            .collect::<Result<Vec<_>>>()?;
        let (called, info) = (&self.source.module.functions[function], &self.source.info[function]);
        let count = match &called.result {
            Some(result) => {
                let ty = &self.source.module.types[result.ty].inner;
                types::scalars(&self.source.module.types, ty).map_err(|what| {
                    self.unknown(&what, self.source.module.functions.get_span(function))
                })?
            }
            None => 0,
        };
        let first = self.rows(count);
        let rows: Vec<Row> = (first..first + count).collect();
        let mut inner = Frame::new(&self.source.module, called, info, arguments, rows.clone());
        let body = self.nested(|s| s.function(&mut inner))?;
        self.inline(body);
        if let Some(result) = result {
            frame.put(result, Value::Rows(rows));
        }
        Ok(())
    }

    /// A body that returns at its very end only needs no frame of its own.
    fn inline(&mut self, mut body: Vec<Node>) {
        if matches!(body.last(), Some(Node::Return)) {
            body.pop();
        }
        if body.iter().any(returns) {
            self.nodes.push(Node::Call(body));
        } else {
            self.nodes.append(&mut body);
        }
    }
}

/// Whether control may leave the function from within.
fn returns(node: &Node) -> bool {
    match node {
        Node::Return => true,
        Node::If { accept, reject, .. } => accept.iter().chain(reject).any(returns),
        Node::Loop { body, continuing, .. } => body.iter().chain(continuing).any(returns),
        Node::Switch { cases, .. } => cases.iter().flat_map(|(_, body)| body).any(returns),
        Node::Run(_) | Node::Call(_) | Node::Break | Node::Continue | Node::Barrier { .. } => false,
    }
}
