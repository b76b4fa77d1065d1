//! Folders of text inside the binary, compressed: a crate's build script packs one, and the program unpacks it when
//! it first reads one of its files.
//!
//! ```text
//! build.rs:  gpubench_packed::pack("../../suites", "suites")?;
//! src:       static SUITES: Folder = folder!("suites");
//! ```

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::path::Path;
use std::sync::OnceLock;

/// Stands between paths and texts, which hold none.
const BETWEEN: &str = "\0";

/// For build scripts: packs all files in and below `folder` for [`folder!`] to find under `name`. A file that is
/// new or changed is seen by the next build.
///
/// # Errors
/// A file that cannot be read, or that is no text.
pub fn pack(folder: &str, name: &str) -> Result<()> {
    println!("cargo:rerun-if-changed={folder}");
    let out = std::env::var_os("OUT_DIR").ok_or_else(|| Error::other("no build script"))?;
    fs::write(Path::new(&out).join(name), packed(Path::new(folder))?)
}

fn packed(folder: &Path) -> Result<Vec<u8>> {
    let mut files = BTreeMap::new();
    read(folder, "", &mut files)?;
    let texts: Vec<_> = files.iter().flat_map(|(path, text)| [path.as_str(), text]).collect();
    if texts.iter().any(|text| text.contains(BETWEEN)) {
        return Err(Error::other(format!("{} has a file that is no text", folder.display())));
    }
    let mut encoder = DeflateEncoder::new(vec![], Compression::best());
    encoder.write_all(texts.join(BETWEEN).as_bytes())?;
    encoder.finish()
}

/// The files of `folder`, each under its path behind `prefix`.
fn read(folder: &Path, prefix: &str, files: &mut BTreeMap<String, String>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            read(&entry.path(), &format!("{path}/"), files)?;
        } else {
            files.insert(path, text(&entry.path())?);
        }
    }
    Ok(())
}

/// The text of a file; of a module in SPIR-V its bytes as hexadecimal digits.
fn text(file: &Path) -> Result<String> {
    if file.extension().is_none_or(|extension| extension != "spv") {
        return fs::read_to_string(file);
    }
    Ok(fs::read(file)?.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What this crate's build script packed under a name.
#[macro_export]
macro_rules! folder {
    ($name:literal) => {
        $crate::Folder::of(include_bytes!(concat!(env!("OUT_DIR"), "/", $name)))
    };
}

/// A packed folder.
#[derive(Debug)]
pub struct Folder {
    packed: &'static [u8],
    /// By their paths, which separate folders by `/`.
    files: OnceLock<BTreeMap<String, String>>,
}

impl Folder {
    /// Of what [`pack`] wrote; [`folder!`] finds it.
    pub const fn of(packed: &'static [u8]) -> Self {
        Self { packed, files: OnceLock::new() }
    }

    /// The text of the file `path` below the folder.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files().get(path).map(String::as_str)
    }

    /// The paths of all files below the folder, in order.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files().keys().map(String::as_str)
    }

    fn files(&self) -> &BTreeMap<String, String> {
        self.files.get_or_init(|| {
            let mut all = String::new();
            let read = DeflateDecoder::new(self.packed).read_to_string(&mut all);
            if read.as_ref().is_err_and(|error| error.kind() == ErrorKind::OutOfMemory) {
                std::alloc::handle_alloc_error(std::alloc::Layout::for_value(self.packed));
            }
            read.expect("this build packed it");
            let mut parts = all.split(BETWEEN).map(str::to_owned);
            std::iter::from_fn(|| parts.next().zip(parts.next())).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("b")).unwrap();
        for (path, text) in [("z.yaml", "é\n"), ("a.cl", ""), ("b/c.cl", "x\ty")] {
            fs::write(folder.path().join(path), text).unwrap();
        }
        let unpacked = Folder::of(packed(folder.path()).unwrap().leak());
        assert_eq!(unpacked.paths().collect::<Vec<_>>(), ["a.cl", "b/c.cl", "z.yaml"]);
        assert_eq!(unpacked.text("a.cl"), Some(""));
        assert_eq!(unpacked.text("b/c.cl"), Some("x\ty"));
        assert_eq!(unpacked.text("z.yaml"), Some("é\n"));
        assert_eq!(unpacked.text("c.cl"), None);
    }

    #[test]
    fn only_text_is_packed() {
        for bytes in [&b"a\0b"[..], b"\xff"] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("x"), bytes).unwrap();
            assert!(packed(folder.path()).is_err());
        }
    }
}
