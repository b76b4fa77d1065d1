//! Variables in memory: where they lie, and how they are loaded and stored.

use super::super::program::{
    Access, Atomic, Change, Given, Kind, Op, Output, Place, Row, Space, Step,
};
use super::frame::{Frame, Value};
use super::types::Leaf;
use super::{Lowering, layout, types};
use gpubench_core::error::Result;
use naga::{AddressSpace, Expression, GlobalVariable, Handle, Span, StorageAccess, TypeInner};

/// A word by itself.
const WORD: Leaf = Leaf { offset: 0, width: 1, narrow: false };

impl<'a> Lowering<'a> {
    /// Finds out which buffers may be written.
    pub(super) fn find_writable(&mut self) {
        for (_, variable) in self.source.module.global_variables.iter() {
            if let (AddressSpace::Storage { access }, Some(binding)) =
                (variable.space, &variable.binding)
            {
                let at = binding.binding as usize;
                let writable = &mut self.program.writable;
                writable.resize(writable.len().max(at + 1), false);
                writable[at] |= access.contains(StorageAccess::STORE);
            }
        }
        self.find_outputs();
    }

    /// What lies in each buffer that may be written. A file with several entry points may declare
    /// several variables at one binding, of which this one uses one.
    fn find_outputs(&mut self) {
        let module = &self.source.module;
        let used = self.source.info.get_entry_point(self.source.entry().0);
        for binding in 0..self.program.writable.len() as u32 {
            let here = |(_, variable): &(Handle<GlobalVariable>, &GlobalVariable)| {
                matches!(variable.space, AddressSpace::Storage { .. })
                    && variable.binding.is_some_and(|b| b.group == 0 && b.binding == binding)
            };
            let declared: Vec<_> = module.global_variables.iter().filter(here).collect();
            let chosen = declared.iter().find(|(handle, _)| !used[*handle].is_empty());
            let Some((handle, variable)) = chosen.or(declared.first()) else { continue };
            let line = self.source.line(module.global_variables.get_span(*handle));
            let name = variable.name.clone().unwrap_or_default();
            let ty = &module.types[variable.ty].inner;
            let whole = Output { line, name, ..Output::undeclared(binding) };
            self.program.outputs.extend(layout::outputs(&module.types, ty, whole));
        }
    }

    /// Where a variable outside of all functions lies.
    pub(super) fn global(&mut self, handle: Handle<GlobalVariable>) -> Result<Value> {
        let span = self.source.module.global_variables.get_span(handle);
        let variable = &self.source.module.global_variables[handle];
        let name = variable.name.clone().unwrap_or_default();
        let group = variable.binding.as_ref().map_or(0, |binding| binding.group);
        let binding = variable.binding.as_ref().map_or(0, |binding| binding.binding);
        let (space, offset) = match variable.space {
            _ if group != 0 => return Err(self.unknown("bindings outside of group 0", span)),
            AddressSpace::Storage { .. } => (Space::Buffer(binding), 0),
            // Places are counted in halves of a word.
            AddressSpace::Uniform => (Space::Params, self.source.uniform(binding) / 2),
            AddressSpace::WorkGroup => (Space::Local, self.local_offset(handle)?),
            AddressSpace::Private => {
                let placed = self.placed.iter().find(|(placed, _)| *placed == handle);
                (Space::Private, placed.map_or(0, |(_, first)| *first))
            }
            _ => return Err(self.unknown("variables of this kind", span)),
        };
        Ok(Value::Place(Place { space, offset, indices: vec![], name }))
    }

    /// The first half word of a variable in local memory: those that the kernel uses lie one after the
    /// other, each at a multiple of 16 bytes.
    fn local_offset(&mut self, handle: Handle<GlobalVariable>) -> Result<u32> {
        if let Some((_, offset)) = self.placed.iter().find(|(placed, _)| *placed == handle) {
            return Ok(*offset);
        }
        let module = &self.source.module;
        let ty = &module.types[module.global_variables[handle].ty].inner;
        let span = module.global_variables.get_span(handle);
        let (halves, _) =
            layout::size_align(&module.types, ty).map_err(|w| self.unknown(&w, span))?;
        let offset = 2 * self.program.local_words;
        self.program.local_words += halves.div_ceil(8) * 4;
        self.placed.push((handle, offset));
        Ok(offset)
    }

    /// Rows for the module's private variables that the kernel uses, as they begin.
    pub(super) fn private_variables(&mut self) -> Result<()> {
        let module = &self.source.module;
        let (index, _) = self.source.entry();
        let used = self.source.info.get_entry_point(index);
        for (handle, variable) in module.global_variables.iter() {
            if variable.space != AddressSpace::Private || used[handle].is_empty() {
                continue;
            }
            let count = types::scalars(&module.types, &module.types[variable.ty].inner)
                .map_err(|what| self.unknown(&what, module.global_variables.get_span(handle)))?;
            let first = self.rows(count);
            self.placed.push((handle, first));
            let from = match variable.init {
                Some(init) => self.global_constant(init)?,
                None => vec![self.constant(0); count as usize],
            };
            self.set_all(first, from);
        }
        Ok(())
    }

    /// What a pointer points to.
    pub(super) fn load(
        &mut self,
        frame: &mut Frame<'a>,
        pointer: Handle<Expression>,
        span: Span,
    ) -> Result<Value> {
        let (place, ty) = self.pointed(frame, pointer, span)?;
        let atomic = matches!(ty, TypeInner::Atomic(_));
        let parts = self.parts(&place, &ty, span)?;
        let rows = parts.iter().flat_map(|(part, leaf)| self.read(part, *leaf, atomic, span));
        Ok(Value::Rows(rows.collect()))
    }

