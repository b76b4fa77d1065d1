//! What kinds of instructions there are, as far as devices price them apart.

use serde::{Deserialize, Serialize};

/// A class of instructions. One instruction works on one scalar of each work-item: a vector of
/// four costs four.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// `f32` addition and subtraction.
    FloatAdd,
    /// `f32` multiplication.
    FloatMul,
    /// Fused multiply-add.
    FloatFma,
    /// `f32` division and remainder.
    FloatDiv,
    /// Square root and its inverse.
    FloatSqrt,
    /// Exponentials and powers.
    FloatExp,
    /// Logarithms.
    FloatLog,
    /// Sine, cosine, tangent.
    FloatTrigonometry,
    /// `f32` minimum, maximum, negation, absolute value, sign and rounding.
    FloatMinMax,
    /// Integer addition, subtraction, negation.
    IntAdd,
    /// Integer multiplication.
    IntMul,
    /// Integer division and remainder.
    IntDiv,
    /// Shifts.
    Shift,
    /// Bitwise and logical operations.
    Logic,
    /// Comparisons, selections, and the minimum and maximum of integers.
    Compare,
    /// Conversions between integers and `f32`.
    Convert,
    /// A dynamic array index becomes part of an address: one multiply-add.
    Address,
    /// A branch.
    Branch,
    /// Reads of global memory.
    GlobalRead,
    /// Writes to global memory.
    GlobalWrite,
    /// Reads of local memory.
    LocalRead,
    /// Writes to local memory.
    LocalWrite,
    /// Atomic operations on either memory.
    Atomic,
    /// Accesses to private arrays by an index known only at run time.
    Private,
    /// Reads of the parameter block by an index known only at run time; others cost nothing.
    ParamRead,
    /// Barriers.
    Barrier,
}

impl Class {
    /// All classes, in the order in which they are shown.
    pub const ALL: [Self; 26] = [
        Self::FloatAdd,
        Self::FloatMul,
        Self::FloatFma,
        Self::FloatDiv,
        Self::FloatSqrt,
        Self::FloatExp,
        Self::FloatLog,
        Self::FloatTrigonometry,
        Self::FloatMinMax,
        Self::IntAdd,
        Self::IntMul,
        Self::IntDiv,
        Self::Shift,
        Self::Logic,
        Self::Compare,
        Self::Convert,
        Self::Address,
        Self::Branch,
        Self::GlobalRead,
        Self::GlobalWrite,
        Self::LocalRead,
        Self::LocalWrite,
        Self::Atomic,
        Self::Private,
        Self::ParamRead,
        Self::Barrier,
    ];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::FloatAdd => "f32 add",
            Self::FloatMul => "f32 mul",
            Self::FloatFma => "f32 fma",
            Self::FloatDiv => "f32 div",
            Self::FloatSqrt => "f32 sqrt",
            Self::FloatExp => "f32 exp",
            Self::FloatLog => "f32 log",
            Self::FloatTrigonometry => "f32 sin, cos",
            Self::FloatMinMax => "f32 min, max",
            Self::IntAdd => "int add",
            Self::IntMul => "int mul",
            Self::IntDiv => "int div",
            Self::Shift => "shift",
            Self::Logic => "logic",
            Self::Compare => "compare, select",
            Self::Convert => "convert",
            Self::Address => "address",
            Self::Branch => "branch",
            Self::GlobalRead => "global read",
            Self::GlobalWrite => "global write",
            Self::LocalRead => "local read",
            Self::LocalWrite => "local write",
            Self::Atomic => "atomic",
            Self::Private => "private array",
            Self::ParamRead => "parameter read",
            Self::Barrier => "barrier",
        }
    }
}
