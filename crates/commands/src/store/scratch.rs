//! A folder for what a run needs only while it lasts: expected results, shared by its workers.

use gpubench_core::error::{Error, Result};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A private folder, gone when dropped. What a killed run left
/// behind, the next one takes away.
#[derive(Debug)]
pub struct Scratch {
    folder: tempfile::TempDir,
    /// Locked while the folder is in use; the system unlocks it when the process dies.
    _lock: File,
}

const PREFIX: &str = "gpubench-scratch-";
const LOCK: &str = "in-use";
/// The lock before it is held.
const UNNAMED: &str = "beginning";
const NOT_UTF8: &str = "a folder for temporary files needs a name in UTF-8";

impl Scratch {
    /// Makes one.
    ///
    /// # Errors
    /// `Io` when the temporary folder cannot be written.
    pub fn new() -> Result<Self> {
        Self::next_to(&std::env::temp_dir())
    }

    /// Makes one in `root`, for what is to lie on its disk.
    ///
    /// # Errors
    /// `Io` when `root` cannot be written, or has no locks, as some network file systems.
    pub fn next_to(root: &Path) -> Result<Self> {
        let io = |e| Error::io(root, e);
        let prefix = format!("{}{}-", prefix(), std::process::id());
        let folder = tempfile::Builder::new().prefix(&prefix).tempdir_in(root).map_err(io)?;
        keep_private(folder.path()).map_err(io)?;
        // Workers get its path as text.
        if folder.path().to_str().is_none() {
            return Err(io(std::io::Error::new(ErrorKind::InvalidFilename, NOT_UTF8)));
        }
        let lock = lock_in(folder.path()).map_err(io)?;
        sweep(root, &self::prefix());
        Ok(Self { folder, _lock: lock })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// The lock of a folder in use. It gets its name when it is held: another run that is just beginning would take the
/// folder away if it saw the lock before.
fn lock_in(folder: &Path) -> std::io::Result<File> {
    let unnamed = folder.join(UNNAMED);
    let lock = File::create(&unnamed)?;
    lock.lock()?;
    std::fs::rename(unnamed, folder.join(LOCK))?;
    Ok(lock)
}

/// Its owner's alone to use, whatever folders are made with here: one that its owner may not enter could not
/// even be removed.
#[cfg(unix)]
fn keep_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, PermissionsExt::from_mode(0o700))
}

#[cfg(not(unix))]
fn keep_private(_: &Path) -> std::io::Result<()> {
    Ok(())
}

/// What the names of this machine's folders begin with: of another's, which may share the disk, locks show
/// nothing certain.
fn prefix() -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    format!("{PREFIX}{}-", machine().chars().map(plain).take(64).collect::<String>())
}

#[cfg(unix)]
fn machine() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn machine() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

/// A run that is just beginning has its lock file after so long.
const BEGUN: Duration = Duration::from_secs(60);

/// Removes the folders of runs that died, also of those that died before they had a lock file.
fn sweep(root: &Path, prefix: &str) {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let ours = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix))
    };
    for path in entries.map(|entry| entry.path()).filter(ours) {
        let abandoned = match File::open(path.join(LOCK)) {
            Ok(lock) => lock.try_lock_shared().is_ok(),
            Err(error) => error.kind() == ErrorKind::NotFound && is_old(&path),
        };
        if abandoned {
            let _ = std::fs::remove_dir_all(&path);
        }
    }
}

fn is_old(folder: &Path) -> bool {
    let changed = std::fs::metadata(folder).and_then(|data| data.modified());
    changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age > BEGUN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_itself_away_and_what_a_dead_run_left() {
        let root = tempfile::tempdir().unwrap();
        let left = |name: String| {
            let folder = root.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join(LOCK), "").unwrap();
            folder
        };
        let (dead, elsewhere) =
            (left(prefix() + "1-dead"), left(format!("{PREFIX}else.where-1-a")));
        let first = Scratch::next_to(root.path()).unwrap();
        assert!(!dead.exists() && elsewhere.exists());
        let second = Scratch::next_to(root.path()).unwrap();
        assert!(first.path().exists() && second.path().exists());
        let path = first.path().to_owned();
        drop(first);
        assert!(!path.exists());
    }

    #[test]
    fn runs_that_begin_at_once_do_not_take_each_other_away() {
        let root = tempfile::tempdir().unwrap();
        let begin = || (0..200).all(|_| Scratch::next_to(root.path()).unwrap().path().exists());
        std::thread::scope(|scope| {
            let runs = [0; 4].map(|_| scope.spawn(begin));
            assert!(runs.map(|run| run.join().unwrap()).iter().all(|kept| *kept));
        });
    }

    #[cfg(unix)]
    #[test]
    fn a_name_that_is_no_text_is_rejected_and_nothing_is_left_there() {
        use std::os::unix::ffi::OsStrExt;
        let root = tempfile::tempdir().unwrap();
        let odd = root.path().join(std::ffi::OsStr::from_bytes(b"a\xff"));
        std::fs::create_dir(&odd).unwrap();
        let error = Scratch::next_to(&odd).unwrap_err().to_string();
        assert!(error.contains("UTF-8"), "{error}");
        assert_eq!(std::fs::read_dir(&odd).unwrap().count(), 0);
    }

    #[test]
    fn what_died_before_it_had_a_lock_goes_after_a_minute() {
        let root = tempfile::tempdir().unwrap();
        let [beginning, dead] = ["2-a", "3-b"].map(|name| root.path().join(prefix() + name));
        [&beginning, &dead].iter().for_each(|folder| std::fs::create_dir(folder).unwrap());
        let long_ago = std::time::SystemTime::now() - 2 * BEGUN;
        File::open(&dead).unwrap().set_modified(long_ago).unwrap();
        let _scratch = Scratch::next_to(root.path()).unwrap();
        assert!(beginning.exists() && !dead.exists());
    }
}
