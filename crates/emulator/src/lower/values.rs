//! Expressions become rows or places.

use super::super::program::{Given, Index, Op, Place, Row, Space};
use super::frame::{Frame, Value};
use super::{Lowering, types};
use gpubench_core::error::Result;
use naga::{Binding, BuiltIn, Expression, Function, Handle, Literal, ScalarKind, Span, TypeInner};

impl<'a> Lowering<'a> {
    /// What an expression stands for: found where it was emitted, or made here where it needs no
    /// instruction.
    pub(super) fn value(&mut self, frame: &mut Frame<'a>, h: Handle<Expression>) -> Result<Value> {
        match frame.get(h) {
            Some(value) => Ok(value.clone()),
            None => self.evaluate(frame, h),
        }
    }

    /// The rows of an expression that is no pointer.
    pub(super) fn rows_of(
        &mut self,
        frame: &mut Frame<'a>,
        handle: Handle<Expression>,
    ) -> Result<Vec<Row>> {
        match self.value(frame, handle)? {
            Value::Rows(rows) => Ok(rows),
            Value::Place(_) => {
                let span = frame.function.expressions.get_span(handle);
                Err(self.unknown("pointers as values", span))
            }
        }
    }

    pub(super) fn evaluate(
        &mut self,
        frame: &mut Frame<'a>,
        handle: Handle<Expression>,
    ) -> Result<Value> {
        let span = frame.function.expressions.get_span(handle);
        let expression = &frame.function.expressions[handle];
        let rows = match expression {
            Expression::FunctionArgument(i) => return Ok(frame.arguments[*i as usize].clone()),
            Expression::LocalVariable(variable) => {
                let name = frame.function.local_variables[*variable].name.clone();
                let offset = frame.variables[variable.index()];
                let name = name.unwrap_or_default();
                let place = Place { space: Space::Private, offset, indices: vec![], name };
                return Ok(Value::Place(place));
            }
            Expression::GlobalVariable(variable) => return self.global(*variable),
            Expression::AccessIndex { base, index } => {
                return self.member(frame, *base, *index, span);
            }
            Expression::Access { base, index } => {
                return self.element(frame, *base, *index, span);
            }
            Expression::Load { pointer } => return self.load(frame, *pointer, span),
            Expression::ArrayLength(array) => vec![self.length(frame, *array, span)?],
            Expression::Literal(literal) => vec![self.literal(literal, span)?],
            Expression::Constant(constant) => {
                let init = self.source.module.constants[*constant].init;
                self.global_constant(init)?
            }
            Expression::ZeroValue(ty) => self.zero(*ty, span)?,
            Expression::Compose { components, .. } => {
                let mut rows = vec![];
                for component in components {
                    rows.extend(self.rows_of(frame, *component)?);
                }
                rows
            }
            Expression::Splat { size, value } => {
                vec![self.rows_of(frame, *value)?[0]; *size as usize]
            }
            Expression::Swizzle { size, vector, pattern } => {
                let rows = self.rows_of(frame, *vector)?;
                pattern.iter().take(*size as usize).map(|c| rows[*c as usize]).collect()
            }
            _ => self.compute(frame, expression, span)?,
        };
        Ok(Value::Rows(rows))
    }

