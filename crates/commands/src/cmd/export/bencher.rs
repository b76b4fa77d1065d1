//! Records as Bencher's metrics.

use crate::cmd::show::{print, warnings};
use crate::store::runs;
use gpubench_core::error::{Error, Result};
use gpubench_report::export::bencher;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Latencies by device and case.
pub(super) fn write(files: &[PathBuf], output: Option<&Path>) -> Result<()> {
    let all = runs::load(files)?;
    warnings(&all.warnings);
    let text = bencher(&all.matrix);
    let Some(path) = output else { return print(&text) };
    let io = |source| Error::io(path, source);
    File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes())).map_err(io)
}
