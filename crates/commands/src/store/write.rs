//! Writing results: each line is on its way to the disk before the next case begins.

use super::read::{Run, read};
use gpubench_core::error::{Error, Result};
use gpubench_core::record::{Footer, Header, Line, Record};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long records may lie in the system's cache only. A dead process loses nothing of them;
/// a power cut may.
const SYNC_EVERY: Duration = Duration::from_secs(5);

/// A result file that is being written.
#[derive(Debug)]
pub struct Writer {
    file: File,
    path: PathBuf,
    /// Bytes of whole lines: what is left of the file when a write fails half-way.
    whole: u64,
    /// Whether what is behind them must go before the next line is written.
    torn: bool,
    records: u64,
    synced: Instant,
}

impl Writer {
    /// Creates `<folder>/<stem>.jsonl`, or `<stem>-2.jsonl` and so on where that exists, and
    /// writes the header.
    ///
    /// # Errors
    /// `Io` when the folder or file cannot be made or written.
    pub fn create(folder: &Path, stem: &str, header: &Header) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
        let mut n = 1;
        loop {
            let suffix = if n == 1 { String::new() } else { format!("-{n}") };
            let path = folder.join(format!("{stem}{suffix}.jsonl"));
            match Self::create_at(&path, header) {
                Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => {
                    n += 1;
                }
                other => return other,
            }
        }
    }

    /// Creates exactly this file, which must not exist, and writes the header.
    ///
    /// # Errors
    /// `Io` when it exists or cannot be written.
    pub fn create_at(path: &Path, header: &Header) -> Result<Self> {
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        let file = file.map_err(|e| Error::io(path, e))?;
        claim(&file, path)?;
        let (owned, synced) = (path.to_owned(), Instant::now());
        let mut writer = Self { file, path: owned, whole: 0, torn: false, records: 0, synced };
        let written = writer.line(&Line::Header(Box::new(header.clone())));
        if let Err(error) = written.and_then(|()| writer.sync()) {
            // Without a header it is no result: leave nothing behind.
            let _ = std::fs::remove_file(path);
            return Err(error);
        }
        Ok(writer)
    }

    /// Opens a run that was cut short, to go on behind its last whole line; nothing is changed
    /// before there is something to write.
    ///
    /// # Errors
    /// As [`read`]; `Usage` when the run is complete or still going on; `Io` when it cannot be
    /// written.
    pub fn resume(path: &Path) -> Result<(Self, Run)> {
        let io = |e| Error::io(path, e);
        // Read first: what is no file is not to be opened for writing.
        read(path)?;
        let file = OpenOptions::new().write(true).open(path).map_err(io)?;
        claim(&file, path)?;
        let run = read(path)?;
        if run.is_complete() {
            return Err(Error::Usage(format!("{} is complete: nothing to resume", path.display())));
        }
        if run.unread {
            // To go on would be to cut off what was not read.
            let why = "it could not be read to its end";
            return Err(Error::Usage(format!("{} is not resumed: {why}", path.display())));
        }
        let writer = Self {
            file,
            path: path.to_owned(),
            whole: run.whole,
            torn: true,
            records: run.records.len() as u64,
            synced: Instant::now(),
        };
        Ok((writer, run))
    }

    /// Records in the file.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Appends a record.
    ///
    /// # Errors
    /// `Io` when it cannot be written (disk full); the file then ends with the record before.
    pub fn append(&mut self, record: &Record) -> Result<()> {
        self.line(&Line::Record(Box::new(record.clone())))?;
        self.records += 1;
        if self.synced.elapsed() >= SYNC_EVERY { self.sync() } else { Ok(()) }
    }

    /// Appends the footer: the run is complete.
    ///
    /// # Errors
    /// As [`Writer::append`].
    pub fn finish(mut self, footer: &Footer) -> Result<PathBuf> {
        self.line(&Line::Footer(footer.clone()))?;
        self.sync()?;
        Ok(self.path)
    }

    /// Leaves the run as it is, to be resumed.
    ///
    /// # Errors
    /// `Io` when the disk does not take it.
    pub fn leave(mut self) -> Result<PathBuf> {
        self.sync()?;
        Ok(self.path)
    }

    /// Removes the file of a run that never began.
    pub fn discard(self) {
        let _ = std::fs::remove_file(&self.path);
    }

    fn line(&mut self, line: &Line) -> Result<()> {
        let mut bytes =
            serde_json::to_vec(line).map_err(|e| Error::io(&self.path, io::Error::other(e)))?;
        bytes.push(b'\n');
        if std::mem::take(&mut self.torn) {
            self.cut().map_err(|e| Error::io(&self.path, e))?;
        }
        if let Err(e) = self.file.write_all(&bytes) {
            // A full disk may have taken half of it.
            let _ = self.cut();
            return Err(Error::io(&self.path, e));
        }
        self.whole += bytes.len() as u64;
        Ok(())
    }

    /// Takes off what is behind the last whole line.
    fn cut(&mut self) -> io::Result<()> {
        self.file.set_len(self.whole)?;
        self.file.seek(SeekFrom::Start(self.whole)).map(drop)
    }

    fn sync(&mut self) -> Result<()> {
        self.synced = Instant::now();
        match self.file.sync_data() {
            // Pipes and some network file systems cannot sync; what they can, they did.
            Err(e) if e.kind() == io::ErrorKind::InvalidInput => Ok(()),
            other => other.map_err(|e| Error::io(&self.path, e)),
        }
    }
}

