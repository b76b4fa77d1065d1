//! The file of a saved state, from which an iteration goes on where it was: a line that says what it
//! is, a line of JSON that says of what, the state, and SHA-256 over all of that.

use crate::hash::sha256;
use crate::text::printable;
use serde::{Deserialize, Serialize};

/// What the first line begins with; the version stands behind it.
const MAGIC: &str = "gpubench checkpoint ";
/// Version of the format; no other is read.
const VERSION: u32 = 1;
/// Characters that are shown of a name, at most.
const NAME: usize = 200;
/// Bytes of the checksum.
const CHECKSUM: usize = 32;

/// Of what a state is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointIdentity {
    /// The case's name, sizes included.
    pub case: String,
    /// Seed of its inputs.
    pub seed: u64,
    /// SHA-256 of the kernel in the variant that was run.
    pub kernel: String,
    /// SHA-256 of what the kernel was given: element types, fills, sizes, parameters and grids.
    pub given: String,
    /// Passes of the whole iteration.
    pub passes: u64,
    /// Names and bytes of the buffers that are the state, in order.
    pub buffers: Vec<(String, u64)>,
}

/// The state of an iteration after some of its passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointFile {
    /// Of what it is.
    pub of: CheckpointIdentity,
    /// Passes that are done.
    pub done: u64,
    /// The bytes of all its buffers.
    pub state: Vec<u8>,
}

/// Why a file is not gone on from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// It begins otherwise.
    #[error("it is no checkpoint of gpubench")]
    Foreign,
    /// Another gpubench wrote it.
    #[error("it is a checkpoint of version {0}, and version {VERSION} is read here")]
    Version(String),
    /// There is less of it than it says.
    #[error("it is cut short: {has} of {of} bytes")]
    Short {
        /// Its bytes.
        has: u64,
        /// What it should have.
        of: u64,
    },
    /// There is more of it than it says.
    #[error("it has {0} bytes behind its end")]
    Long(u64),
    /// The checksum is another one.
    #[error("it was altered or damaged: its checksum does not fit its contents")]
    Altered,
    /// The checksum fits, and yet what it says of itself makes no sense.
    #[error("its second line does not say of what it is: {0}")]
    Header(String),
    /// It was saved by other code.
    #[error("it is of another kernel (SHA-256 {found:.12}… and not {wanted:.12}…)")]
    Kernel {
        /// The kernel that saved it.
        found: String,
        /// The kernel that was to go on.
        wanted: String,
    },
    /// The same kernel was given something else.
    #[error(
        "it is of other parameters, grids, fills or element types (SHA-256 {found:.12}… and not {wanted:.12}…)"
    )]
    Given {
        /// What the kernel was given that saved it.
        found: String,
        /// What the kernel was to be given that was to go on.
        wanted: String,
    },
    /// It is of another case, or of another seed.
    #[error("it is of {found} and not of {wanted}")]
    Case {
        /// What it is of.
        found: String,
        /// What was to go on.
        wanted: String,
    },
}

/// The second line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    of: CheckpointIdentity,
    done: u64,
}

