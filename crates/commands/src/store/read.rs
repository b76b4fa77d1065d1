//! Reading results, whoever wrote them and however they were cut short.

mod header;

use super::lines::{Lines, Piece};
use super::run_file::{Part, RunFile};
use gpubench_analysis::derive_flags;
use gpubench_core::error::{Error, Result};
use gpubench_core::record::{Footer, Header, Line, Noise, Record};
use gpubench_core::text::counted;
use gpubench_core::workload::CaseKey;
use header::{header, rejected, without_place};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The longest line that is read: a record of 200 samples and a long build log stays far below.
pub(super) const LONGEST: usize = 4 << 20;
/// How a file that gzip packed begins.
const GZIP: &[u8] = &[0x1f, 0x8b];
/// A file with more lines than this that cannot be used is no result.
const MAX_FLAWS: u32 = 1000;

/// A result file in memory.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The file.
    pub path: PathBuf,
    /// Its first line.
    pub header: Header,
    /// Its records, in the order in which they were made; behind them those that other files hold of the run.
    pub records: Vec<Record>,
    /// What repeated runs taught, in a baseline.
    pub noise: Option<Noise>,
    /// Its last line; `None` where the run was cut short.
    pub footer: Option<Footer>,
    /// What could not be read.
    pub warnings: Vec<Flaw>,
    /// Bytes of the file up to the end of its last whole line: where writing may go on.
    pub whole: u64,
    /// Whether reading stopped before the end of the file.
    pub unread: bool,
}

impl Run {
    /// The file's name without its ending.
    pub fn name(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Whether it came to its end, and all of its records are here.
    pub fn is_complete(&self) -> bool {
        let records = self.records.len() as u64;
        self.footer.as_ref().is_some_and(|footer| footer.records <= records)
    }
}

/// A line that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// The file.
    pub path: PathBuf,
    /// The line, counted from 1.
    pub line: u64,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.message)
    }
}

/// The lines behind a header, read one by one; behind these the records that other files hold of the run.
#[derive(Debug)]
pub struct Records {
    path: PathBuf,
    lines: Lines<BufReader<File>>,
    devices: usize,
    version: u32,
    known: HashMap<CaseKey, KnownCase, foldhash::fast::RandomState>,
    /// Number of the last record's case.
    case: usize,
    line: u64,
    whole: u64,
    flaws: u32,
    ended: bool,
    /// Whether the file's own lines have all been read.
    own_read: bool,
    has_footer: bool,
    parts: VecDeque<Part>,
    /// The part that is being read, and which lines of it.
    part: Option<(Box<Records>, BTreeSet<u64>)>,
}

/// What was read of a case.
#[derive(Debug)]
struct KnownCase {
    number: usize,
    /// The line of every record so far, by device and round: two of one would count as two rounds.
    lines: BTreeMap<(usize, u32), u64>,
}

impl KnownCase {
    /// The round after those that a device has.
    fn next_round(&self, device: usize) -> u32 {
        let last = self.lines.range(..=(device, u32::MAX)).next_back();
        last.filter(|((of, _), _)| *of == device).map_or(0, |((_, round), _)| round + 1)
    }
}

/// Opens a result file and reads its header.
///
/// # Errors
/// `Io` when it cannot be read or is no regular file; `Suite` with the place when it is no
/// result file, or one of a newer format.
pub fn open(file: impl Into<RunFile>) -> Result<(Header, Records)> {
    let RunFile { path, parts } = file.into();
    let (header, mut records) = open_one(&path)?;
    records.parts = parts.into();
    Ok((header, records))
}

