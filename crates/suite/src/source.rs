//! The files of a suite: below one folder on disk, or inside the binary.

use super::assets;
use super::types::Place;
use gpubench_core::text::{explain, read};
use std::fs;
use std::io::Read;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The largest text file: no honest suite or kernel comes near.
const MAX_BYTES: u64 = 1 << 20;

/// A text file.
#[derive(Clone, Debug)]
pub struct Source {
    /// Path below the suite's folder, with `/` between its parts: the file's identity.
    pub path: String,
    /// The file as the user knows it.
    pub file: Arc<str>,
    /// Its text.
    pub text: Arc<str>,
}

impl Source {
    /// A place in it.
    pub fn place(&self, at: &Range<usize>) -> Place {
        Place { file: self.file.clone(), text: self.text.clone(), offset: at.start, len: at.len() }
    }
}

/// Where all files of a suite lie.
#[derive(Clone, Debug)]
pub enum Root {
    /// A folder: its real path, and its path as the user gave it.
    Folder { real: PathBuf, shown: PathBuf },
    /// The suites inside the binary.
    Embedded,
}

impl Root {
    /// The folder of the suite `path` and the suite itself.
    pub fn open(path: &Path) -> Result<(Self, Source), String> {
        let name = path.file_name().ok_or(gpubench_core::text::FOLDER)?;
        let shown = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let folder = if shown.as_os_str().is_empty() { Path::new(".") } else { &shown };
        let text = read(path, MAX_BYTES)?;
        let real = fs::canonicalize(folder).map_err(|error| error.to_string())?;
        let source = Source {
            path: name.to_string_lossy().into_owned(),
            file: path.to_string_lossy().into(),
            text: text.into(),
        };
        Ok((Self::Folder { real, shown }, source))
    }

    /// Reads the file that the file `from` calls `path`, relative to its own folder.
    ///
    /// # Errors
    /// Why not: it does not exist, is no regular file, is too large, is not text, or lies
    /// outside the suite's folder, be it by a symbolic link.
    pub fn read(&self, from: &Source, path: &str) -> Result<Source, String> {
        let below = below(&from.path, path)?;
        let (path, file, text) = match self {
            Self::Embedded => {
                let text = assets::suite_file(&below)
                    .ok_or_else(|| format!("gpubench has no suite file `{below}`"))?;
                (below.clone(), assets::shown(&below), text.to_owned())
            }
            Self::Folder { shown, .. } => {
                let (path, real) = self.find(&below)?;
                (path, shown.join(&below).to_string_lossy().into_owned(), read(&real, MAX_BYTES)?)
            }
        };
        Ok(Source { path, file: file.into(), text: text.into() })
    }

    /// As [`Root::read`], of a file that is no text: its identity, its name and its bytes.
    pub fn read_bytes(
        &self,
        from: &Source,
        path: &str,
    ) -> Result<(String, String, Vec<u8>), String> {
        let real = self.locate(from, path)?;
        let mut bytes = vec![];
        let file = fs::File::open(&real).map_err(|error| explain(&error))?;
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| explain(&error))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(format!("it has more than {MAX_BYTES} bytes"));
        }
        let shown = match self {
            Self::Folder { shown, .. } => shown.join(below(&from.path, path)?),
            Self::Embedded => PathBuf::from(path),
        };
        Ok((self.identity(&real), shown.to_string_lossy().into_owned(), bytes))
    }

    /// The real path of the file that `from` calls `path`, as [`Root::read`] finds it.
    pub fn locate(&self, from: &Source, path: &str) -> Result<PathBuf, String> {
        let (_, real) = self.find(&below(&from.path, path)?)?;
        let data = fs::metadata(&real).map_err(|error| explain(&error))?;
        if data.is_file() { Ok(real) } else { Err("it is no regular file".to_owned()) }
    }

    /// The real folder of the file `from`.
    pub fn folder_of(&self, from: &Source) -> Option<PathBuf> {
        let Self::Folder { real, .. } = self else { return None };
        Some(real.join(&from.path).parent()?.to_owned())
    }

    /// The identity and the real path of the file `below` the folder.
    fn find(&self, below: &str) -> Result<(String, PathBuf), String> {
        let Self::Folder { real: root, .. } = self else {
            return Err("an embedded suite has no such file".to_owned());
        };
        let real = fs::canonicalize(root.join(below)).map_err(|error| explain(&error))?;
        if !real.starts_with(root) {
            return Err("it leads out of the suite's folder through a symbolic link".to_owned());
        }
        Ok((self.identity(&real), real))
    }

    /// What distinguishes the file at `real` from the suite's others, wherever its folder lies.
    pub fn identity(&self, real: &Path) -> String {
        let inside = match self {
            Self::Folder { real: root, .. } => real.strip_prefix(root).unwrap_or(real),
            Self::Embedded => real,
        };
        let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
        parts.join("/")
    }
}

