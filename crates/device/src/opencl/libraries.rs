//! Where OpenCL's library lies: a loader that knows drivers, or a vendor's own, as phones and boards have it.

use std::path::{Path, PathBuf};

/// The variable that names OpenCL libraries, separated by semicolons; the bindings that gpubench uses take the first that
/// loads.
pub(super) const LIBRARY: &str = "OPENCL_DYLIB_PATH";
/// The variable that names drivers' libraries beyond those of the manifests, as containers of NVIDIA's do.
pub(super) const NAMED_DRIVERS: &str = "OCL_ICD_FILENAMES";

/// The variable and value by which a process that is to use OpenCL finds a vendor's own library too. `None` where the user
/// has set it.
pub fn library_variable() -> Option<(&'static str, String)> {
    if !cfg!(unix) || cfg!(target_os = "macos") || std::env::var_os(LIBRARY).is_some() {
        return None;
    }
    let variable = |name: &str| std::env::var(name).ok();
    let files = |folder: &Path| {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        files.map(|file| file.path()).collect()
    };
    let has_drivers = !manifests(&variable, files).is_empty() || variable(NAMED_DRIVERS).is_some();
    Some((LIBRARY, in_order(has_drivers).join(";")))
}

/// The files that name drivers, where loaders look for them: those of a folder, or a single one.
pub(super) fn manifests(
    variable: &dyn Fn(&str) -> Option<String>,
    files: impl Fn(&Path) -> Vec<PathBuf>,
) -> Vec<PathBuf> {
    let named = variable("OCL_ICD_VENDORS").or_else(|| variable("OPENCL_VENDOR_PATH"));
    let named = PathBuf::from(named.as_deref().unwrap_or("/etc/OpenCL/vendors"));
    let is_manifest = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "icd");
    if is_manifest(&named) {
        return vec![named];
    }
    files(&named).into_iter().filter(is_manifest).collect()
}

/// All libraries, the one to try first in front: a loader that knows no driver would hide the vendor's.
fn in_order(has_drivers: bool) -> Vec<String> {
    let loaders = ["libOpenCL.so.1", "libOpenCL.so"].map(str::to_owned);
    let own = of_vendors().map(|path| path.to_string_lossy().into_owned());
    match has_drivers {
        true => loaders.into_iter().chain(own).collect(),
        false => own.chain(loaders).collect(),
    }
}

/// The vendors' own: any, ARM's, Imagination's and Qualcomm's.
pub(super) fn of_vendors() -> impl Iterator<Item = PathBuf> {
    let lib = if cfg!(target_pointer_width = "64") { "lib64" } else { "lib" };
    let own = ["libOpenCL.so", "egl/libGLES_mali.so", "libPVROCL.so", "libOpenCL_adreno.so"];
    let all = ["/vendor", "/system/vendor"].map(|folder| Path::new(folder).join(lib));
    all.into_iter().flat_map(move |folder| own.map(|file| folder.join(file)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loader_without_drivers_does_not_hide_a_vendors_library() {
        let [with, without] = [true, false].map(in_order);
        assert_eq!((with.len(), with[0].as_str()), (10, "libOpenCL.so.1"));
        assert!(without[0].starts_with("/vendor/lib") && without[0].ends_with("/libOpenCL.so"));
        assert_eq!(without[8..], with[..2]);
        assert!(with.iter().any(|path| path.ends_with("egl/libGLES_mali.so")));
    }
}