impl CheckpointFile {
    /// The file's contents.
    ///
    /// # Errors
    /// What could not be written as JSON.
    pub fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        let header = Header { of: self.of.clone(), done: self.done };
        let header = format!("{MAGIC}{VERSION}\n{}\n", serde_json::to_string(&header)?);
        let mut bytes = Vec::with_capacity(header.len() + self.state.len() + CHECKSUM);
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(&self.state);
        let checksum = sha256(&bytes);
        bytes.extend_from_slice(&checksum);
        Ok(bytes)
    }

    /// Reads a file's contents. Nothing of it is believed before its checksum is found right,
    /// except how long it should be, which distinguishes a file that was cut short from one that was altered.
    ///
    /// # Errors
    /// Why it is not gone on from.
    pub fn parse(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let (first, rest) = line(bytes).ok_or_else(|| beginning(bytes))?;
        let version = first.strip_prefix(MAGIC).ok_or(CheckpointError::Foreign)?;
        if version != VERSION.to_string() {
            return Err(CheckpointError::Version(printable(version, 12)));
        }
        let whole = |has: u64, of: u64| match has.cmp(&of) {
            std::cmp::Ordering::Less => Err(CheckpointError::Short { has, of }),
            std::cmp::Ordering::Greater => Err(CheckpointError::Long(has - of)),
            std::cmp::Ordering::Equal => Ok(()),
        };
        let has = bytes.len() as u64;
        let header = line(rest).map(|(json, rest)| (serde_json::from_str::<Header>(json), rest));
        if let Some((Ok(header), rest)) = &header {
            let before = (bytes.len() - rest.len() + CHECKSUM) as u64;
            whole(has, header.of.bytes().saturating_add(before))?;
        }
        let (contents, checksum) =
            bytes.split_last_chunk::<CHECKSUM>().ok_or(CheckpointError::Altered)?;
        if sha256(contents) != *checksum {
            return Err(CheckpointError::Altered);
        }
        let (header, _) = header.ok_or_else(|| CheckpointError::Header("there is none".into()))?;
        let header = header.map_err(|error| CheckpointError::Header(error.to_string()))?;
        if header.done > header.of.passes {
            let why = format!("{} of {} passes are done", header.done, header.of.passes);
            return Err(CheckpointError::Header(why));
        }
        let state = contents.len() - header.of.bytes() as usize;
        Ok(Self { of: header.of, done: header.done, state: contents[state..].to_vec() })
    }

    /// The same, where it is of what is `wanted`.
    ///
    /// # Errors
    /// Of what it is instead.
    pub fn of(self, wanted: &CheckpointIdentity) -> Result<Self, CheckpointError> {
        self.of.is(wanted).map(|()| self)
    }

    /// Why a file of `len` bytes that begins with these, too long for what is `wanted`, is not gone on
    /// from: what it says of itself where that is something else, since this helps more than its length.
    pub fn too_long(begin: &[u8], len: u64, wanted: &CheckpointIdentity) -> CheckpointError {
        let first = line(begin).and_then(|(_, rest)| line(rest));
        let header = first.and_then(|(json, _)| serde_json::from_str::<Header>(json).ok());
        let more = len.saturating_sub(begin.len() as u64);
        match (Self::parse(begin), header.map(|header| header.of.is(wanted))) {
            (Err(flaw @ (CheckpointError::Foreign | CheckpointError::Version(_))), _) => flaw,
            (_, Some(Err(flaw))) => flaw,
            (Err(CheckpointError::Long(here)), _) => {
                CheckpointError::Long(here.saturating_add(more))
            }
            (Err(flaw), _) => flaw,
            (Ok(_), _) => CheckpointError::Long(more),
        }
    }
}

impl CheckpointIdentity {
    /// Whether it is what is `wanted`.
    fn is(&self, wanted: &Self) -> Result<(), CheckpointError> {
        let hash = |text: &str| printable(text, 64);
        let named = |of: &Self| (of.case.clone(), of.seed, of.passes, of.buffers.clone());
        if named(self) != named(wanted) {
            let (found, wanted) = (self.described(), wanted.described());
            Err(CheckpointError::Case { found, wanted })
        } else if self.kernel != wanted.kernel {
            let (found, wanted) = (hash(&self.kernel), hash(&wanted.kernel));
            Err(CheckpointError::Kernel { found, wanted })
        } else if self.given != wanted.given {
            let (found, wanted) = (hash(&self.given), hash(&wanted.given));
            Err(CheckpointError::Given { found, wanted })
        } else {
            Ok(())
        }
    }

    /// Bytes of the state; more than there can be where they do not fit 64 bits.
    pub fn bytes(&self) -> u64 {
        self.buffers.iter().fold(0, |sum: u64, (_, bytes)| sum.saturating_add(*bytes))
    }