    /// The scalars and vectors of a place, each with its own.
    fn parts(&self, place: &Place, ty: &TypeInner, span: Span) -> Result<Vec<(Place, Leaf)>> {
        let leaves = types::leaves(&self.source.module.types, ty)
            .map_err(|what| self.unknown(&what, span))?;
        let mut scalars = 0;
        let part = |leaf: Leaf| {
            let mut part = place.clone();
            part.offset += if place.space == Space::Private { scalars } else { leaf.offset };
            scalars += leaf.width;
            (part, leaf)
        };
        Ok(leaves.into_iter().map(part).collect())
    }

    /// The scalars of a place.
    fn read(&mut self, place: &Place, leaf: Leaf, atomic: bool, span: Span) -> Vec<Row> {
        let scalars = 0..leaf.width;
        match place.space {
            Space::Private if place.indices.is_empty() => {
                scalars.map(|i| self.alu(Op::Copy, [place.offset + i; 3])).collect()
            }
            Space::Params if place.indices.is_empty() && !leaf.narrow => {
                scalars.map(|i| self.given(Given::Param(place.offset / 2 + i))).collect()
            }
            _ => {
                let first = self.fetch(place, leaf, atomic, span);
                (first..first + leaf.width).collect()
            }
        }
    }

    /// The first of the rows that a place is read into.
    pub(super) fn fetch(&mut self, place: &Place, leaf: Leaf, atomic: bool, span: Span) -> Row {
        let to = self.rows(leaf.width);
        let access = self.access(place, leaf, Kind::Read, atomic, span);
        self.piece.steps.push(Step::Load { to, access });
        self.end_at_global(place);
        to
    }

    pub(super) fn store(
        &mut self,
        frame: &mut Frame<'a>,
        pointer: Handle<Expression>,
        value: Handle<Expression>,
        span: Span,
    ) -> Result<()> {
        let rows = self.rows_of(frame, value)?;
        let (place, ty) = self.pointed(frame, pointer, span)?;
        let atomic = matches!(ty, TypeInner::Atomic(_));
        if place.space == Space::Private && place.indices.is_empty() {
            self.set_all(place.offset, rows);
            return Ok(());
        }
        let mut rows = rows.into_iter();
        for (part, leaf) in self.parts(&place, &ty, span)? {
            let mut from = [0; 4];
            from.iter_mut()
                .zip(rows.by_ref().take(leaf.width as usize))
                .for_each(|(to, row)| *to = row);
            let access = self.access(&part, leaf, Kind::Write, atomic, span);
            self.piece.steps.push(Step::Store { from, access });
            self.end_at_global(&part);
        }
        Ok(())
    }

    /// An atomic change; the row is what the place held before.
    pub(super) fn change(
        &mut self,
        frame: &mut Frame<'a>,
        pointer: Handle<Expression>,
        function: Atomic,
        [value, compare]: [Row; 2],
        span: Span,
    ) -> Result<Row> {
        let (place, _) = self.pointed(frame, pointer, span)?;
        let to = self.row();
        let access = self.access(&place, WORD, Kind::Atomic, true, span);
        let change = Change { function, value, compare, to };
        self.piece.steps.push(Step::Atomic { change, access });
        self.end_at_global(&place);
        Ok(to)
    }

    fn pointed(
        &mut self,
        frame: &mut Frame<'a>,
        pointer: Handle<Expression>,
        span: Span,
    ) -> Result<(Place, TypeInner)> {
        let value = self.value(frame, pointer)?;
        let ty = types::pointee(&self.source.module.types, frame.ty(pointer));
        match (value, ty) {
            (Value::Place(place), Some(ty)) => Ok((place, ty)),
            _ => Err(self.unknown("this pointer", span)),
        }
    }

    /// Places in memory are counted in halves of a word until here, where it is known what is there.
    fn access(&mut self, place: &Place, leaf: Leaf, kind: Kind, atomic: bool, span: Span) -> u32 {
        let line = self.source.line(span);
        let mut place = place.clone();
        let narrow = leaf.narrow && place.space != Space::Private;
        if !narrow && place.space != Space::Private {
            place.offset /= 2;
            place.indices.iter_mut().for_each(|index| index.stride /= 2);
        }
        let width = leaf.width;
        self.program.accesses.push(Access { place, width, narrow, kind, atomic, line });
        self.program.accesses.len() as u32 - 1
    }

    fn end_at_global(&mut self, place: &Place) {
        if matches!(place.space, Space::Buffer(_)) {
            self.close();
        }
    }

    /// How many elements an array has that is as long as its buffer.
    pub(super) fn length(
        &mut self,
        frame: &mut Frame<'a>,
        array: Handle<Expression>,
        span: Span,
    ) -> Result<Row> {
        let (place, ty) = self.pointed(frame, array, span)?;
        let types = &self.source.module.types;
        let (stride, _) = layout::elements(types, &ty).map_err(|what| self.unknown(&what, span))?;
        match place.space {
            Space::Buffer(buffer) => {
                Ok(self.given(Given::Length { buffer, offset: place.offset, stride }))
            }
            _ => Err(self.unknown("arrayLength of this", span)),
        }
    }
}