/// Makes the file this writer's own for as long as it lives, so that no run is resumed while it
/// goes on. Elsewhere than on Unix a lock would keep readers out too.
#[cfg(unix)]
fn claim(file: &File, path: &Path) -> Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(std::fs::TryLockError::WouldBlock) => {
            Err(Error::Usage(format!("{} is still being written by another run", path.display())))
        }
        // Some network file systems have no locks.
        Err(std::fs::TryLockError::Error(_)) => Ok(()),
    }
}

#[cfg(not(unix))]
fn claim(_: &File, _: &Path) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::sample::{device, header, key, record};

    fn footer() -> Footer {
        Footer { ended: "2025-01-31T12:31:05Z".into(), wall: 60.0, estimated: None, records: 2 }
    }

    fn two_records(folder: &Path) -> Writer {
        let mut writer = Writer::create(folder, "x", &header(vec![device("sim")])).unwrap();
        writer.append(&record(key("a", 1), 1e-3)).unwrap();
        writer.append(&record(key("a", 2), 2e-3)).unwrap();
        writer
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = two_records(folder.path()).finish(&footer()).unwrap();
        let run = read(&path).unwrap();
        assert_eq!(run.header, header(vec![device("sim")]));
        assert_eq!(run.records, [record(key("a", 1), 1e-3), record(key("a", 2), 2e-3)]);
        assert_eq!(run.footer, Some(footer()));
        assert!(run.warnings.is_empty());
        assert!(Writer::resume(&path).is_err(), "a complete run cannot be resumed");
    }

    #[test]
    fn a_run_of_which_records_are_missing_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = two_records(folder.path()).finish(&footer()).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        std::fs::write(&path, [lines[0], lines[2], lines[3]].join("\n") + "\n").unwrap();
        let (mut writer, run) = Writer::resume(&path).unwrap();
        let warning = run.warnings[0].to_string();
        assert!(warning.ends_with("the run ended with 2 records, and 1 can be read"), "{warning}");
        writer.append(&record(key("a", 1), 1e-3)).unwrap();
        writer.finish(&footer()).unwrap();
        let run = read(&path).unwrap();
        assert!(run.is_complete() && run.warnings.is_empty(), "{run:?}");
    }

    #[test]
    fn two_runs_of_one_second_get_two_files() {
        let folder = tempfile::tempdir().unwrap();
        let header = header(vec![]);
        let first = Writer::create(folder.path(), "x", &header).unwrap();
        let second = Writer::create(folder.path(), "x", &header).unwrap();
        assert_eq!(first.path, folder.path().join("x.jsonl"));
        assert_eq!(second.path, folder.path().join("x-2.jsonl"));
        assert!(Writer::create_at(&first.path, &header).is_err());
    }

    #[test]
    fn a_file_cut_at_any_byte_loses_one_line_at_most_and_can_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = two_records(folder.path()).leave().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let header_end = bytes.iter().position(|&b| b == b'\n').unwrap() + 1;
        for cut in (header_end..bytes.len()).step_by(7) {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let whole = bytes[..cut].iter().filter(|&&b| b == b'\n').count() - 1;
            let (mut writer, run) = Writer::resume(&path).unwrap();
            assert_eq!(run.records.len(), whole);
            assert_eq!(run.warnings.len(), usize::from(bytes[cut - 1] != b'\n'));
            writer.append(&record(key("b", 1), 1.0)).unwrap();
            writer.leave().unwrap();
            let again = read(&path).unwrap();
            assert_eq!(again.records.len(), whole + 1);
            assert!(again.warnings.is_empty());
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_run_that_goes_on_is_not_resumed() {
        let folder = tempfile::tempdir().unwrap();
        let writer = two_records(folder.path());
        let before = std::fs::read(&writer.path).unwrap();
        let error = Writer::resume(&writer.path).unwrap_err();
        assert!(error.to_string().contains("still being written"), "{error}");
        assert_eq!(std::fs::read(&writer.path).unwrap(), before);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error_and_not_a_panic() {
        // /dev/full exists, so creating it exclusively fails; append to it through the back door.
        let file = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let path = PathBuf::from("/dev/full");
        let synced = Instant::now();
        let mut writer = Writer { file, path, whole: 0, torn: false, records: 0, synced };
        let error = writer.append(&record(key("a", 1), 1e-3)).unwrap_err();
        assert!(error.to_string().contains("No space left"), "{error}");
        assert_eq!(writer.records(), 0);
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let error = Writer::create(&file.join("results"), "x", &header(vec![])).unwrap_err();
        assert!(error.to_string().contains("results"), "{error}");
    }
}
