//! Where a user's settings lie.

use std::path::PathBuf;

/// `gpubench/NAME` in the folder where this system keeps a user's settings.
pub(super) fn file(name: &str) -> Option<PathBuf> {
    let variable = if cfg!(windows) { "APPDATA" } else { "XDG_CONFIG_HOME" };
    let named = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = named.or_else(|| Some(std::env::home_dir()?.join(".config")))?;
    Some(folder.join("gpubench").join(name))
}
