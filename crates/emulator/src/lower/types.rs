//! How types lie in rows: what scalars a value has.

use super::layout::{array_stride, column_stride, member_offset, scalar_halves};
use naga::{ArraySize, Scalar, ScalarKind, Type, TypeInner, UniqueArena};

/// Most scalars of one value or private variable.
const MAX_SCALARS: usize = 4096;

/// A scalar or vector within a type: `offset` in halves of a word of memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Leaf {
    pub(super) offset: u32,
    pub(super) width: u32,
    /// Whether each scalar takes half a word.
    pub(super) narrow: bool,
}

/// Whether it is an `f16`.
pub(super) fn is_half(scalar: Scalar) -> bool {
    scalar.kind == ScalarKind::Float && scalar.width == 2
}

/// Whether rows can hold it. An `f16` is held as the `f32` of its value.
pub(super) fn scalar(scalar: Scalar) -> Result<ScalarKind, String> {
    match (scalar.kind, scalar.width) {
        (ScalarKind::Bool, _) => Ok(ScalarKind::Bool),
        (kind @ (ScalarKind::Float | ScalarKind::Sint | ScalarKind::Uint), 4) => Ok(kind),
        (ScalarKind::Float, 2) => Ok(ScalarKind::Float),
        _ => Err(format!("`{}`", spelled(scalar))),
    }
}

/// A scalar type in WGSL.
fn spelled(scalar: Scalar) -> String {
    let kind = match scalar.kind {
        ScalarKind::Sint => "i",
        ScalarKind::Uint => "u",
        ScalarKind::Float => "f",
        ScalarKind::Bool => return "bool".into(),
        ScalarKind::AbstractInt | ScalarKind::AbstractFloat => return "abstract numbers".into(),
    };
    format!("{kind}{}", 8 * scalar.width)
}

/// The scalars and vectors of a type, in order; of a matrix, its columns.
pub(super) fn leaves(types: &UniqueArena<Type>, ty: &TypeInner) -> Result<Vec<Leaf>, String> {
    let mut found = vec![];
    collect(types, ty, 0, &mut found)?;
    Ok(found)
}

fn collect(
    types: &UniqueArena<Type>,
    ty: &TypeInner,
    offset: u32,
    found: &mut Vec<Leaf>,
) -> Result<(), String> {
    if found.len() >= MAX_SCALARS {
        return Err(format!("values of more than {MAX_SCALARS} scalars"));
    }
    let leaf = |s: Scalar, offset: u32, width: u32| {
        scalar(s).map(|_| Leaf { offset, width, narrow: scalar_halves(s) == 1 })
    };
    match ty {
        TypeInner::Scalar(s) | TypeInner::Atomic(s) => found.push(leaf(*s, offset, 1)?),
        TypeInner::Vector { size, scalar } => found.push(leaf(*scalar, offset, *size as u32)?),
        TypeInner::Matrix { columns, rows, scalar } => {
            for column in 0..*columns as u32 {
                let offset = offset + column * column_stride(*rows, *scalar);
                found.push(leaf(*scalar, offset, *rows as u32)?);
            }
        }
        TypeInner::Array { base, size: ArraySize::Constant(count), stride } => {
            let stride = array_stride(types, &types[*base].inner, *stride)?;
            for i in 0..count.get() {
                collect(types, &types[*base].inner, offset + i * stride, found)?;
            }
        }
        TypeInner::Struct { members, .. } => {
            for (i, member) in (0..).zip(members) {
                let offset = offset + member_offset(types, members, i)?;
                collect(types, &types[member.ty].inner, offset, found)?;
            }
        }
        other => return Err(named(other)),
    }
    Ok(())
}

/// How many scalars a value of a type has.
pub(super) fn scalars(types: &UniqueArena<Type>, ty: &TypeInner) -> Result<u32, String> {
    Ok(leaves(types, ty)?.iter().map(|leaf| leaf.width).sum())
}

/// Scalars of the part `index` of a value.
pub(super) fn part_scalars(
    types: &UniqueArena<Type>,
    ty: &TypeInner,
    index: u32,
) -> Result<u32, String> {
    match ty {
        TypeInner::Vector { .. } => Ok(1),
        TypeInner::Matrix { rows, .. } => Ok(*rows as u32),
        TypeInner::Array { base, .. } => scalars(types, &types[*base].inner),
        TypeInner::Struct { members, .. } => {
            scalars(types, &types[members[index as usize].ty].inner)
        }
        _ => scalars(types, ty),
    }
}

/// Where element or member `index` begins, in scalars.
pub(super) fn scalar_offset(
    types: &UniqueArena<Type>,
    ty: &TypeInner,
    index: u32,
) -> Result<u32, String> {
    match ty {
        TypeInner::Vector { .. } | TypeInner::Matrix { .. } | TypeInner::Array { .. } => {
            Ok(index * part_scalars(types, ty, 0)?)
        }
        TypeInner::Struct { members, .. } => members
            .iter()
            .take(index as usize)
            .map(|member| scalars(types, &types[member.ty].inner))
            .sum(),
        other => Err(named(other)),
    }
}

/// The scalar of a value that is made of equal ones.
pub(super) fn scalar_of(ty: &TypeInner) -> Result<Scalar, String> {
    match ty {
        TypeInner::Scalar(s)
        | TypeInner::Vector { scalar: s, .. }
        | TypeInner::Matrix { scalar: s, .. }
        | TypeInner::Atomic(s) => Ok(*s),
        other => Err(named(other)),
    }
}

/// What a pointer of this type points to.
pub(super) fn pointee(types: &UniqueArena<Type>, pointer: &TypeInner) -> Option<TypeInner> {
    match *pointer {
        TypeInner::Pointer { base, .. } => Some(types[base].inner.clone()),
        TypeInner::ValuePointer { size: Some(size), scalar, .. } => {
            Some(TypeInner::Vector { size, scalar })
        }
        TypeInner::ValuePointer { size: None, scalar, .. } => Some(TypeInner::Scalar(scalar)),
        _ => None,
    }
}

/// What a type that is not known is called.
pub(super) fn named(ty: &TypeInner) -> String {
    match ty {
        TypeInner::CooperativeMatrix { .. } => "cooperative matrices (`coop_mat…`)".into(),
        TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. } => {
            "pointers as values (`ptr<…>`)".into()
        }
        TypeInner::Array { .. } => "arrays without a fixed size as values".into(),
        TypeInner::Image { .. } => "textures (`texture_…`)".into(),
        TypeInner::Sampler { .. } => "samplers (`sampler`)".into(),
        TypeInner::BindingArray { .. } => "`binding_array`".into(),
        TypeInner::AccelerationStructure { .. } | TypeInner::RayQuery { .. } => {
            "ray tracing (`ray_query`)".into()
        }
        TypeInner::Scalar(_)
        | TypeInner::Vector { .. }
        | TypeInner::Matrix { .. }
        | TypeInner::Atomic(_)
        | TypeInner::Struct { .. } => "this type here".into(),
    }
}
