//! A search space: the parameters' names, and every variant that its constraints allow.

use std::collections::HashMap;

/// Why numbers are no search space.
#[derive(Clone, Debug, PartialEq)]
pub enum SpaceError {
    /// No variant at all.
    Empty,
    /// A variant has another number of values than there are parameters.
    Length {
        /// Its index.
        variant: usize,
    },
    /// A value is not finite.
    NotFinite {
        /// Its variant's index.
        variant: usize,
        /// Its parameter's index.
        parameter: usize,
    },
    /// Two variants are the same.
    Twice {
        /// The first one's index.
        first: usize,
        /// The second one's index.
        second: usize,
    },
}

/// All allowed variants of a kernel, each a value a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Space {
    names: Vec<String>,
    variants: Vec<Vec<f64>>,
}

impl Space {
    /// Of these parameters and variants.
    ///
    /// # Errors
    /// Where there is no variant, or one is malformed or given twice.
    pub fn new(names: Vec<String>, variants: Vec<Vec<f64>>) -> Result<Self, SpaceError> {
        if variants.is_empty() {
            return Err(SpaceError::Empty);
        }
        let mut seen = HashMap::new();
        for (index, values) in variants.iter().enumerate() {
            if values.len() != names.len() {
                return Err(SpaceError::Length { variant: index });
            }
            if let Some(parameter) = values.iter().position(|value| !value.is_finite()) {
                return Err(SpaceError::NotFinite { variant: index, parameter });
            }
            // 0 and -0 are one value.
            let key: Vec<u64> = values.iter().map(|value| (value + 0.0).to_bits()).collect();
            if let Some(first) = seen.insert(key, index) {
                return Err(SpaceError::Twice { first, second: index });
            }
        }
        Ok(Self { names, variants })
    }

    /// The parameters' names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The values of each variant, in the order of the names.
    pub fn variants(&self) -> &[Vec<f64>] {
        &self.variants
    }

    /// The number of variants.
    pub fn len(&self) -> usize {
        self.variants.len()
    }

    /// Never: a space has a variant.
    pub fn is_empty(&self) -> bool {
        self.variants.is_empty()
    }

    /// The values of a parameter, ascending, each once.
    pub fn values(&self, parameter: usize) -> Vec<f64> {
        let mut values: Vec<f64> = self.variants.iter().map(|one| one[parameter]).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    }

    /// A variant as people read it: `block_size_x=32 tile=2`.
    pub fn label(&self, variant: usize) -> String {
        let pairs = self.names.iter().zip(&self.variants[variant]);
        pairs.map(|(name, value)| format!("{name}={}", shown(*value))).collect::<Vec<_>>().join(" ")
    }
}

/// A value in full, with an exponent where it would have more than sixteen digits. The text is a label's alone; what
/// reports show of values comes from `core`, which this crate does without.
fn shown(value: f64) -> String {
    let text = format!("{value:?}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_variants_are_rejected_with_their_place() {
        let space = |variants: Vec<Vec<f64>>| Space::new(vec!["x".into(), "y".into()], variants);
        assert_eq!(space(vec![]), Err(SpaceError::Empty));
        assert_eq!(space(vec![vec![1.0]]), Err(SpaceError::Length { variant: 0 }));
        let nan = space(vec![vec![1.0, 2.0], vec![1.0, f64::NAN]]);
        assert_eq!(nan, Err(SpaceError::NotFinite { variant: 1, parameter: 1 }));
        let twice = space(vec![vec![1.0, 0.0], vec![2.0, 0.0], vec![1.0, -0.0]]);
        assert_eq!(twice, Err(SpaceError::Twice { first: 0, second: 2 }));
        let good = space(vec![vec![2.0, 0.5], vec![1.0, 0.5]]).unwrap();
        assert_eq!(good.values(0), [1.0, 2.0]);
        assert_eq!(good.values(1), [0.5]);
        assert_eq!(good.label(0), "x=2 y=0.5");
        let odd = Space::new(vec!["x".into()], vec![vec![1e300], vec![5e-324]]).unwrap();
        assert_eq!([odd.label(0), odd.label(1)], ["x=1e300", "x=5e-324"]);
    }
}
