//! An input as a file, for readers that want a path: in memory where the system has such files.

use std::path::PathBuf;

/// Writes `data` to a file of this process, the same one each time, and returns its path.
pub fn holding(data: &[u8], extension: &str) -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    let folder = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let folder = folder.join(format!("gpubench-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for inputs");
    let path = folder.join("input").with_extension(extension);
    std::fs::write(&path, data).expect("an input's file");
    path
}
