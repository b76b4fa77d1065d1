//! Why a device may be missing: what is installed, what of it works, and what to do.
//!
//! Everything is read below a root directory and through closures, so that a test can pretend
//! any machine.

mod advice;
mod architecture;
mod hardware;
mod loads;

pub(crate) use advice::Api;
pub use advice::Distribution;
pub(crate) use loads::REINSTALL;
pub use loads::load_here;

use serde::Serialize;
use std::path::{Path, PathBuf};

/// How good a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be.
    Ok,
    /// It may keep a device away.
    Warning,
    /// It does keep devices away.
    Problem,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it belongs to: `OpenCL`, `Vulkan`, `hardware` or `devices`.
    pub area: &'static str,
    /// How good it is.
    pub state: State,
    /// What was found.
    pub found: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub todo: Option<String>,
}

impl Finding {
    /// Something as it should be.
    pub fn ok(area: &'static str, found: impl Into<String>) -> Self {
        Self { area, state: State::Ok, found: found.into(), todo: None }
    }

    /// Something that may keep a device away, and what to do.
    pub fn warning(area: &'static str, found: impl Into<String>, todo: impl Into<String>) -> Self {
        Self { area, state: State::Warning, found: found.into(), todo: Some(todo.into()) }
    }

    /// Something that keeps devices away, and what to do.
    pub fn problem(area: &'static str, found: impl Into<String>, todo: impl Into<String>) -> Self {
        Self { area, state: State::Problem, found: found.into(), todo: Some(todo.into()) }
    }
}

/// The machine as the doctor sees it.
pub struct System<'a> {
    /// Where `/` is.
    pub root: PathBuf,
    /// Looks an environment variable up.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// Loads a library by name or path, or says why it cannot be.
    pub load: &'a dyn Fn(&Path) -> Result<(), String>,
    /// Whether this user may read and write a file.
    pub access: &'a dyn Fn(&Path) -> bool,
}

/// A system, and what is known of it beforehand.
pub struct Machine<'a> {
    pub(crate) system: &'a System<'a>,
    pub(crate) here: Distribution,
    gpus: Vec<hardware::Gpu>,
}

impl System<'_> {
    /// Everything found, area by area.
    pub fn examine(&self) -> Vec<Finding> {
        let (gpus, here) = (hardware::gpus(self), Distribution::of(self));
        let machine = Machine { system: self, gpus, here };
        let backends = crate::all();
        let of_apis = backends.iter().flat_map(|backend| backend.doctor(&machine));
        of_apis.chain(hardware::examine(&machine)).collect()
    }

    /// Where an absolute path of the machine is found.
    fn place(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// A text file; `None` where it cannot be read.
    pub(crate) fn read(&self, path: impl AsRef<Path>) -> Option<String> {
        let bytes = std::fs::read(self.place(path)).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.place(path).exists()
    }

    /// Paths of the entries of a directory, as the machine names them, in order.
    pub(crate) fn list(&self, directory: impl AsRef<Path>) -> Vec<PathBuf> {
        let directory = directory.as_ref();
        let Ok(entries) = std::fs::read_dir(self.place(directory)) else { return vec![] };
        let mut paths: Vec<_> =
            entries.flatten().map(|entry| directory.join(entry.file_name())).collect();
        paths.sort();
        paths
    }

    /// An environment variable that is set and not empty.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        (self.env)(name).filter(|value| !value.is_empty())
    }
}
