//! Files in a run's scratch folder that its workers share: inputs and expected results. What was
//! damaged is noticed, and made again.

use crate::memory::fingerprint;
use memmap2::Mmap;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

/// Bytes before the contents: a page, so that these begin on a page's edge.
const HEADER: usize = 4096;
/// Bytes that a run's scratch files may take together: inputs and results of the shipped suites at
/// the sizes of a large GPU. What does not fit is made again by every worker.
const MAX_BYTES: u64 = 4 << 30;
/// Bytes a second at which a file is written, about: as a virtual machine did that had no page of it in its cache.
const WRITTEN: f64 = 0.5e9;

/// What stands before the contents.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    /// Bytes of each part, and their fingerprint in hexadecimal.
    parts: Vec<(usize, String)>,
}

/// The contents of a file, in one or several parts, as they lie in the system's page cache.
#[derive(Debug)]
pub(super) struct Mapped {
    map: Mmap,
    parts: Vec<Range<usize>>,
}

impl Mapped {
    /// The file at `path`; `None` where there is none, or it is not as it was written.
    pub fn open(path: &Path) -> Option<Self> {
        let file = File::open(path).ok()?;
        let found = Self::checked(&file);
        if found.is_none() {
            tracing::warn!(path = %path.display(), "a scratch file was damaged: it is made again");
        }
        found
    }

    fn checked(file: &File) -> Option<Self> {
        #[expect(unsafe_code, reason = "maps a file of this run's private folder")]
        // SAFETY: the folder is this user's own, and files in it are renamed into place when they are
        // whole, replaced as a whole, and never written to.
        let map = unsafe { Mmap::map(file) }.ok()?;
        let header = map.get(..HEADER)?;
        let end = header.iter().position(|&byte| byte == b'\n')?;
        let header: Header = serde_json::from_slice(&header[..end]).ok()?;
        let (mut parts, mut at) = (vec![], HEADER);
        for (len, expected) in header.parts {
            let part = at..at.checked_add(len)?;
            if hex(map.get(part.clone())?) != expected {
                return None;
            }
            at = part.end;
            parts.push(part);
        }
        (at == map.len()).then_some(Self { map, parts })
    }

    /// The parts, in order.
    pub fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.parts.iter().map(|part| &self.map[part.clone()])
    }
}

/// Keeps `parts`, which were made since `begun`, in a file at `path`: where that took longer than writing it does, or where it
/// is the second time in this run. Many contents are needed once only. A folder that cannot be written is no failure.
pub(super) fn keep(path: &Path, begun: Instant, parts: &[&[u8]]) {
    let seconds = begun.elapsed().as_secs_f64();
    let bytes: usize = parts.iter().map(|part| part.len()).sum();
    if !was_made_before(path) && seconds < bytes as f64 / WRITTEN {
        return;
    }
    if let Err(error) = write(path, parts) {
        tracing::debug!(path = %path.display(), "contents not kept: {error}");
    }
}

/// Whether what belongs in a file was made before in this run; notes that it was now.
fn was_made_before(path: &Path) -> bool {
    let note = File::create_new(path.with_extension("made"));
    note.is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists)
}

/// Writes `parts` to a file at `path`, which says how they lie in it.
///
/// # Errors
/// When the disk does not take it, or the folder holds enough.
fn write(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let bytes: u64 = parts.iter().map(|part| part.len() as u64).sum();
    if held(folder)? + bytes > MAX_BYTES {
        return Err(io::Error::other("the scratch folder holds enough"));
    }
    let header = Header { parts: parts.iter().map(|part| (part.len(), hex(part))).collect() };
    let mut line = serde_json::to_vec(&header)?;
    line.push(b'\n');
    if line.len() > HEADER {
        return Err(io::Error::other("too many parts"));
    }
    line.resize(HEADER, 0);
    replace(path, &[&[&line[..]], parts].concat())
}

/// Writes `parts` to a file at `path`. Written elsewhere and renamed: a reader never sees half of it.
///
/// # Errors
/// When the disk does not take it.
pub(super) fn replace(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))?;
    parts.iter().try_for_each(|part| file.write_all(part))?;
    file.persist(path)?;
    Ok(())
}

/// Bytes of all files in a folder.
fn held(folder: &Path) -> io::Result<u64> {
    let sizes = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.metadata()?.len()));
    sizes.sum()
}

fn hex(bytes: &[u8]) -> String {
    format!("{:032x}", fingerprint(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_in_its_parts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        assert!(Mapped::open(&path).is_none());
        write(&path, &[b"one", b"", b"three"]).unwrap();
        let mapped = Mapped::open(&path).unwrap();
        assert_eq!(mapped.parts().collect::<Vec<_>>(), [&b"one"[..], b"", b"three"]);
    }

    #[test]
    fn what_is_made_fast_is_kept_the_second_time() {
        let folder = tempfile::tempdir().unwrap();
        let [fast, slow] = ["fast", "slow"].map(|name| folder.path().join(name));
        let contents = vec![7; 1 << 24];
        let an_hour_ago = Instant::now().checked_sub(std::time::Duration::from_secs(3600));
        keep(&slow, an_hour_ago.unwrap_or_else(Instant::now), &[b"slow"]);
        assert!(slow.exists());
        keep(&fast, Instant::now(), &[&contents]);
        assert!(!fast.exists());
        keep(&fast, Instant::now(), &[&contents]);
        assert_eq!(Mapped::open(&fast).unwrap().parts().next(), Some(&contents[..]));
    }

    #[test]
    fn damage_anywhere_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write(&path, &[&[7; 1000], b"end"]).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for at in [5, HEADER, HEADER + 999, HEADER + 1002] {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            std::fs::write(&path, damaged).unwrap();
            assert!(Mapped::open(&path).is_none(), "byte {at}");
        }
        for len in [0, 10, HEADER, whole.len() - 1] {
            std::fs::write(&path, &whole[..len]).unwrap();
            assert!(Mapped::open(&path).is_none(), "cut at {len}");
        }
        std::fs::write(&path, [&whole[..], b"x"].concat()).unwrap();
        assert!(Mapped::open(&path).is_none(), "a byte more");
    }
}
