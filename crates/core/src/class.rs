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

/// Every class, in the order in which they are shown: as suites, descriptions and profiles spell it, and in words.
const CLASSES: [(Class, &str, &str); 26] = [
    (Class::FloatAdd, "float_add", "f32 add"),
    (Class::FloatMul, "float_mul", "f32 mul"),
    (Class::FloatFma, "float_fma", "f32 fma"),
    (Class::FloatDiv, "float_div", "f32 div"),
    (Class::FloatSqrt, "float_sqrt", "f32 sqrt"),
    (Class::FloatExp, "float_exp", "f32 exp"),
    (Class::FloatLog, "float_log", "f32 log"),
    (Class::FloatTrigonometry, "float_trigonometry", "f32 sin, cos"),
    (Class::FloatMinMax, "float_min_max", "f32 min, max"),
    (Class::IntAdd, "int_add", "int add"),
    (Class::IntMul, "int_mul", "int mul"),
    (Class::IntDiv, "int_div", "int div"),
    (Class::Shift, "shift", "shift"),
    (Class::Logic, "logic", "logic"),
    (Class::Compare, "compare", "compare, select"),
    (Class::Convert, "convert", "convert"),
    (Class::Address, "address", "address"),
    (Class::Branch, "branch", "branch"),
    (Class::GlobalRead, "global_read", "global read"),
    (Class::GlobalWrite, "global_write", "global write"),
    (Class::LocalRead, "local_read", "local read"),
    (Class::LocalWrite, "local_write", "local write"),
    (Class::Atomic, "atomic", "atomic"),
    (Class::Private, "private", "private array"),
    (Class::ParamRead, "param_read", "parameter read"),
    (Class::Barrier, "barrier", "barrier"),
];

impl Class {
    /// All classes, in the order in which they are shown.
    pub const ALL: [Self; CLASSES.len()] = {
        let mut all = [Self::FloatAdd; CLASSES.len()];
        let mut i = 0;
        while i < all.len() {
            all[i] = CLASSES[i].0;
            assert!(all[i] as usize == i, "in the order of the declaration");
            i += 1;
        }
        all
    };

    /// The classes that a device prices by itself, which profiles and descriptions name: those that
    /// work on values alone, the first of [`Self::ALL`].
    pub fn priced() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|class| class.is_priced())
    }

    /// Whether it works on values alone.
    pub fn is_priced(self) -> bool {
        self <= Self::Convert
    }

    fn names(self) -> (&'static str, &'static str) {
        let (_, name, label) = CLASSES[self as usize];
        (name, label)
    }

    /// As suites, descriptions and profiles spell it.
    pub fn name(self) -> &'static str {
        self.names().0
    }

    /// In words.
    pub fn label(self) -> &'static str {
        self.names().1
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
