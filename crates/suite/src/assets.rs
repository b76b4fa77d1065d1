//! The suites and kernels inside the binary, so that one file copied to a machine runs there.

use gpubench_core::gpu::Language;
use gpubench_packed::{Folder, folder};

static SHADERS: Folder = folder!("shaders");
static SUITES: Folder = folder!("suites");

/// The names by which [`super::load`] finds the embedded suites: `quick`, `all`, ….
pub fn suites() -> Vec<&'static str> {
    SUITES.paths().filter_map(|path| path.strip_suffix(".yaml")).collect()
}

/// The shipped kernels as `family/entry`, each once.
pub fn kernels() -> Vec<&'static str> {
    let mut names: Vec<_> = SHADERS
        .paths()
        .filter_map(|path| path.strip_suffix(".cl").or(path.strip_suffix(".wgsl")))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Path below `shaders/` and text of a shipped kernel.
pub fn kernel(family: &str, entry: &str, language: Language) -> Option<(String, &'static str)> {
    let extension = match language {
        Language::Opencl => "cl",
        Language::Wgsl => "wgsl",
    };
    let path = format!("{family}/{entry}.{extension}");
    let text = SHADERS.text(&path)?;
    Some((path, text))
}

/// The text of the file `path` below `suites/`.
pub fn suite_file(path: &str) -> Option<&'static str> {
    SUITES.text(path)
}

/// Whether `text` is that of an embedded suite, wherever it was read.
pub fn is_suite(text: &str) -> bool {
    SUITES.paths().any(|path| SUITES.text(path) == Some(text))
}

/// What messages call the embedded file `path` below `suites/`.
pub fn shown(path: &str) -> String {
    format!("suites/{path} (embedded)")
}
