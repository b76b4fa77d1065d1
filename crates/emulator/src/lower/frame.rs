//! What is known of one call of a function while it is inlined.

use super::super::program::{Place, Row, Space};
use super::types;
use naga::valid::FunctionInfo;
use naga::{
    AddressSpace, Block, Expression, Function, Handle, Literal, LocalVariable, Module, ScalarKind,
    Statement, TypeInner,
};

/// What an expression stands for.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// Its scalars, in order.
    Rows(Vec<Row>),
    /// A pointer.
    Place(Place),
}

pub(super) struct Frame<'a> {
    module: &'a Module,
    pub(super) function: &'a Function,
    info: &'a FunctionInfo,
    values: Vec<Option<Value>>,
    pub(super) arguments: Vec<Value>,
    /// The first row of each variable.
    pub(super) variables: Vec<Row>,
    /// Where a returned value goes.
    pub(super) result: Vec<Row>,
}

impl<'a> Frame<'a> {
    pub(super) fn new(
        module: &'a Module,
        function: &'a Function,
        info: &'a FunctionInfo,
        arguments: Vec<Value>,
        result: Vec<Row>,
    ) -> Self {
        let values = vec![None; function.expressions.len()];
        Self { module, function, info, values, arguments, variables: vec![], result }
    }

    pub(super) fn put(&mut self, handle: Handle<Expression>, value: Value) {
        self.values[handle.index()] = Some(value);
    }

    pub(super) fn get(&self, handle: Handle<Expression>) -> Option<&Value> {
        self.values[handle.index()].as_ref()
    }

    /// The type of an expression.
    pub(super) fn ty(&self, handle: Handle<Expression>) -> &TypeInner {
        self.info[handle].ty.inner_with(&self.module.types)
    }

    /// Its scalar kind.
    pub(super) fn kind(&self, handle: Handle<Expression>) -> Result<ScalarKind, String> {
        types::scalar(types::scalar_of(self.ty(handle))?)
    }

    /// Whether it is made of `f16`.
    pub(super) fn is_half(&self, handle: Handle<Expression>) -> bool {
        types::scalar_of(self.ty(handle)).is_ok_and(types::is_half)
    }

    /// The truth value that both sides set last, where they do nothing else that could not as
    /// well be done by every work-item: this is how naga spells `a && b` and `a || b`.
    pub(super) fn short_circuit(
        &self,
        accept: &Block,
        reject: &Block,
    ) -> Option<Handle<LocalVariable>> {
        let [Statement::Store { pointer, value }] = &reject[..] else { return None };
        let variable = self.variable(*pointer)?;
        let literal = &self.function.expressions[*value];
        let [rest @ .., Statement::Store { pointer, .. }] = &accept[..] else { return None };
        (matches!(literal, Expression::Literal(Literal::Bool(_)))
            && self.variable(*pointer) == Some(variable)
            && rest.iter().all(|statement| self.is_pure(statement)))
        .then_some(variable)
    }

    fn variable(&self, pointer: Handle<Expression>) -> Option<Handle<LocalVariable>> {
        match self.function.expressions[pointer] {
            Expression::LocalVariable(variable) => Some(variable),
            _ => None,
        }
    }

    fn is_pure(&self, statement: &Statement) -> bool {
        match statement {
            Statement::Emit(range) => {
                range.clone().all(|handle| match &self.function.expressions[handle] {
                    Expression::Load { pointer } => self.costs_nothing(*pointer),
                    Expression::Access { .. } => false,
                    _ => true,
                })
            }
            Statement::If { accept, reject, .. } => self.short_circuit(accept, reject).is_some(),
            _ => false,
        }
    }

    /// Whether what `pointer` points to is in rows already.
    fn costs_nothing(&self, pointer: Handle<Expression>) -> bool {
        match self.get(pointer) {
            Some(Value::Place(place)) => {
                place.indices.is_empty() && matches!(place.space, Space::Private | Space::Params)
            }
            Some(Value::Rows(_)) => false,
            None => match self.function.expressions[pointer] {
                Expression::LocalVariable(_) => true,
                Expression::GlobalVariable(variable) => {
                    self.module.global_variables[variable].space == AddressSpace::Uniform
                }
                Expression::AccessIndex { base, .. } => self.costs_nothing(base),
                _ => false,
            },
        }
    }
}
