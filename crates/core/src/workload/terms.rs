//! The terms in which suites describe a workload.

use serde::{Deserialize, Serialize};

/// How a buffer is filled before the first launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fill {
    /// Uniformly between `low` and `high`; a whole number is below `high`, an `f32` may be
    /// rounded up to it.
    Uniform([f64; 2]),
    /// Whole numbers from `low` to below `high`, also in floats: sums of their products are exact.
    Whole([f64; 2]),
    /// Random bits (for `f32`: random numbers of either sign between 1/2 and 2), which no
    /// memory compression can shrink.
    RandomBits,
    /// Every scalar holds its own position.
    Index,
    /// A cyclic permutation of the positions, of no pattern that a prefetcher knows: following it visits every
    /// position once, and every line of memory before any of them again.
    Cycle,
    /// The same number everywhere.
    Constant(f64),
}

/// Which part of a buffer a chunk of a divided problem sees.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Split {
    /// All of it (the whole buffer is uploaded before the first chunk).
    #[default]
    Broadcast,
    /// Its share, with so many rows of the neighbours on either side.
    Rows {
        /// Rows of either neighbour that the chunk reads.
        halo: u32,
    },
}

/// How far an `f32` may differ from the expected one; integers must be equal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Allowed difference relative to the expected value.
    pub relative: f64,
    /// Allowed absolute difference.
    pub absolute: f64,
}

impl Comparison {
    /// What one or the other allows.
    pub fn or(self, other: Self) -> Self {
        Self {
            relative: self.relative.max(other.relative),
            absolute: self.absolute.max(other.absolute),
        }
    }
}

/// A command of the user's that computes what is expected. It is given two folders behind its words:
/// one with the inputs, one for what it writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// The folder it runs in: the suite's.
    pub folder: std::path::PathBuf,
    /// Seconds after which it is ended.
    pub seconds: f64,
    /// Where the suite names it: file and line.
    pub place: String,
}

/// Where the expected result comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verify {
    /// A reference of `gpubench_reference`, by name.
    Reference(String, Comparison),
    /// A file with the bytes of every written buffer, one after the other.
    File(std::path::PathBuf, Comparison),
    /// Arrays in `.npy` files: the name of each written buffer, and its file.
    Arrays(Vec<(String, std::path::PathBuf)>, Comparison),
    /// Arrays that a command of the user's writes.
    Command(Command, Comparison),
    /// What another device computes.
    Device(Comparison),
    /// What `gpubench_emulator` computes from the kernel's WGSL source.
    Emulator(Comparison),
    /// Nothing: the result is flagged unverified and never ranked.
    Nothing,
}

impl Verify {
    /// How far a result may differ; `None` where it is compared with nothing.
    pub fn allowed(&self) -> Option<Comparison> {
        self.clone().allowed_mut().copied()
    }

    /// The same, where results may differ so far.
    pub fn allowing(mut self, allowed: Comparison) -> Self {
        self.allowed_mut().into_iter().for_each(|own| *own = allowed);
        self
    }

    fn allowed_mut(&mut self) -> Option<&mut Comparison> {
        match self {
            Self::Reference(_, allowed)
            | Self::File(_, allowed)
            | Self::Arrays(_, allowed)
            | Self::Command(_, allowed)
            | Self::Device(allowed)
            | Self::Emulator(allowed) => Some(allowed),
            Self::Nothing => None,
        }
    }

    /// What a result is compared with, in words; `None` where it is compared with nothing.
    pub fn against(&self) -> Option<String> {
        let name = |path: &std::path::Path| {
            path.file_name().unwrap_or_default().to_string_lossy().into_owned()
        };
        Some(match self {
            Self::Reference(reference, _) => format!("reference {reference}"),
            Self::File(path, _) => format!("file {}", name(path)),
            Self::Arrays(files, _) => {
                let files: Vec<_> = files.iter().map(|(_, path)| name(path)).collect();
                format!("file {}", files.join(", "))
            }
            Self::Command(command, _) => format!("command {}", command.words.join(" ")),
            Self::Device(_) => "another device".to_owned(),
            Self::Emulator(_) => "emulator".to_owned(),
            Self::Nothing => return None,
        })
    }
}

#[test]
fn what_is_compared_is_named_with_how_far_it_may_be_off() {
    let of = |relative, absolute| Comparison { relative, absolute };
    let allowed = of(0.5, 2.0);
    assert_eq!(of(0.25, 3.0).or(allowed), of(0.5, 3.0));
    let words = ["python3", "k.py"].map(String::from).to_vec();
    let command = Command { words, folder: "f".into(), seconds: 1.0, place: "s.yaml:1".into() };
    let arrays =
        [("a", "x/a.npy"), ("b", "b.npy")].map(|(name, path)| (name.into(), path.into())).to_vec();
    for (verify, words) in [
        (Verify::Reference("matmul".into(), allowed), "reference matmul"),
        (Verify::File("x/c.bin".into(), allowed), "file c.bin"),
        (Verify::Arrays(arrays, allowed), "file a.npy, b.npy"),
        (Verify::Command(command, allowed), "command python3 k.py"),
        (Verify::Device(allowed), "another device"),
        (Verify::Emulator(allowed), "emulator"),
    ] {
        assert_eq!((verify.against().as_deref(), verify.allowed()), (Some(words), Some(allowed)));
        assert_eq!(verify.allowing(of(1.0, 1.0)).allowed(), Some(of(1.0, 1.0)));
    }
    assert_eq!((Verify::Nothing.against(), Verify::Nothing.allowed()), (None, None));
}
