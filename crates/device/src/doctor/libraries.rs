//! Whether libraries load.

use super::System;
use std::path::{Path, PathBuf};

/// Loads a library into this process and unloads it again. A broken one may end the process:
/// the doctor does this in a process of its own.
///
/// # Errors
/// What the system's loader says.
#[expect(unsafe_code, reason = "loading a library runs its initialisers")]
pub fn load_here(library: &Path) -> Result<(), String> {
    // SAFETY: drivers are made to be loaded by programs that know nothing of them; this
    // process does nothing else, and nothing of the library is used.
    let loaded = unsafe { libloading::Library::new(library) };
    loaded.map(drop).map_err(|error| error.to_string())
}

impl System<'_> {
    /// Loads a library as a driver manifest names it: a bare name is searched for where the
    /// system keeps libraries, an absolute path is taken as it is.
    ///
    /// # Errors
    /// Why it does not load.
    pub(super) fn loads(&self, library: &Path) -> Result<(), String> {
        if library.is_absolute() {
            let place: PathBuf = self.place(library);
            if !place.exists() {
                return Err("there is no such file".into());
            }
            return (self.load)(&place);
        }
        (self.load)(library)
    }
}