    /// Expressions that need instructions.
    fn compute(
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
                let (left, right) = (self.rows_of(frame, left)?, self.rows_of(frame, right)?);
                Ok(self.binary(op, kind, &left, &right))
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
            Expression::Math { fun, arg, arg1, arg2, arg3: None } => {
                let kind = self.kind(frame, arg, span)?;
                let arguments = [Some(arg), arg1, arg2]
                    .into_iter()
                    .flatten()
                    .map(|argument| self.rows_of(frame, argument))
                    .collect::<Result<Vec<_>>>()?;
                self.math(fun, kind, &arguments, span)
            }
            Expression::As { expr, kind, convert } => {
                let from = self.kind(frame, expr, span)?;
                let rows = self.rows_of(frame, expr)?;
                match convert {
                    None => Ok(rows),
                    Some(_) => self.convert(from, kind, &rows, span),
                }
            }
            Expression::Override(_) => Err(self.unknown("overrides", span)),
            ref other => Err(self.unknown(expression_name(other), span)),
        }
    }

    fn kind(&self, frame: &Frame, h: Handle<Expression>, span: Span) -> Result<ScalarKind> {
        frame.kind(h).map_err(|what| self.unknown(&what, span))
    }

    fn literal(&mut self, literal: &Literal, span: Span) -> Result<Row> {
        let bits = match *literal {
            Literal::F32(x) => x.to_bits(),
            Literal::U32(x) => x,
            Literal::I32(x) => x as u32,
            Literal::Bool(x) => u32::from(x),
            other => return Err(self.unknown(&format!("the literal {other:?}"), span)),
        };
        Ok(self.constant(bits))
    }

    fn zero(&mut self, ty: Handle<naga::Type>, span: Span) -> Result<Vec<Row>> {
        let types = &self.source.module.types;
        let count = types::scalars(types, &types[ty].inner).map_err(|w| self.unknown(&w, span))?;
        Ok(vec![self.constant(0); count as usize])
    }

    /// An expression outside of all functions.
    pub(super) fn global_constant(&mut self, handle: Handle<Expression>) -> Result<Vec<Row>> {
        let expressions = &self.source.module.global_expressions;
        let span = expressions.get_span(handle);
        match &expressions[handle] {
            Expression::Literal(literal) => Ok(vec![self.literal(literal, span)?]),
            Expression::Constant(constant) => {
                self.global_constant(self.source.module.constants[*constant].init)
            }
            Expression::ZeroValue(ty) => self.zero(*ty, span),
            Expression::Compose { components, .. } => {
                let mut rows = vec![];
                for component in components {
                    rows.extend(self.global_constant(*component)?);
                }
                Ok(rows)
            }
            Expression::Splat { size, value } => {
                Ok(vec![self.global_constant(*value)?[0]; *size as usize])
            }
            other => Err(self.unknown(expression_name(other), span)),
        }
    }

    /// A member, element or component at a fixed position.
    fn member(
        &mut self,
        frame: &mut Frame<'a>,
        base: Handle<Expression>,
        index: u32,
        span: Span,
    ) -> Result<Value> {
        let source = self.source;
        let wrong = |what: String| source.unknown(&what, span);
        let all = &source.module.types;
        let value = self.value(frame, base)?;
        let ty = frame.ty(base);
        let mut place = match value {
            Value::Place(place) => place,
            Value::Rows(rows) => {
                let first = types::scalar_offset(all, ty, index).map_err(wrong)? as usize;
                let count = self.part_scalars(ty, index).map_err(wrong)? as usize;
                return Ok(Value::Rows(rows[first..first + count].to_vec()));
            }
        };
        let pointee = types::pointee(all, ty).ok_or_else(|| wrong("this pointer".into()))?;
        if place.space == Space::Private {
            place.offset += types::scalar_offset(all, &pointee, index).map_err(wrong)?;
        } else if let TypeInner::Struct { members, .. } = &pointee {
            place.offset += members[index as usize].offset / 4;
        } else {
            match types::elements(&pointee).map_err(wrong)? {
                (stride, Some(_)) => place.offset += index * stride,
                (stride, None) => {
                    let row = self.constant(index);
                    place.indices.push(Index { row, stride, count: None });
                }
            }
        }
        Ok(Value::Place(place))
    }

    /// Scalars of the part `index` of a value.
    fn part_scalars(&self, ty: &TypeInner, index: u32) -> Result<u32, String> {
        let all = &self.source.module.types;
        match ty {
            TypeInner::Vector { .. } => Ok(1),
            TypeInner::Array { base, .. } => types::scalars(all, &all[*base].inner),
            TypeInner::Struct { members, .. } => {
                types::scalars(all, &all[members[index as usize].ty].inner)
            }
            _ => types::scalars(all, ty),
        }
    }

    /// An element or component at a position known at run time.
    fn element(
        &mut self,
        frame: &mut Frame<'a>,
        base: Handle<Expression>,
        index: Handle<Expression>,
        span: Span,
    ) -> Result<Value> {
        let source = self.source;
        let wrong = |what: String| source.unknown(&what, span);
        let row = self.rows_of(frame, index)?[0];
        if let Some(known) = self.known(row)
            && self.is_fixed(frame, base, known)
        {
            return self.member(frame, base, known, span);
        }
        let value = self.value(frame, base)?;
        let all = &source.module.types;
        let (mut place, ty, is_value) = match value {
            Value::Place(place) => {
                let pointee = types::pointee(all, frame.ty(base));
                (place, pointee.ok_or_else(|| wrong("this pointer".into()))?, false)
            }
            Value::Rows(rows) => (self.spilled(&rows), frame.ty(base).clone(), true),
        };
        let (stride, count) = types::elements(&ty).map_err(wrong)?;
        let each = match place.space {
            Space::Private => self.part_scalars(&ty, 0).map_err(wrong)?,
            _ => stride,
        };
        place.indices.push(Index { row, stride: each, count });
        if !is_value {
            return Ok(Value::Place(place));
        }
        let width = self.part_scalars(&ty, 0).map_err(wrong)?;
        let to = self.fetch(&place, width, false, span);
        Ok(Value::Rows((to..to + width).collect()))
    }

    /// Whether `index` lies in an array of fixed size.
    fn is_fixed(&self, frame: &Frame, base: Handle<Expression>, index: u32) -> bool {
        let ty = frame.ty(base);
        let ty = types::pointee(&self.source.module.types, ty).unwrap_or_else(|| ty.clone());
        matches!(types::elements(&ty), Ok((_, Some(count))) if index < count)
    }

    /// Rows side by side that hold a value, so that it can be indexed.
    fn spilled(&mut self, rows: &[Row]) -> Place {
        let copies: Vec<Row> =
            rows.iter().map(|&row| self.alu(Op::Copy, [row, row, row])).collect();
        let offset = copies.first().copied().unwrap_or_default();
        Place { space: Space::Private, offset, indices: vec![], name: "a value".into() }
    }

    /// What the entry point is called with.
    pub(super) fn built_ins(&mut self, function: &'a Function) -> Result<Vec<Value>> {
        let mut values = vec![];
        for argument in &function.arguments {
            let rows = match (&argument.binding, &self.source.module.types[argument.ty].inner) {
                (Some(binding), _) => self.built_in(binding)?,
                (None, TypeInner::Struct { members, .. }) => {
                    let mut rows = vec![];
                    for binding in members.iter().filter_map(|m| m.binding.as_ref()) {
                        rows.extend(self.built_in(binding)?);
                    }
                    rows
                }
                (None, _) => return Err(self.unknown("this argument", Span::UNDEFINED)),
            };
            values.push(Value::Rows(rows));
        }
        Ok(values)
    }

    fn built_in(&mut self, binding: &Binding) -> Result<Vec<Row>> {
        let of: fn(u32) -> Given = match binding {
            Binding::BuiltIn(BuiltIn::GlobalInvocationId) => Given::GlobalId,
            Binding::BuiltIn(BuiltIn::LocalInvocationId) => Given::LocalId,
            Binding::BuiltIn(BuiltIn::WorkGroupId) => Given::GroupId,
            Binding::BuiltIn(BuiltIn::NumWorkGroups) => Given::Groups,
            Binding::BuiltIn(BuiltIn::LocalInvocationIndex) => {
                return Ok(vec![self.given(Given::LocalIndex)]);
            }
            other => {
                let what = format!("the argument {other:?}");
                return Err(self.unknown(&what, Span::UNDEFINED));
            }
        };
        Ok((0..3).map(|axis| self.given(of(axis))).collect())
    }
}

/// What an expression that is not known is called.
fn expression_name(expression: &Expression) -> &'static str {
    match expression {
        Expression::ImageSample { .. }
        | Expression::ImageLoad { .. }
        | Expression::ImageQuery { .. } => "textures",
        Expression::Derivative { .. } => "derivatives",
        Expression::Math { fun, .. } => math_name(*fun),
        Expression::CooperativeLoad { .. } | Expression::CooperativeMultiplyAdd { .. } => {
            "cooperative matrices"
        }
        _ => "this expression",
    }
}

fn math_name(function: naga::MathFunction) -> &'static str {
    match function {
        naga::MathFunction::InsertBits => "insertBits",
        _ => "this function of four arguments",
    }
}
