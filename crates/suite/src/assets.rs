//! The suites and kernels inside the binary, so that one file copied to a machine runs there.

use gpubench_core::gpu::Language;
use include_dir::{Dir, include_dir};

static SHADERS: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../shaders");
static SUITES: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../suites");

/// The names by which [`super::load`] finds the embedded suites: `quick`, `all`, ….
pub fn suites() -> Vec<&'static str> {
    let paths = SUITES.files().filter_map(|file| file.path().to_str());
    paths.filter_map(|path| path.strip_suffix(".yaml")).collect()
}

/// The shipped kernels as `family/entry`, each once.
pub fn kernels() -> Vec<&'static str> {
    let files = SHADERS.dirs().flat_map(Dir::files);
    let mut names: Vec<_> = files
        .filter_map(|file| file.path().to_str())
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
    let text = SHADERS.get_file(&path)?.contents_utf8()?;
    Some((path, text))
}

/// The text of the file `path` below `suites/`.
pub fn suite_file(path: &str) -> Option<&'static str> {
    SUITES.get_file(path)?.contents_utf8()
}

/// Whether `text` is that of an embedded suite, wherever it was read.
pub fn is_suite(text: &str) -> bool {
    SUITES.files().any(|file| file.contents_utf8() == Some(text))
}

/// What messages call the embedded file `path` below `suites/`.
pub fn shown(path: &str) -> String {
    format!("suites/{path} (embedded)")
}
