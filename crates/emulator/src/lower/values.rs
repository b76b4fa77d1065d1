//! Expressions become rows or places.

use super::super::program::{Given, Index, Op, Place, Row, Space};
use super::frame::{Frame, Value};
use super::types::Leaf;
use super::{Lowering, layout, names, types};
use gpubench_core::error::Result;
use naga::{Binding, BuiltIn, Expression, Function, Handle, Literal, Span, TypeInner};

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
            _ => {
                let rows = self.compute(frame, expression, span)?;
                if frame.is_half(handle) { self.each(Op::RoundHalf, &[&rows]) } else { rows }
            }
        };
        Ok(Value::Rows(rows))
    }

    fn literal(&mut self, literal: &Literal, span: Span) -> Result<Row> {
        let bits = match *literal {
            Literal::F32(x) => x.to_bits(),
            Literal::F16(x) => x.to_f32().to_bits(),
            Literal::U32(x) => x,
            Literal::I32(x) => x as u32,
            Literal::Bool(x) => u32::from(x),
            Literal::F64(_) => return Err(self.unknown("`f64`", span)),
            Literal::I64(_) => return Err(self.unknown("`i64`", span)),
            Literal::U64(_) => return Err(self.unknown("`u64`", span)),
            _ => return Err(self.unknown("this literal", span)),
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
            other => Err(self.unknown(names::expression(other), span)),
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
                let count = types::part_scalars(all, ty, index).map_err(wrong)? as usize;
                return Ok(Value::Rows(rows[first..first + count].to_vec()));
            }
        };
        let pointee = types::pointee(all, ty).ok_or_else(|| wrong("this pointer".into()))?;
        if place.space == Space::Private {
            place.offset += types::scalar_offset(all, &pointee, index).map_err(wrong)?;
        } else if let TypeInner::Struct { members, .. } = &pointee {
            place.offset += layout::member_offset(all, members, index).map_err(wrong)?;
        } else {
            match layout::elements(all, &pointee).map_err(wrong)? {
                (stride, Some(_)) => place.offset += index * stride,
                (stride, None) => {
                    let row = self.constant(index);
                    place.indices.push(Index { row, stride, count: None });
                }
            }
        }
        Ok(Value::Place(place))
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
        let (stride, count) = layout::elements(all, &ty).map_err(wrong)?;
        let each = match place.space {
            Space::Private => types::part_scalars(all, &ty, 0).map_err(wrong)?,
            _ => stride,
        };
        place.indices.push(Index { row, stride: each, count });
        if !is_value {
            return Ok(Value::Place(place));
        }
        let width = types::part_scalars(all, &ty, 0).map_err(wrong)?;
        let to = self.fetch(&place, Leaf { offset: 0, width, narrow: false }, false, span);
        Ok(Value::Rows((to..to + width).collect()))
    }

    /// Whether `index` lies in an array of fixed size.
    fn is_fixed(&self, frame: &Frame, base: Handle<Expression>, index: u32) -> bool {
        let ty = frame.ty(base);
        let all = &self.source.module.types;
        let ty = types::pointee(all, ty).unwrap_or_else(|| ty.clone());
        matches!(layout::elements(all, &ty), Ok((_, Some(count))) if index < count)
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
            Binding::BuiltIn(BuiltIn::SubgroupSize) => {
                return Ok(vec![self.given(Given::SubgroupSize)]);
            }
            Binding::BuiltIn(BuiltIn::SubgroupInvocationId) => {
                return Ok(vec![self.given(Given::SubgroupLane)]);
            }
            Binding::BuiltIn(BuiltIn::SubgroupId) => {
                return Ok(vec![self.given(Given::SubgroupId)]);
            }
            Binding::BuiltIn(BuiltIn::NumSubgroups) => {
                return Ok(vec![self.given(Given::Subgroups)]);
            }
            _ => return Err(self.unknown("this argument of the entry point", Span::UNDEFINED)),
        };
        Ok((0..3).map(|axis| self.given(of(axis))).collect())
    }
}
