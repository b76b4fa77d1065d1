//! How types lie in memory, counted in halves of a word, since `f16` takes one. Truth values, which
//! no buffer holds, take a word each.

use super::super::program::Output;
use super::types::{Leaf, is_half, leaves, named};
use naga::{ArraySize, Scalar, ScalarKind, StructMember, Type, TypeInner, UniqueArena, VectorSize};

type Types = UniqueArena<Type>;

/// Halves of a scalar.
pub(super) fn scalar_halves(scalar: Scalar) -> u32 {
    if is_half(scalar) { 1 } else { 2 }
}

/// Halves from one column of a matrix to the next.
pub(super) fn column_stride(rows: VectorSize, scalar: Scalar) -> u32 {
    scalar_halves(scalar) * if rows == VectorSize::Bi { 2 } else { 4 }
}

/// Halves of a type of fixed size, and the number of which its place is a multiple.
pub(super) fn size_align(types: &Types, ty: &TypeInner) -> Result<(u32, u32), String> {
    Ok(match ty {
        TypeInner::Scalar(s) | TypeInner::Atomic(s) => (scalar_halves(*s), scalar_halves(*s)),
        TypeInner::Vector { size, scalar } => {
            (scalar_halves(*scalar) * *size as u32, column_stride(*size, *scalar))
        }
        TypeInner::Matrix { columns, rows, scalar } => {
            let stride = column_stride(*rows, *scalar);
            (stride * *columns as u32, stride)
        }
        TypeInner::Array { base, size: ArraySize::Constant(count), stride } => {
            let base = &types[*base].inner;
            let (_, align) = size_align(types, base)?;
            let size = array_stride(types, base, *stride)?.checked_mul(count.get());
            (size.ok_or("values of more than 4 GiB")?, align)
        }
        TypeInner::Struct { members, span } => {
            let mut align = 1;
            for member in members {
                align = align.max(size_align(types, &types[member.ty].inner)?.1);
            }
            let own = match members.last() {
                Some(last) if holds_truth(types, ty) => {
                    let last_size = size_align(types, &types[last.ty].inner)?.0;
                    let offset = member_offset(types, members, members.len() as u32 - 1)?;
                    (offset + last_size).next_multiple_of(align)
                }
                _ => span / 2,
            };
            (own, align)
        }
        other => return Err(named(other)),
    })
}

/// Whether a type has truth values in it: then naga's layout, in which they take a byte, is not
/// used.
fn holds_truth(types: &Types, ty: &TypeInner) -> bool {
    match ty {
        TypeInner::Scalar(s) | TypeInner::Vector { scalar: s, .. } => s.kind == ScalarKind::Bool,
        TypeInner::Array { base, .. } => holds_truth(types, &types[*base].inner),
        TypeInner::Struct { members, .. } => {
            members.iter().any(|member| holds_truth(types, &types[member.ty].inner))
        }
        _ => false,
    }
}

/// Halves from one element of an array of `base` to the next, which naga puts `bytes` apart.
pub(super) fn array_stride(types: &Types, base: &TypeInner, bytes: u32) -> Result<u32, String> {
    if !holds_truth(types, base) {
        return Ok(bytes / 2);
    }
    let (size, align) = size_align(types, base)?;
    Ok(size.next_multiple_of(align))
}

/// Halves before member `index` of a struct.
pub(super) fn member_offset(
    types: &Types,
    members: &[StructMember],
    index: u32,
) -> Result<u32, String> {
    let inner = |member: &StructMember| &types[member.ty].inner;
    if !members.iter().any(|member| holds_truth(types, inner(member))) {
        return Ok(members[index as usize].offset / 2);
    }
    let mut offset = 0;
    for (i, member) in (0..).zip(members) {
        let (size, align) = size_align(types, inner(member))?;
        offset = u32::next_multiple_of(offset, align);
        if i == index {
            break;
        }
        offset += size;
    }
    Ok(offset)
}

/// Halves from one element to the next in memory, and how many there are where that is fixed.
pub(super) fn elements(types: &Types, ty: &TypeInner) -> Result<(u32, Option<u32>), String> {
    match ty {
        TypeInner::Vector { size, scalar } => Ok((scalar_halves(*scalar), Some(*size as u32))),
        TypeInner::Matrix { columns, rows, scalar } => {
            Ok((column_stride(*rows, *scalar), Some(*columns as u32)))
        }
        TypeInner::Array { base, size, stride } => {
            let stride = array_stride(types, &types[*base].inner, *stride)?;
            match size {
                ArraySize::Constant(count) => Ok((stride, Some(count.get()))),
                ArraySize::Dynamic => Ok((stride, None)),
                ArraySize::Pending(_) => Err(named(ty)),
            }
        }
        other => Err(named(other)),
    }
}

/// The arrays and members of a buffer of type `ty`, which `whole` describes as words. A part that
/// is not known to the emulator counts as words without gaps.
pub(super) fn outputs(types: &Types, ty: &TypeInner, whole: Output) -> Vec<Output> {
    let halves = |ty: &TypeInner| -> Option<Vec<u32>> {
        let of = |leaf: &Leaf| {
            let each = if leaf.narrow { 1 } else { 2 };
            leaf.offset..leaf.offset + each * leaf.width
        };
        Some(leaves(types, ty).ok()?.iter().flat_map(of).collect())
    };
    match ty {
        TypeInner::Struct { members, .. } => members
            .iter()
            .flat_map(|member| {
                let field = member.name.as_deref().unwrap_or_default();
                let name = format!("{}.{field}", whole.name);
                let offset = whole.offset + member.offset / 2;
                outputs(types, &types[member.ty].inner, Output { name, offset, ..whole.clone() })
            })
            .collect(),
        TypeInner::Array { base, .. } => match (elements(types, ty), halves(&types[*base].inner)) {
            (Ok((stride, count)), Some(halves)) => {
                vec![Output { stride, count, halves, ..whole }]
            }
            _ => vec![whole],
        },
        ty => match halves(ty) {
            Some(halves) => vec![Output { count: Some(1), halves, ..whole }],
            None => vec![whole],
        },
    }
}
