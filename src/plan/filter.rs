//! Which cases the user wants: by name, tag or size.

use crate::error::{Error, Result};
use crate::workload::CaseKey;

/// One condition; several must all hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// The workload's name contains the text, or a tag or the family equals it.
    Word(String),
    /// A size compares with a number: `n>=512`.
    Size {
        /// The size's name.
        name: String,
        /// How it must compare.
        how: Comparison,
        /// With what.
        value: i64,
    },
}

/// How a size must compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `=`
    Equal,
    /// `>=`
    AtLeast,
    /// `>`
    Greater,
}

/// Longer operators first, so that `<=` is not read as `<`.
const OPERATORS: [(&str, Comparison); 5] = [
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
    ("=", Comparison::Equal),
];

impl Filter {
    /// Reads `sepia`, `image` or `n>=512`.
    ///
    /// # Errors
    /// `Usage` when the number of a size condition is none.
    pub fn parse(text: &str) -> Result<Self> {
        let Some((operator, how)) = OPERATORS.into_iter().find(|(op, _)| text.contains(op)) else {
            return Ok(Self::Word(text.to_lowercase()));
        };
        let (name, value) = text.split_once(operator).unwrap_or((text, ""));
        match value.trim().parse() {
            Ok(value) => Ok(Self::Size { name: name.trim().to_owned(), how, value }),
            Err(_) => Err(Error::Usage(format!(
                "filter `{text}`: `{}` is no whole number (write a size condition like n>=512)",
                value.trim()
            ))),
        }
    }

    /// Whether a case is wanted.
    pub fn matches(&self, key: &CaseKey, tags: &[String], family: &str) -> bool {
        match self {
            Self::Word(word) => {
                key.workload.to_lowercase().contains(word)
                    || family == word
                    || tags.iter().any(|tag| tag.to_lowercase() == *word)
            }
            Self::Size { name, how, value } => {
                key.size.iter().filter(|(n, _)| n == name).any(|(_, size)| how.holds(*size, *value))
            }
        }
    }
}

impl Comparison {
    fn holds(self, size: i64, value: i64) -> bool {
        match self {
            Self::Less => size < value,
            Self::AtMost => size <= value,
            Self::Equal => size == value,
            Self::AtLeast => size >= value,
            Self::Greater => size > value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Measure;

    fn wanted(filter: &str) -> bool {
        let key = CaseKey {
            workload: "matmul_tiled/t8".into(),
            size: vec![("n".into(), 512)],
            measure: Measure::Kernel,
            host_memory: None,
        };
        Filter::parse(filter).unwrap().matches(&key, &["dense".into()], "compute")
    }

    #[test]
    fn by_name_tag_and_family() {
        assert!(wanted("matmul") && wanted("T8") && wanted("dense") && wanted("compute"));
        assert!(!wanted("sepia") && !wanted("dens"));
    }

    #[test]
    fn by_size() {
        assert!(wanted("n=512") && wanted("n<=512") && wanted("n > 256"));
        assert!(!wanted("n<512") && !wanted("m=512"));
    }

    #[test]
    fn a_size_must_be_a_number() {
        assert!(Filter::parse("n=big").is_err());
    }
}
