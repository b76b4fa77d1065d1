//! Results that were compared with the expected one and found right, by their fingerprints: what a
//! deterministic device computes again need not be compared number by number again.

use crate::scratch_file;
use gpubench_core::hash::sha256_hex;
use gpubench_core::record::ErrorNorms;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Most results that are kept of one problem: as many as variants on different drivers may have. A
/// device that computes another one each time is not deterministic, and gains nothing.
const MAX: usize = 32;

/// A result that is right: the fingerprint of each written buffer, and how far it was from the expected
/// one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Known {
    buffers: Vec<(usize, String)>,
    norms: ErrorNorms,
}

/// The right results of one problem, and the file in which the workers of a run share them.
#[derive(Debug)]
pub(super) struct KnownResults {
    file: Option<PathBuf>,
    known: Vec<Known>,
}

impl KnownResults {
    /// Those in `file`, where there is one; none where it was damaged.
    pub fn open(file: Option<PathBuf>) -> Self {
        let known = file.as_deref().and_then(read).unwrap_or_default();
        Self { file, known }
    }

    /// How far a result was from the expected one, where it was found right before: the fingerprint of
    /// each written buffer.
    pub fn norms(&self, buffers: &[(usize, u128)]) -> Option<ErrorNorms> {
        let buffers = hex(buffers);
        self.known.iter().find(|known| known.buffers == buffers).map(|known| known.norms)
    }

    /// Notes a result that was compared and is right; `file` is where it is shared now. Another name stands for
    /// another problem, since the reference has asked for more numbers: what was right under the old one stays
    /// there.
    pub fn add(&mut self, buffers: &[(usize, u128)], norms: ErrorNorms, file: Option<PathBuf>) {
        if file.is_some() && file != self.file {
            *self = Self::open(file);
        }
        if self.known.len() >= MAX {
            return;
        }
        self.known.push(Known { buffers: hex(buffers), norms });
        let Some(file) = &self.file else { return };
        if let Err(error) = write(file, &self.known) {
            tracing::debug!("right results not kept: {error}");
        }
    }
}

fn hex(buffers: &[(usize, u128)]) -> Vec<(usize, String)> {
    buffers.iter().map(|(i, print)| (*i, format!("{print:032x}"))).collect()
}

/// A line with the hash of the next one, and that.
fn read(file: &Path) -> Option<Vec<Known>> {
    let text = std::fs::read_to_string(file).ok()?;
    let known = text.split_once('\n').filter(|(hash, json)| sha256_hex(json) == *hash);
    if known.is_none() {
        tracing::warn!(path = %file.display(), "a scratch file was damaged: it is made again");
    }
    serde_json::from_str(known?.1).ok()
}

fn write(file: &Path, known: &[Known]) -> std::io::Result<()> {
    let json = serde_json::to_string(known)?;
    scratch_file::replace(file, &[format!("{}\n{json}", sha256_hex(&json)).as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_right_result_is_known_to_the_next_worker_and_no_other_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.verified");
        let norms = ErrorNorms { max_absolute: 0.5, ..ErrorNorms::default() };
        let right = [(1, 7), (2, 9)];
        let mut first = KnownResults::open(None);
        assert_eq!(first.norms(&right), None);
        first.add(&right, norms, Some(file.clone()));
        let next = KnownResults::open(Some(file.clone()));
        assert_eq!(next.norms(&right), Some(norms));
        assert_eq!(next.norms(&[(1, 7), (2, 8)]), None);
        assert_eq!(next.norms(&right[..1]), None);
        let damaged = std::fs::read_to_string(&file).unwrap().replace("0.5", "0.4");
        std::fs::write(&file, damaged).unwrap();
        assert_eq!(KnownResults::open(Some(file)).norms(&right), None);
    }

    #[test]
    fn under_another_name_stands_only_what_is_right_there() {
        let folder = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| Some(folder.path().join(name)));
        let norms = ErrorNorms::default();
        let knows = |file: &Option<PathBuf>, result| {
            KnownResults::open(file.clone()).norms(&[(1, result)]).is_some()
        };
        let mut known = KnownResults::open(old.clone());
        known.add(&[(1, 1)], norms, old.clone());
        KnownResults::open(None).add(&[(1, 2)], norms, new.clone());
        known.add(&[(1, 3)], norms, new.clone());
        for (result, in_old, in_new) in [(1, true, false), (2, false, true), (3, false, true)] {
            assert_eq!(knows(&old, result), in_old, "{result}");
            assert_eq!(knows(&new, result), in_new, "{result}");
        }
    }
}
