//! The file that an iteration's state is kept in. At any moment it is a whole state, the last or the
//! one before, whatever ends the process or the machine: a new one is written beside it, forced to
//! the disk, and given its name.

use crate::iteration::{Iteration, StatePart, state, state_bytes};
use gpubench_core::error::{Error, Result};
use gpubench_core::hash::sha256_hex;
use gpubench_core::record::{CheckpointFile, CheckpointIdentity};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::PathBuf;

/// Bytes of a file besides the state, at most: names of a case and its buffers.
const MAX_HEADER_BYTES: u64 = 1 << 20;

/// Where the states of an iteration are kept.
#[derive(Clone, Debug)]
pub(super) struct CheckpointStore {
    path: PathBuf,
    of: CheckpointIdentity,
}

impl CheckpointStore {
    /// In the file at `path`.
    pub fn new(path: PathBuf, iteration: Iteration) -> Self {
        let Iteration { case, candidate } = iteration;
        let buffer = |part: StatePart| (case.buffers[part.buffer].name.clone(), part.len);
        let of = CheckpointIdentity {
            case: case.key.to_string(),
            seed: case.seed,
            kernel: candidate.kernel.hash(),
            given: given(iteration),
            passes: iteration.passes() as u64,
            buffers: state(case).into_iter().map(buffer).collect(),
        };
        debug_assert_eq!(of.bytes(), state_bytes(case).0);
        Self { path, of }
    }

    /// Removes the file, where there is one.
    ///
    /// # Errors
    /// `Io`.
    pub fn remove(&self) -> Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::io(&self.path, error)),
            _ => Ok(()),
        }
    }

    /// Keeps the state after `done` passes instead of the one before; returns when it is on the disk.
    ///
    /// # Errors
    /// `Io`: the one before is still there then.
    pub fn save(&self, done: usize, state: Vec<u8>) -> Result<()> {
        let checkpoint = CheckpointFile { of: self.of.clone(), done: done as u64, state };
        let io = |error| Error::io(&self.path, error);
        let bytes = checkpoint.to_bytes().map_err(|error| io(error.into()))?;
        let part = self.path.with_extension("part");
        let mut file = File::create(&part).map_err(io)?;
        file.write_all(&bytes).and_then(|()| file.sync_all()).map_err(io)?;
        std::fs::rename(&part, &self.path).map_err(io)?;
        self.sync_folder().map_err(io)
    }

    /// A name is the folder's: it outlives the machine when that is on the disk too.
    #[cfg(unix)]
    fn sync_folder(&self) -> std::io::Result<()> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(std::path::Path::new(".")))?.sync_all()
    }

    /// Elsewhere a folder cannot be forced to the disk.
    #[cfg(not(unix))]
    fn sync_folder(&self) -> std::io::Result<()> {
        Ok(())
    }

    /// The state kept there; `None` where there is no file.
    ///
    /// # Errors
    /// `Io`; `Usage` with the reason where the file is not a whole state of this iteration.
    pub fn load(&self) -> Result<Option<CheckpointFile>> {
        let io = |error| Error::io(&self.path, error);
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io(error)),
        };
        let max_bytes = self.of.bytes().saturating_add(MAX_HEADER_BYTES);
        let mut bytes = vec![];
        let len = file.metadata().map_err(io)?.len();
        file.take(max_bytes + 1).read_to_end(&mut bytes).map_err(io)?;
        let checkpoint = match bytes.len() as u64 > max_bytes {
            true => Err(CheckpointFile::too_long(&bytes, len, &self.of)),
            false => CheckpointFile::parse(&bytes).and_then(|checkpoint| checkpoint.of(&self.of)),
        };
        checkpoint.map(Some).map_err(|flaw| {
            let path = self.path.display();
            Error::Usage(format!("{path}: {flaw}; remove it to begin anew"))
        })
    }
}

/// SHA-256 of all that makes the states what they are, beside the kernel and the seed.
fn given(Iteration { case, candidate }: Iteration) -> String {
    let given = (&case.buffers, &case.size, candidate.passes());
    sha256_hex(serde_json::to_vec(&given).unwrap_or_default())
}
