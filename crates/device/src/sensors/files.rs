//! Numbers and words in the files that Linux shows under `/sys`.

use std::fs;
use std::path::{Path, PathBuf};

/// The file's text without blanks around it.
pub(super) fn text(file: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(file).ok().map(|text| text.trim().to_owned())
}

/// The number that a file begins with (`42 %`).
pub(super) fn number(file: impl AsRef<Path>) -> Option<f64> {
    text(file)?.split_whitespace().next()?.parse().ok()
}

/// What a folder holds, in the order of names.
pub(super) fn entries(folder: impl AsRef<Path>) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The folder of the card at this PCI address below `root` (`/sys/class/drm`).
pub(super) fn card_at(root: &Path, pci: &str) -> Option<PathBuf> {
    let is_it = |card: &PathBuf| {
        let event = text(card.join("device/uevent")).unwrap_or_default();
        let slot = event.lines().find_map(|line| line.strip_prefix("PCI_SLOT_NAME="));
        slot.is_some_and(|slot| slot.trim().eq_ignore_ascii_case(pci))
    };
    entries(root).into_iter().find(is_it)
}

/// A path's last part.
pub(super) fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Files with a text each, as a tree under `/sys` has them.
#[cfg(test)]
pub(super) fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (file, text) in files {
        let path = root.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
    }
    root
}
