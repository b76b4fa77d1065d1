//! The suites and kernels inside the binary, so that one file copied to a machine runs there.

use gpubench_core::gpu::Language;
use gpubench_packed::{Folder, folder};

const OPENCL: &str = ".cl";
const WGSL: &str = ".wgsl";
const MODULE: &str = ".spv";
const EXTENSIONS: [&str; 3] = [OPENCL, WGSL, MODULE];

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
        .filter_map(|path| EXTENSIONS.iter().find_map(|extension| path.strip_suffix(extension)))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Path below `shaders/` and text of a shipped kernel; of a module in SPIR-V ([`is_module`]), which is for Vulkan, its digits.
pub fn kernel(family: &str, entry: &str, language: Language) -> Option<(String, &'static str)> {
    let extensions = match language {
        Language::Opencl => &[OPENCL][..],
        Language::Wgsl => &[WGSL, MODULE],
    };
    extensions.iter().find_map(|extension| {
        let path = format!("{family}/{entry}{extension}");
        let text = SHADERS.text(&path)?;
        Some((path, text))
    })
}

/// Whether the shipped kernel of this path is a module in SPIR-V.
pub fn is_module(path: &str) -> bool {
    path.ends_with(MODULE)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_suites_and_kernels_are_found_by_their_names() {
        assert!(
            suites().contains(&"quick") && suites().iter().all(|name| !name.ends_with(".yaml"))
        );
        let all = kernels();
        assert_eq!(all.iter().filter(|name| **name == "filters/sepia").count(), 1);
        assert!(all.is_sorted() && all.iter().all(|name| name.split('/').count() == 2), "{all:?}");
        let (path, text) = kernel("filters", "sepia", Language::Opencl).unwrap();
        assert!(path == "filters/sepia.cl" && text.contains("kernel void sepia"));
        let (path, text) = kernel("filters", "sepia", Language::Wgsl).unwrap();
        assert!(path == "filters/sepia.wgsl" && text.contains("fn sepia"));
        assert_eq!(kernel("filters", "none", Language::Wgsl), None);
    }

    #[test]
    fn a_shipped_suite_is_known_by_its_text() {
        let quick = suite_file("quick.yaml").unwrap();
        assert!(quick.contains("version: 1") && is_suite(quick));
        assert!(!is_suite("version: 1") && suite_file("none.yaml").is_none());
        assert_eq!(shown("quick.yaml"), "suites/quick.yaml (embedded)");
    }
}