fn open_one(path: &Path) -> Result<(Header, Records)> {
    let meta = std::fs::metadata(path).map_err(|e| Error::io(path, e))?;
    if let Some(why) = gpubench_core::text::no_file(&meta) {
        return Err(Error::io(path, std::io::Error::other(why)));
    }
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    let mut file = BufReader::with_capacity(1 << 16, file);
    if file.fill_buf().is_ok_and(|begin| begin.starts_with(GZIP)) {
        let help = Some("unpack it with gunzip first");
        return Err(rejected(path, b"", 0, "this is compressed (gzip)", help));
    }
    let first = Lines::new((&mut file).take(LONGEST as u64), LONGEST).next_line();
    let first = first.map_err(|e| Error::io(path, e))?;
    let (first, whole) = first.ok_or_else(|| rejected(path, b"", 0, "the file is empty", None))?;
    let Piece::Whole(first) = first else {
        return Err(rejected(
            path,
            &first.into_bytes(),
            0,
            "the first line has no end",
            Some("the run was cut short before its first record; delete the file"),
        ));
    };
    // Some editors begin a file with a mark of its byte order.
    let first = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&first);
    let (header, version) = header(path, first)?;
    let records = Records {
        path: path.to_owned(),
        lines: Lines::new(file, LONGEST),
        devices: header.devices.len(),
        version,
        known: HashMap::default(),
        case: 0,
        line: 1,
        whole,
        flaws: 0,
        ended: false,
        own_read: false,
        has_footer: false,
        parts: VecDeque::new(),
        part: None,
    };
    Ok((header, records))
}

/// Reads a whole result file, and flags what its records say of each other.
///
/// # Errors
/// As [`open`]; a line that cannot be used is a warning.
pub fn read(file: impl Into<RunFile>) -> Result<Run> {
    let file = file.into();
    let (header, mut lines) = open(&file)?;
    let mut run = Run { path: file.path, header, ..Run::default() };
    for line in &mut lines {
        match line {
            Ok(Line::Record(record)) => run.records.push(*record),
            Ok(Line::Noise(noise)) => run.noise = Some(noise),
            Ok(Line::Footer(footer)) => run.footer = Some(footer),
            Ok(Line::Header(_)) => {}
            Err(flaw) => run.warnings.push(flaw),
        }
    }
    (run.whole, run.unread) = (lines.whole, lines.ended);
    if let Some(footer) = run.footer.as_ref().filter(|_| !run.is_complete()) {
        let wanted = counted(usize::try_from(footer.records).unwrap_or(usize::MAX), "record");
        let line = lines.line;
        let message = format!("the run ended with {wanted}, and {} can be read", run.records.len());
        run.warnings.push(Flaw { path: run.path.clone(), line, message });
    }
    derive_flags(&run.header, &mut run.records);
    Ok(run)
}

impl Iterator for Records {
    type Item = Result<Line, Flaw>;

    fn next(&mut self) -> Option<Self::Item> {
        if !self.own_read {
            match self.next_own() {
                None => self.own_read = true,
                line => return line,
            }
        }
        self.next_of_parts()
    }
}

impl Records {
    /// Number of the case of the record that was read last: from 0, in the order in which they were met.
    pub fn case(&self) -> usize {
        self.case
    }

