//! Why a case was not run.

use crate::units::{Bytes, apart, seconds};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a case was not run. What programs and groups of a report can use is typed; its words are
/// made when it is shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Something needs more bytes than there are.
    TooLarge {
        /// What needs them.
        what: String,
        /// How many.
        bytes: u64,
        /// How many there are.
        limit: u64,
        /// Of what.
        of: Room,
    },
    /// Something takes longer than it may.
    OverBudget {
        /// What takes it.
        what: String,
        /// Seconds that it needs, at least or about.
        needed: f64,
        /// Seconds that there are.
        available: f64,
        /// The option with which a user allows more, where there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        option: Option<String>,
    },
    /// A launch takes far longer than the fastest variant's, and the fastest was looked for.
    Slow {
        /// Seconds of the launch.
        launch: f64,
        /// Seconds of the fastest variant's so far.
        fastest: f64,
    },
    /// Anything else, in words.
    #[serde(untagged)]
    Other(String),
}

/// Where bytes must fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Room {
    /// What a kernel may see of one buffer.
    Binding,
    /// The device's largest buffer.
    Buffer,
    /// What of the device's memory may be used.
    Device,
    /// The host's memory.
    Host,
}

impl Room {
    /// Whether `what` of so many bytes fits, where anything limits them.
    ///
    /// # Errors
    /// Where it does not.
    pub fn check(self, what: &str, bytes: u64, limit: Option<Bytes>) -> Result<(), Reason> {
        match limit {
            Some(Bytes(limit)) if bytes > limit => {
                Err(Reason::TooLarge { what: what.to_owned(), bytes, limit, of: self })
            }
            _ => Ok(()),
        }
    }

    /// How much of it there is, in a clause.
    fn has(self, limit: &str) -> String {
        match self {
            Self::Binding => format!("a kernel may see {limit} of one buffer"),
            Self::Buffer => format!("the device's largest buffer has {limit}"),
            Self::Device => format!("{limit} of the device's memory may be used"),
            Self::Host => format!("the host has {limit}"),
        }
    }
}

impl Reason {
    /// What sets it apart from other reasons, whatever the figures.
    pub fn sort(&self) -> String {
        match self {
            Self::TooLarge { of, .. } => format!("{of:?}"),
            Self::OverBudget { what, .. } => what.clone(),
            Self::Slow { .. } => "slow".to_owned(),
            Self::Other(text) => text.clone(),
        }
    }

    /// The same, of `place`.
    #[must_use]
    pub fn at(mut self, place: &str) -> Self {
        use Reason::{Other, OverBudget, TooLarge};
        if let TooLarge { what, .. } | OverBudget { what, .. } | Other(what) = &mut self {
            *what = format!("{place}: {what}");
        }
        self
    }
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        Self::Other(text)
    }
}

impl From<&str> for Reason {
    fn from(text: &str) -> Self {
        Self::Other(text.to_owned())
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { what, bytes, limit, of } => {
                let [bytes, limit] = apart(Bytes(*bytes), Bytes(*limit));
                write!(f, "{what} needs {bytes}, and {}", of.has(&limit))
            }
            Self::OverBudget { what, needed, available, option } => {
                write!(
                    f,
                    "{what} takes about {}, more than the {} that it may",
                    seconds(*needed),
                    seconds(*available)
                )?;
                option.iter().try_for_each(|option| write!(f, "; `{option}` allows more"))
            }
            Self::Slow { launch, fastest } => {
                let [launch, fastest] = [launch, fastest].map(|time| seconds(*time));
                write!(f, "one launch takes {launch}, the fastest variant {fastest}")
            }
            Self::Other(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fills_a_room_to_its_end_fits() {
        let check = |bytes, limit| Room::Buffer.check("it", bytes, limit);
        assert_eq!(check(100, Some(Bytes(100))), Ok(()));
        assert_eq!(check(u64::MAX, None), Ok(()));
        let Err(Reason::TooLarge { bytes: 101, limit: 100, of: Room::Buffer, .. }) =
            check(101, Some(Bytes(100)))
        else {
            panic!("a hundred and one bytes in a hundred")
        };
    }

    #[test]
    fn a_typed_reason_is_an_object_and_any_other_a_text() {
        let large =
            Reason::TooLarge { what: "`a`".into(), bytes: 2048, limit: 1024, of: Room::Buffer };
        let text = serde_json::to_string(&large).unwrap();
        assert_eq!(text, r#"{"too_large":{"what":"`a`","bytes":2048,"limit":1024,"of":"buffer"}}"#);
        assert_eq!(serde_json::from_str::<Reason>(&text).unwrap(), large);
        assert_eq!(
            large.to_string(),
            "`a` needs 2.00 KiB, and the device's largest buffer has 1.00 KiB"
        );
        let close = Reason::TooLarge {
            what: "`a`".into(),
            bytes: 4 << 30 | 4,
            limit: 4 << 30,
            of: Room::Host,
        };
        assert_eq!(close.to_string(), "`a` needs 4294967300 B, and the host has 4294967296 B");
        let other = Reason::from("no such memory");
        assert_eq!(serde_json::to_string(&other).unwrap(), "\"no such memory\"");
        assert_eq!(serde_json::from_str::<Reason>("\"no such memory\"").unwrap(), other);
    }

    #[test]
    fn a_budget_says_what_it_lacks() {
        let over = Reason::OverBudget {
            what: "one launch".into(),
            needed: 2.0,
            available: 0.5,
            option: None,
        };
        assert_eq!(
            over.to_string(),
            "one launch takes about 2.00 s, more than the 500 ms that it may"
        );
        let slow = Reason::Slow { launch: 2.0, fastest: 0.5 };
        assert_eq!(slow.to_string(), "one launch takes 2.00 s, the fastest variant 500 ms");
        assert_eq!((slow.sort().as_str(), slow.clone().at("here")), ("slow", slow));
    }

    #[test]
    fn every_reason_has_its_words_its_sort_and_its_place() {
        let too_large = |of| Reason::TooLarge { what: "it".into(), bytes: 2048, limit: 1024, of };
        for (of, sort, words) in [
            (Room::Binding, "Binding", "a kernel may see 1.00 KiB of one buffer"),
            (Room::Buffer, "Buffer", "the device's largest buffer has 1.00 KiB"),
            (Room::Device, "Device", "1.00 KiB of the device's memory may be used"),
            (Room::Host, "Host", "the host has 1.00 KiB"),
        ] {
            let reason = too_large(of);
            assert_eq!(reason.to_string(), format!("it needs 2.00 KiB, and {words}"));
            assert_eq!(reason.sort(), sort);
            assert_eq!(
                reason.at("here").to_string(),
                format!("here: it needs 2.00 KiB, and {words}")
            );
        }
        let option = Some("--budget".to_owned());
        let over = Reason::OverBudget { what: "it".into(), needed: 2.0, available: 1.0, option };
        let words =
            "it takes about 2.00 s, more than the 1.00 s that it may; `--budget` allows more";
        assert_eq!((over.to_string(), over.sort()), (words.to_owned(), "it".to_owned()));
        assert_eq!(over.at("here").to_string(), format!("here: {words}"));
        let other = Reason::from("why").at("here");
        assert_eq!((other.to_string(), other.sort()), ("here: why".into(), "here: why".into()));
    }
}
