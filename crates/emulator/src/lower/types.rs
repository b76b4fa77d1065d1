//! How types lie in rows and in memory.

use super::super::program::Output;
use naga::{ArraySize, Handle, Scalar, ScalarKind, Type, TypeInner, UniqueArena};

/// Most scalars of one value or private variable.
const MAX_SCALARS: usize = 4096;

/// A scalar or vector within a type: `offset` in words of memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Leaf {
    pub(super) offset: u32,
    pub(super) width: u32,
}

/// Whether rows can hold it.
pub(super) fn scalar(scalar: Scalar) -> Result<ScalarKind, String> {
    match (scalar.kind, scalar.width) {
        (ScalarKind::Bool, _) => Ok(ScalarKind::Bool),
        (kind @ (ScalarKind::Float | ScalarKind::Sint | ScalarKind::Uint), 4) => Ok(kind),
        (kind, width) => Err(format!("{kind:?} numbers of {} bits", 8 * width).to_lowercase()),
    }
}

/// The scalars and vectors of a type, in order.
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
    match ty {
        TypeInner::Scalar(s) | TypeInner::Atomic(s) => {
            scalar(*s)?;
            found.push(Leaf { offset, width: 1 });
        }
        TypeInner::Vector { size, scalar: s } => {
            scalar(*s)?;
            found.push(Leaf { offset, width: *size as u32 });
        }
        TypeInner::Array { base, size: ArraySize::Constant(count), stride } => {
            for i in 0..count.get() {
                collect(types, &types[*base].inner, offset + i * stride / 4, found)?;
            }
        }
        TypeInner::Struct { members, .. } => {
            for member in members {
                collect(types, &types[member.ty].inner, offset + member.offset / 4, found)?;
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

/// Where element or member `index` begins, in scalars.
pub(super) fn scalar_offset(
    types: &UniqueArena<Type>,
    ty: &TypeInner,
    index: u32,
) -> Result<u32, String> {
    match ty {
        TypeInner::Vector { .. } => Ok(index),
        TypeInner::Array { base, .. } => Ok(index * scalars(types, &types[*base].inner)?),
        TypeInner::Struct { members, .. } => members
            .iter()
            .take(index as usize)
            .map(|member| scalars(types, &types[member.ty].inner))
            .sum(),
        other => Err(named(other)),
    }
}

/// The scalar kind of a value that is a scalar or vector.
pub(super) fn kind(ty: &TypeInner) -> Result<ScalarKind, String> {
    match ty {
        TypeInner::Scalar(s) | TypeInner::Vector { scalar: s, .. } | TypeInner::Atomic(s) => {
            scalar(*s)
        }
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

/// Words from one element to the next in memory, and how many there are where that is fixed.
pub(super) fn elements(ty: &TypeInner) -> Result<(u32, Option<u32>), String> {
    match ty {
        TypeInner::Vector { size, .. } => Ok((1, Some(*size as u32))),
        TypeInner::Array { size: ArraySize::Constant(n), stride, .. } => {
            Ok((stride / 4, Some(n.get())))
        }
        TypeInner::Array { size: ArraySize::Dynamic, stride, .. } => Ok((stride / 4, None)),
        other => Err(named(other)),
    }
}

/// Bytes of a type of fixed size.
pub(super) fn bytes(module: &naga::Module, ty: Handle<Type>) -> u32 {
    module.types[ty].inner.size(module.to_ctx())
}

/// The arrays and members of a buffer of type `ty`, which `whole` describes as words. A part that
/// is not known to the emulator counts as words without gaps.
pub(super) fn outputs(types: &UniqueArena<Type>, ty: &TypeInner, whole: Output) -> Vec<Output> {
    let words = |ty: &TypeInner| -> Option<Vec<u32>> {
        let leaves = leaves(types, ty).ok()?;
        Some(leaves.iter().flat_map(|l| l.offset..l.offset + l.width).collect())
    };
    match ty {
        TypeInner::Struct { members, .. } => members
            .iter()
            .flat_map(|member| {
                let field = member.name.as_deref().unwrap_or_default();
                let name = format!("{}.{field}", whole.name);
                let offset = whole.offset + member.offset / 4;
                outputs(types, &types[member.ty].inner, Output { name, offset, ..whole.clone() })
            })
            .collect(),
        TypeInner::Array { base, .. } => match (elements(ty), words(&types[*base].inner)) {
            (Ok((stride, count)), Some(words)) => vec![Output { stride, count, words, ..whole }],
            _ => vec![whole],
        },
        ty => match words(ty) {
            Some(words) => vec![Output { count: Some(1), words, ..whole }],
            None => vec![whole],
        },
    }
}

/// What a type that is not known is called.
fn named(ty: &TypeInner) -> String {
    match ty {
        TypeInner::Matrix { .. } => "matrices".into(),
        TypeInner::CooperativeMatrix { .. } => "cooperative matrices".into(),
        TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. } => "pointers as values".into(),
        TypeInner::Array { .. } => "arrays without a fixed size as values".into(),
        TypeInner::Image { .. } => "textures".into(),
        TypeInner::Sampler { .. } => "samplers".into(),
        TypeInner::BindingArray { .. } => "binding arrays".into(),
        TypeInner::AccelerationStructure { .. } | TypeInner::RayQuery { .. } => {
            "ray tracing".into()
        }
        other => format!("{other:?}"),
    }
}