    /// Number of the line that was read last, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    fn next_own(&mut self) -> Option<Result<Line, Flaw>> {
        if self.ended {
            return None;
        }
        self.line += 1;
        let line = self.next_line()?;
        self.flaws += u32::from(line.is_err());
        if self.flaws > MAX_FLAWS {
            self.ended = true;
            let message = format!("more than {MAX_FLAWS} lines cannot be used; the rest is unread");
            return Some(Err(self.flaw(message)));
        }
        Some(line)
    }

    fn next_of_parts(&mut self) -> Option<Result<Line, Flaw>> {
        loop {
            let Some((part, wanted)) = &mut self.part else {
                let Part { path, lines } = self.parts.pop_front()?;
                match open_one(&path) {
                    Ok((_, part)) => self.part = Some((Box::new(part), lines)),
                    Err(error) => {
                        return Some(Err(Flaw { path, line: 1, message: error.to_string() }));
                    }
                }
                continue;
            };
            match part.next_own() {
                None => self.part = None,
                Some(Err(flaw)) => return Some(Err(flaw)),
                Some(Ok(Line::Record(record))) if wanted.contains(&part.line) => {
                    let (path, line) = (part.path.clone(), part.line);
                    let record = self.as_another(record);
                    return Some(record.map_err(|message| Flaw { path, line, message }));
                }
                // The run may have ended behind what the first file has of it.
                Some(Ok(line @ Line::Footer(_))) if !self.has_footer => {
                    self.has_footer = true;
                    return Some(Ok(line));
                }
                Some(Ok(_)) => {}
            }
        }
    }

    /// A record of a part; where its round is taken, by the same run resumed elsewhere, one of the round behind the last.
    ///
    /// # Errors
    /// That there are too many.
    fn as_another(&mut self, mut record: Box<Record>) -> Result<Line, String> {
        if self.enter(&record).is_err() {
            record.round = self.known[&record.key].next_round(record.device);
            record.validation_error().map_or(Ok(()), |why| Err(format!("{why}; skipped")))?;
            // No record has this round.
            let _ = self.enter(&record);
        }
        Ok(Line::Record(record))
    }

    fn next_line(&mut self) -> Option<Result<Line, Flaw>> {
        match self.lines.next_line() {
            Ok(None) => None,
            Ok(Some((Piece::Whole(line), taken))) => {
                self.whole += taken;
                let parsed = self.parse(&line);
                self.lines.reuse(line);
                Some(parsed)
            }
            Ok(Some((Piece::TooLong(_), taken))) => {
                self.whole += taken;
                Some(Err(self.flaw(format!("longer than {LONGEST} bytes; skipped"))))
            }
            Ok(Some((Piece::Torn(_), _))) => {
                let message = "the last line has no end: the run was cut short while writing it";
                Some(Err(self.flaw(message)))
            }
            Err(e) => {
                self.ended = true;
                Some(Err(self.flaw(format!("reading failed: {e}"))))
            }
        }
    }

    fn parse(&mut self, line: &[u8]) -> Result<Line, Flaw> {
        match Line::parse(line, self.version) {
            Ok(Line::Header(_)) => {
                // What follows counts devices of its own.
                self.ended = true;
                Err(self.flaw(
                    "a second header: another run begins here and is not read; give it a file of its own",
                ))
            }
            Ok(Line::Record(record)) if record.device >= self.devices => Err(self.flaw(format!(
                "a record of device {}, but the header lists {}; skipped",
                record.device, self.devices
            ))),
            Ok(Line::Record(record)) => self.once(record),
            Ok(Line::Noise(noise)) => {
                self.check(noise.validation_error())?;
                Ok(Line::Noise(noise))
            }
            Ok(Line::Footer(footer)) => {
                self.check(footer.validation_error())?;
                self.has_footer = true;
                Ok(Line::Footer(footer))
            }
            Err(e) => Err(self.flaw(format!("no record: {}; skipped", without_place(&e)))),
        }
    }

    /// A record that can have been measured, and stands in the file for the first time.
    fn once(&mut self, record: Box<Record>) -> Result<Line, Flaw> {
        self.check(record.validation_error())?;
        let first = self.enter(&record);
        first.map(|()| Line::Record(record)).map_err(|first| {
            self.flaw(format!("the same case, device and round as line {first}; counted once"))
        })
    }

    /// Notes a record's case and round.
    ///
    /// # Errors
    /// The line of the record that has them.
    fn enter(&mut self, record: &Record) -> Result<(), u64> {
        let round = (record.device, record.round);
        match self.known.get_mut(&record.key) {
            Some(case) => {
                self.case = case.number;
                match case.lines.entry(round) {
                    Entry::Occupied(first) => return Err(*first.get()),
                    Entry::Vacant(place) => _ = place.insert(self.line),
                }
            }
            None => {
                self.case = self.known.len();
                let case = KnownCase { number: self.case, lines: [(round, self.line)].into() };
                self.known.insert(record.key.clone(), case);
            }
        }
        Ok(())
    }

    fn check(&self, why: Option<String>) -> Result<(), Flaw> {
        why.map_or(Ok(()), |why| Err(self.flaw(format!("{why}; skipped"))))
    }

    fn flaw(&self, message: impl Into<String>) -> Flaw {
        Flaw { path: self.path.clone(), line: self.line, message: message.into() }
    }
}

#[cfg(test)]
mod tests;
