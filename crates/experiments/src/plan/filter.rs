//! Which cases the user wants: by name, tag or size.

use gpubench_core::error::{Error, Result};
use gpubench_core::workload::CaseKey;

/// One condition; several must all hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// The workload's name contains the text, or a tag or the family equals it.
    Term(String),
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
    /// `Usage` when it is empty, or a size condition is none.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |why: String| {
            let operators = OPERATORS.map(|(operator, _)| operator).join(", ");
            let help = format!("a size condition is like n>=512, with one of {operators}");
            Error::Usage(format!("filter `{text}`: {why} ({help})"))
        };
        if text.trim().is_empty() {
            return Err(wrong("it is empty".into()));
        }
        let is_operator = |c| "<>=!".contains(c);
        let Some(at) = text.find(is_operator) else {
            return Ok(Self::Term(text.trim().to_lowercase()));
        };
        let (name, rest) = text.split_at(at);
        let value = rest.trim_start_matches(is_operator);
        let operator = &rest[..rest.len() - value.len()];
        let (name, value) = (name.trim(), value.trim());
        let known = OPERATORS.into_iter().find(|(known, _)| *known == operator);
        let (_, how) = known.ok_or_else(|| wrong(format!("`{operator}` is no operator")))?;
        if name.is_empty() {
            return Err(wrong(format!("no size stands before `{operator}`")));
        }
        match value.parse() {
            Ok(value) => Ok(Self::Size { name: name.to_owned(), how, value }),
            Err(_) => Err(wrong(format!("`{value}` is no whole number"))),
        }
    }

    /// Whether a case is wanted.
    pub fn matches(&self, key: &CaseKey, tags: &[String], family: &str) -> bool {
        match self {
            Self::Term(term) => {
                key.workload.to_lowercase().contains(term)
                    || family == term
                    || tags.iter().any(|tag| tag.to_lowercase() == *term)
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
    use gpubench_core::workload::Kind;

    fn wanted(filter: &str) -> bool {
        let key = CaseKey {
            workload: "matmul_tiled/t8".into(),
            size: vec![("n".into(), 512)],
            measure: Kind::KERNEL,
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
        assert!(Filter::parse("n=big").is_err() && Filter::parse("n>=").is_err());
    }

    #[test]
    fn what_is_no_condition_is_reported_with_the_operators_there_are() {
        for text in ["", "  ", "=5", "n!=5", "n=>5", "n==5", "n<>5", "!sepia"] {
            let error = Filter::parse(text).unwrap_err().to_string();
            assert!(error.contains("one of <=, >=, <, >, ="), "{text:?}: {error}");
        }
    }
}