    /// All but the kernel and what it is given, in words.
    fn described(&self) -> String {
        let part =
            |(name, bytes): &(String, u64)| format!("`{}` of {bytes} bytes", printable(name, NAME));
        let buffers: Vec<String> = self.buffers.iter().map(part).collect();
        format!(
            "`{}` with seed {}, {} passes over {}",
            printable(&self.case, NAME),
            self.seed,
            self.passes,
            buffers.join(", ")
        )
    }
}

/// The first line as text, and what is behind it.
fn line(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    Some((std::str::from_utf8(&bytes[..end]).ok()?, &bytes[end + 1..]))
}

/// What a file without a first line is: the beginning of one, or something else.
fn beginning(bytes: &[u8]) -> CheckpointError {
    let shown = &bytes[..bytes.len().min(MAGIC.len())];
    match MAGIC.as_bytes().starts_with(shown) {
        true => CheckpointError::Short {
            has: bytes.len() as u64,
            of: (MAGIC.len() + 2 + CHECKSUM) as u64,
        },
        false => CheckpointError::Foreign,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of() -> CheckpointIdentity {
        CheckpointIdentity {
            case: "floyd_warshall n=2".into(),
            seed: 7,
            kernel: "ab".repeat(32),
            given: "12".repeat(32),
            passes: 10,
            buffers: vec![("distance".into(), 16), ("more".into(), 4)],
        }
    }

    fn checkpoint() -> CheckpointFile {
        CheckpointFile { of: of(), done: 4, state: (0..20).collect() }
    }

    #[test]
    fn what_was_written_is_read_again() {
        let bytes = checkpoint().to_bytes().unwrap();
        assert_eq!(
            CheckpointFile::parse(&bytes).and_then(|checkpoint| checkpoint.of(&of())),
            Ok(checkpoint())
        );
    }

    #[test]
    fn what_is_cut_short_says_how_much() {
        let bytes = checkpoint().to_bytes().unwrap();
        for len in 0..bytes.len() {
            let flaw = CheckpointFile::parse(&bytes[..len]).unwrap_err();
            let mut lines = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n');
            let header = lines.nth(1).unwrap().0 + 1;
            let expected = CheckpointError::Short { has: len as u64, of: bytes.len() as u64 };
            assert!(len < header || flaw == expected, "{len}: {flaw}");
        }
        let longer = [&bytes[..], &[0; 3]].concat();
        assert_eq!(CheckpointFile::parse(&longer), Err(CheckpointError::Long(3)));
        // Of what has no whole line only the least is known: 20 letters, a version, a line's end, a checksum.
        let shortest = CheckpointError::Short { has: 8, of: 20 + 1 + 1 + 32 };
        assert_eq!(CheckpointFile::parse(b"gpubench"), Err(shortest));
    }

    #[test]
    fn any_altered_bit_is_noticed() {
        let bytes = checkpoint().to_bytes().unwrap();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut altered = bytes.clone();
                altered[at] ^= 1 << bit;
                assert!(CheckpointFile::parse(&altered).is_err(), "byte {at}, bit {bit}");
            }
        }
        let mut altered = bytes.clone();
        let state = bytes.len() - CHECKSUM - 1;
        altered[state] ^= 1;
        assert_eq!(CheckpointFile::parse(&altered), Err(CheckpointError::Altered));
    }

    #[test]
    fn of_another_kernel_case_seed_or_version_it_is_rejected_with_the_reason() {
        let message = |of: CheckpointIdentity| checkpoint().of(&of).unwrap_err().to_string();
        let kernel = message(CheckpointIdentity { kernel: "cd".repeat(32), ..of() });
        assert_eq!(kernel, "it is of another kernel (SHA-256 abababababab… and not cdcdcdcdcdcd…)");
        let case = message(CheckpointIdentity { case: "floyd_warshall n=3".into(), ..of() });
        assert!(case.contains("is of `floyd_warshall n=2`"), "{case}");
        assert!(message(CheckpointIdentity { seed: 8, ..of() }).contains("seed 7"));
        assert!(
            message(CheckpointIdentity { buffers: vec![("distance".into(), 20)], ..of() })
                .contains("`more`")
        );
        let given = message(CheckpointIdentity { given: "34".repeat(32), ..of() });
        assert!(given.contains("(SHA-256 121212121212… and not 343434343434…)"), "{given}");
        let newer = b"gpubench checkpoint 2\n{}\n";
        assert_eq!(CheckpointFile::parse(newer), Err(CheckpointError::Version("2".into())));
        assert_eq!(CheckpointFile::parse(b"{\"header\":{}}\n"), Err(CheckpointError::Foreign));
    }

    #[test]
    fn what_is_too_long_says_what_it_is_first() {
        let bytes = checkpoint().to_bytes().unwrap();
        let bytes = [&bytes[..], &[0; 3]].concat();
        let len = bytes.len() as u64 + 7;
        let flaw_of =
            |bytes: &[u8], of: &CheckpointIdentity| CheckpointFile::too_long(bytes, len, of);
        assert_eq!(flaw_of(&bytes, &of()), CheckpointError::Long(10));
        assert!(matches!(
            flaw_of(&bytes, &CheckpointIdentity { seed: 8, ..of() }),
            CheckpointError::Case { .. }
        ));
        assert_eq!(
            flaw_of(b"gpubench checkpoint 2\n{}\n", &of()),
            CheckpointError::Version("2".into())
        );
        assert_eq!(flaw_of(&[0; 100], &of()), CheckpointError::Foreign);
        let odd = CheckpointIdentity { case: "a\u{1b}[31m".into(), ..of() };
        let odd = CheckpointFile { of: odd, ..checkpoint() }.of(&of()).unwrap_err().to_string();
        assert!(!odd.contains('\u{1b}'), "{odd:?}");
    }

    #[test]
    fn a_right_checksum_does_not_excuse_nonsense() {
        let sealed = |text: &str| [text.as_bytes(), &sha256(text.as_bytes())].concat();
        let flaw_of = |text: &str| CheckpointFile::parse(&sealed(text)).unwrap_err();
        assert!(matches!(flaw_of("gpubench checkpoint 1\n{}\n"), CheckpointError::Header(_)));
        assert!(matches!(flaw_of("gpubench checkpoint 1\nno line"), CheckpointError::Header(_)));
        let many = CheckpointFile { done: 11, ..checkpoint() }.to_bytes().unwrap();
        assert!(matches!(CheckpointFile::parse(&many), Err(CheckpointError::Header(_))));
        let huge =
            CheckpointIdentity { buffers: vec![("a".into(), u64::MAX), ("b".into(), 9)], ..of() };
        let huge = CheckpointFile { of: huge, ..checkpoint() }.to_bytes().unwrap();
        assert!(matches!(CheckpointFile::parse(&huge), Err(CheckpointError::Short { .. })));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = CheckpointFile::parse(&bytes);
            let _ = CheckpointFile::parse(&[format!("{MAGIC}1\n").as_bytes(), &bytes].concat());
            let sealed = [&bytes[..], &sha256(&bytes)].concat();
            let _ = CheckpointFile::parse(&sealed);
        }

        #[test]
        fn every_state_comes_back(state in proptest::collection::vec(any::<u8>(), 0..300), done in 0u64..=10) {
            let buffers = vec![("s".to_owned(), state.len() as u64)];
            let checkpoint = CheckpointFile { of: CheckpointIdentity { buffers, ..of() }, done, state };
            prop_assert_eq!(CheckpointFile::parse(&checkpoint.to_bytes().unwrap()), Ok(checkpoint));
        }
    }
}
