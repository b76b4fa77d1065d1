//! What kinds of instructions there are: what emulation counts, profiles price and simulated
//! devices describe.

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

    /// The classes that a device prices by itself, which profiles and descriptions name: those that
    /// work on values alone, the first of [`Self::ALL`].
    pub fn priced() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|class| class.is_priced())
    }

    /// Whether it works on values alone.
    pub fn is_priced(self) -> bool {
        self <= Self::Convert
    }

    /// As suites, descriptions and profiles spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::FloatAdd => "float_add",
            Self::FloatMul => "float_mul",
            Self::FloatFma => "float_fma",
            Self::FloatDiv => "float_div",
            Self::FloatSqrt => "float_sqrt",
            Self::FloatExp => "float_exp",
            Self::FloatLog => "float_log",
            Self::FloatTrigonometry => "float_trigonometry",
            Self::FloatMinMax => "float_min_max",
            Self::IntAdd => "int_add",
            Self::IntMul => "int_mul",
            Self::IntDiv => "int_div",
            Self::Shift => "shift",
            Self::Logic => "logic",
            Self::Compare => "compare",
            Self::Convert => "convert",
            Self::Address => "address",
            Self::Branch => "branch",
            Self::GlobalRead => "global_read",
            Self::GlobalWrite => "global_write",
            Self::LocalRead => "local_read",
            Self::LocalWrite => "local_write",
            Self::Atomic => "atomic",
            Self::Private => "private",
            Self::ParamRead => "param_read",
            Self::Barrier => "barrier",
        }
    }

    /// In words.
    pub fn label(self) -> &'static str {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_files_and_sixteen_are_priced() {
        for class in Class::ALL {
            assert_eq!(serde_json::to_string(&class).unwrap(), format!("\"{}\"", class.name()));
        }
        assert_eq!(Class::priced().count(), 16);
    }

    #[test]
    fn each_has_words_of_its_own() {
        let labels: std::collections::BTreeSet<_> =
            Class::ALL.iter().map(|class| class.label()).collect();
        assert_eq!(labels.len(), Class::ALL.len());
        assert_eq!(Class::FloatTrigonometry.label(), "f32 sin, cos");
        assert_eq!(
            (Class::priced().last(), Class::Address.is_priced()),
            (Some(Class::Convert), false)
        );
    }
}
