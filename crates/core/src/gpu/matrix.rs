//! The products that matrix units do.

use super::{Element, Language, Scalar};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What comes before the shape in a name.
const PREFIX: &str = "matrix_";
/// The sizes of matrices that WGSL has, each with its spelling.
const IN_WGSL: [(u32, &str); 2] = [(8, "coop_mat8x8"), (16, "coop_mat16x16")];

/// A product that a subgroup's matrix unit adds to a sum: C += A·B, with A of m × k numbers and B of k × n.
/// As text `matrix_16x16x16_f16_f32`: m, n and k, the type of A and B, and that of C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MatrixProduct {
    /// Rows of A and C, columns of B and C, and columns of A.
    pub shape: [u32; 3],
    /// The type of A's and B's numbers.
    pub factor: Scalar,
    /// The type of C's.
    pub sum: Scalar,
}

impl MatrixProduct {
    /// Whether its factors or its sums are such numbers.
    pub fn of(self, scalar: Scalar) -> bool {
        [self.factor, self.sum].contains(&scalar)
    }

    /// Its sizes by name: of a constant `M`, `M_ROWS`, `M_COLUMNS` and `M_DEPTH`.
    pub fn sizes(self, name: &str) -> [(String, u32); 3] {
        let [rows, columns, depth] = self.shape;
        [("ROWS", rows), ("COLUMNS", columns), ("DEPTH", depth)]
            .map(|(suffix, size)| (format!("{name}_{suffix}"), size))
    }

    /// What a constant of this product gives a kernel, by name: `NAME_A`, `NAME_B` and `NAME_C`, the types of the
    /// matrices; `NAME_FACTOR` and `NAME_SUM`, those of their numbers; and `NAME_ROWS`.
    ///
    /// # Errors
    /// `Unsupported` where the language has no such matrices.
    pub fn spelled(self, name: &str, language: Language) -> Result<Vec<(String, String)>> {
        let types = self.types(language).ok_or_else(|| {
            Error::Unsupported(format!("{} has no matrices for `{self}`", language.spelled()))
        })?;
        let all = types.into_iter().chain([("ROWS", format!("{}u", self.shape[0]))]);
        Ok(all.map(|(suffix, value)| (format!("{name}_{suffix}"), value)).collect())
    }

    fn types(self, language: Language) -> Option<[(&'static str, String); 5]> {
        let [rows, columns, depth] = self.shape;
        let floats = self.factor.is_float() && self.sum.is_float();
        if language != Language::Wgsl || [columns, depth] != [rows; 2] || !floats {
            return None;
        }
        let (_, matrix) = IN_WGSL.into_iter().find(|(size, _)| *size == rows)?;
        let scalar = |of| Element::scalar(of).spelled(language);
        let (factor, sum) = (scalar(self.factor)?, scalar(self.sum)?);
        Some([
            ("A", format!("{matrix}<{factor},A>")),
            ("B", format!("{matrix}<{factor},B>")),
            ("C", format!("{matrix}<{sum},C>")),
            ("FACTOR", factor),
            ("SUM", sum),
        ])
    }
}

impl fmt::Display for MatrixProduct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [m, n, k] = self.shape;
        write!(f, "{PREFIX}{m}x{n}x{k}_{}_{}", self.factor.name(), self.sum.name())
    }
}

impl From<MatrixProduct> for String {
    fn from(product: MatrixProduct) -> Self {
        product.to_string()
    }
}

impl TryFrom<String> for MatrixProduct {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let read = || {
            let mut parts = text.strip_prefix(PREFIX)?.split('_');
            let sizes: Option<Vec<u32>> =
                parts.next()?.split('x').map(|size| size.parse().ok()).collect();
            let shape: [u32; 3] = sizes?.try_into().ok()?;
            let (factor, sum) = (parts.next()?, parts.next()?);
            let product =
                Self { shape, factor: Scalar::from_name(factor)?, sum: Scalar::from_name(sum)? };
            // So that each has one spelling.
            (product.to_string() == text && !shape.contains(&0)).then_some(product)
        };
        read().ok_or_else(|| {
            format!(
                "`{text}` is no product of matrices: `matrix_16x16x16_f16_f32` is one of 16 x 16 times 16 x 16 numbers in \
                 f16, added up in f32"
            )
        })
    }
}

/// Whether a text is meant to name a product of matrices.
pub fn names_matrix_product(text: &str) -> bool {
    text.starts_with(PREFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(text: &str) -> Result<MatrixProduct, String> {
        text.to_owned().try_into()
    }

    #[test]
    fn a_name_says_shape_and_types() {
        let mixed = product("matrix_16x8x32_i8_i32").unwrap();
        assert_eq!((mixed.shape, mixed.factor, mixed.sum), ([16, 8, 32], Scalar::I8, Scalar::I32));
        assert_eq!(mixed.to_string(), "matrix_16x8x32_i8_i32");
        let sizes = mixed.sizes("M").map(|(name, size)| format!("{name}={size}"));
        assert_eq!(sizes, ["M_ROWS=16", "M_COLUMNS=8", "M_DEPTH=32"]);
        for wrong in [
            "matrix_16x16_f16_f32",
            "matrix_16x16x0_f16_f32",
            "matrix_016x16x16_f16_f32",
            "matrix_16x16x16_f16",
            "matrix_16x16x16_f16_f32_f32",
            "matrix_16x16x16_f8_f32",
            "16x16x16_f16_f32",
        ] {
            let why = product(wrong).unwrap_err();
            assert!(why.starts_with(&format!("`{wrong}` is no product of matrices")), "{why}");
        }
    }

    #[test]
    fn a_kernel_gets_types_and_rows() {
        let given = product("matrix_8x8x8_f16_f32").unwrap().spelled("M", Language::Wgsl).unwrap();
        let given: Vec<_> = given.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(
            given.join(" "),
            "M_A=coop_mat8x8<f16,A> M_B=coop_mat8x8<f16,B> M_C=coop_mat8x8<f32,C> M_FACTOR=f16 M_SUM=f32 M_ROWS=8u"
        );
        let lacks = |text: &str, language| product(text).unwrap().spelled("M", language).is_err();
        assert!(lacks("matrix_8x8x8_f16_f32", Language::Opencl));
        for text in ["matrix_16x8x16_f16_f32", "matrix_32x32x32_f16_f32", "matrix_8x8x8_i8_i32"] {
            assert!(lacks(text, Language::Wgsl), "{text}");
        }
    }
}