/// `path`, relative to the folder of `from`, as a path below the root.
fn below(from: &str, path: &str) -> Result<String, String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for component in Path::new(path).components() {
        match component {
            Component::Normal(part) => parts.push(part.to_str().ok_or("it is not UTF-8")?),
            Component::CurDir => {}
            Component::ParentDir if !parts.is_empty() => {
                parts.pop();
            }
            _ => return Err("it lies outside the suite's folder".to_owned()),
        }
    }
    if parts.is_empty() { Err("it names no file".to_owned()) } else { Ok(parts.join("/")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_below_the_root() {
        assert_eq!(below("a.yaml", "b.yaml").unwrap(), "b.yaml");
        assert_eq!(below("x/a.yaml", "../b.yaml").unwrap(), "b.yaml");
        assert_eq!(below("x/a.yaml", "./y/b.cl").unwrap(), "x/y/b.cl");
        for path in ["../../etc/passwd", "/etc/passwd", "x/../../y", "", "."] {
            assert!(below("a.yaml", path).is_err(), "{path}");
        }
    }

    #[test]
    fn a_file_that_is_no_text_is_read_byte_by_byte() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("s.yaml"), "").unwrap();
        std::fs::write(folder.path().join("k.spv"), [0, 255, 7]).unwrap();
        let (root, source) = Root::open(&folder.path().join("s.yaml")).unwrap();
        let (identity, shown, bytes) = root.read_bytes(&source, "k.spv").unwrap();
        assert_eq!((identity.as_str(), bytes.as_slice()), ("k.spv", &[0, 255, 7][..]));
        assert!(shown.ends_with("k.spv") && shown.len() > "k.spv".len(), "{shown}");
        assert!(root.read_bytes(&source, "none.spv").is_err());
    }

    /// A folder with a suite in a folder of its own, and the root of it.
    fn root() -> (tempfile::TempDir, Root, Source) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("x")).unwrap();
        for (name, text) in [("s.yaml", "suite"), ("x/t.yaml", "inner"), ("x/k.cl", "kernel")] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let (root, source) = Root::open(&folder.path().join("s.yaml")).unwrap();
        (folder, root, source)
    }

    #[test]
    fn a_file_is_read_relative_to_the_one_that_names_it() {
        let (folder, root, source) = root();
        assert_eq!((&source.path[..], &*source.text), ("s.yaml", "suite"));
        assert_eq!(*source.file, *folder.path().join("s.yaml").to_string_lossy());
        let inner = root.read(&source, "x/t.yaml").unwrap();
        assert_eq!((&inner.path[..], &*inner.text), ("x/t.yaml", "inner"));
        assert_eq!(*inner.file, *folder.path().join("x/t.yaml").to_string_lossy());
        assert_eq!(root.read(&inner, "k.cl").unwrap().path, "x/k.cl");
        assert_eq!(root.read(&inner, "../s.yaml").unwrap().path, "s.yaml");
        let (identity, shown, bytes) = root.read_bytes(&inner, "k.cl").unwrap();
        assert_eq!((&identity[..], &bytes[..]), ("x/k.cl", &b"kernel"[..]));
        assert_eq!(shown, folder.path().join("x/k.cl").to_string_lossy());
        let real = fs::canonicalize(folder.path()).unwrap();
        assert_eq!(root.locate(&inner, "k.cl"), Ok(real.join("x/k.cl")));
        assert_eq!(
            (root.folder_of(&inner), root.folder_of(&source)),
            (Some(real.join("x")), Some(real.clone()))
        );
        assert_eq!(root.identity(&real.join("x/k.cl")), "x/k.cl");
        assert_eq!(root.identity(Path::new("a/b")), "a/b");
        assert_eq!(root.locate(&source, "x").unwrap_err(), "it is no regular file");
        assert!(root.locate(&source, "none").unwrap_err().contains("no such file"));
        assert!(root.read(&source, "none").unwrap_err().contains("no such file"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_the_file_that_it_leads_to() {
        let (folder, root, source) = root();
        std::os::unix::fs::symlink("x/k.cl", folder.path().join("link.cl")).unwrap();
        assert_eq!(root.read(&source, "link.cl").unwrap().path, "x/k.cl");
        let outside = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path(), folder.path().join("out")).unwrap();
        assert!(root.locate(&source, "out").unwrap_err().contains("leads out"));
    }

    #[test]
    fn a_file_has_a_megabyte_and_no_more() {
        let (folder, root, source) = root();
        let with = |bytes: usize| {
            std::fs::write(folder.path().join("k.spv"), vec![b' '; bytes]).unwrap();
            (
                root.read_bytes(&source, "k.spv").map(|(.., bytes)| bytes.len()),
                root.read(&source, "k.spv").is_ok(),
            )
        };
        assert_eq!(with(1 << 20), (Ok(1 << 20), true));
        assert_eq!(with((1 << 20) + 1), (Err("it has more than 1048576 bytes".to_owned()), false));
    }

    #[test]
    fn an_embedded_suite_has_suites_and_no_other_files() {
        let source = Source { path: "quick.yaml".into(), file: "".into(), text: "".into() };
        let all = Root::Embedded.read(&source, "all.yaml").unwrap();
        assert_eq!((&all.path[..], &*all.file), ("all.yaml", "suites/all.yaml (embedded)"));
        assert!(all.text.contains("version: 1"));
        assert_eq!(
            Root::Embedded.read(&source, "no.yaml").unwrap_err(),
            "gpubench has no suite file `no.yaml`"
        );
        assert_eq!(
            Root::Embedded.locate(&source, "a").unwrap_err(),
            "an embedded suite has no such file"
        );
        assert_eq!(
            (Root::Embedded.folder_of(&source), Root::Embedded.identity(Path::new("a/b"))),
            (None, "a/b".to_owned())
        );
    }

    #[test]
    fn a_place_has_an_offset_and_a_length() {
        let source = Source { path: "s".into(), file: "f".into(), text: "one\ntwo".into() };
        let place = source.place(&(4..7));
        assert_eq!((place.offset, place.len, place.to_string()), (4, 3, "f:2:1".to_owned()));
        assert!(
            Root::open(Path::new("/")).is_err() && Root::open(Path::new("/none/none")).is_err()
        );
    }
}
