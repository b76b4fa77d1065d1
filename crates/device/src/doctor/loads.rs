//! Whether libraries load.

use super::{Finding, System};
use gpubench_core::text::printable;
use std::path::{Path, PathBuf};

/// What to do about a driver manifest that is of no use.
pub(crate) const REINSTALL: &str =
    "reinstall the driver that the file belongs to, or remove the file";

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
    pub(crate) fn loads(&self, library: &Path) -> Result<(), String> {
        if library.is_absolute() {
            let place: PathBuf = self.place(library);
            if !place.exists() {
                return Err("there is no such file".into());
            }
            return (self.load)(&place);
        }
        (self.load)(library)
    }

    /// Whether an API's loader loads; `todo` is how to get it.
    pub(super) fn loader(&self, area: &'static str, name: &str, todo: String) -> Finding {
        match (self.load)(Path::new(name)) {
            Ok(()) => Finding::ok(area, format!("loader {name} loads")),
            Err(error) => {
                Finding::problem(area, format!("loader: {}", printable(&error, 300)), todo)
            }
        }
    }

    /// Whether the driver at `library` loads, which `manifest` calls `name`.
    pub(crate) fn driver(
        &self,
        area: &'static str,
        manifest: &str,
        name: &str,
        library: &Path,
    ) -> Finding {
        match self.loads(library) {
            Ok(()) => Finding::ok(area, format!("{manifest}: {name} loads")),
            Err(_) if self.is_foreign(Path::new(manifest), library) => Finding::ok(
                area,
                format!("{manifest}: {name} is for programs of another architecture"),
            ),
            Err(error) => {
                let error = printable(&error, 300);
                let found = format!("{manifest}: {name} does not load: {error}");
                Finding::problem(area, found, REINSTALL)
            }
        }
    }
}
