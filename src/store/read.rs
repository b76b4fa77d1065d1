//! Reading results, whoever wrote them and however they were cut short.

use super::lines::{Lines, Piece};
use gpubench_core::error::{Error, Located, Result};
use gpubench_core::hash::sha256;
use gpubench_core::record::{Footer, Header, Line, Noise, Record, VERSION};
use gpubench_core::workload::CaseKey;
use serde::Deserialize;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// The longest line that is read: a record of 200 samples and a long build log stays far below.
const LONGEST: usize = 4 << 20;
/// A file with more lines than this that cannot be used is no result.
const MAX_FLAWS: u32 = 1000;

/// A result file in memory.
#[derive(Clone, Debug)]
pub struct Run {
    /// The file.
    pub path: PathBuf,
    /// Its first line.
    pub header: Header,
    /// Its records, in the order in which they were made.
    pub records: Vec<Record>,
    /// What repeated runs taught, in a baseline.
    pub noise: Option<Noise>,
    /// Its last line; `None` where the run was cut short.
    pub footer: Option<Footer>,
    /// What could not be read.
    pub warnings: Vec<Flaw>,
    /// Bytes up to the end of the last whole line: where writing may go on.
    pub whole: u64,
    /// Whether reading stopped before the file's end.
    pub unread: bool,
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

/// The lines behind a header, read one by one.
#[derive(Debug)]
pub struct Records {
    path: PathBuf,
    lines: Lines<BufReader<File>>,
    devices: usize,
    version: u32,
    /// The line of every record so far: two of one case, device and round would count as two rounds.
    known: HashMap<(CaseKey, usize, u32), u64>,
    line: u64,
    whole: u64,
    flaws: u32,
    ended: bool,
}

/// Opens a result file and reads its header.
///
/// # Errors
/// `Io` when it cannot be read or is no regular file; `Suite` with the place when it is no
/// result file, or one of a newer format.
pub fn open(path: &Path) -> Result<(Header, Records)> {
    let meta = std::fs::metadata(path).map_err(|e| Error::io(path, e))?;
    if let Some(why) = gpubench_core::text::no_file(&meta) {
        return Err(Error::io(path, std::io::Error::other(why)));
    }
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    let mut file = BufReader::with_capacity(1 << 16, file);
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
        known: HashMap::new(),
        line: 1,
        whole,
        flaws: 0,
        ended: false,
    };
    Ok((header, records))
}

/// Reads a whole result file.
///
/// # Errors
/// As [`open`]; a line that cannot be used is a warning.
pub fn read(path: &Path) -> Result<Run> {
    let (header, mut lines) = open(path)?;
    let mut run = Run {
        path: path.to_owned(),
        header,
        records: vec![],
        noise: None,
        footer: None,
        warnings: vec![],
        whole: 0,
        unread: false,
    };
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
    Ok(run)
}

impl Iterator for Records {
    type Item = Result<Line, Flaw>;

    fn next(&mut self) -> Option<Self::Item> {
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
}

impl Records {
    fn next_line(&mut self) -> Option<Result<Line, Flaw>> {
        match self.lines.next_line() {
            Ok(None) => None,
            Ok(Some((Piece::Whole(line), taken))) => {
                self.whole += taken;
                Some(self.parse(&line))
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
            Ok(line) => Ok(line),
            Err(e) => Err(self.flaw(format!("no record: {}; skipped", without_place(&e)))),
        }
    }

    /// A record that can have been measured, and stands in the file for the first time.
    fn once(&mut self, record: Box<Record>) -> Result<Line, Flaw> {
        if let Some(why) = record.validation_error() {
            return Err(self.flaw(format!("{why}; skipped")));
        }
        match self.known.entry((record.key.clone(), record.device, record.round)) {
            Entry::Vacant(place) => {
                place.insert(self.line);
                Ok(Line::Record(record))
            }
            Entry::Occupied(place) => {
                let first = *place.get();
                Err(self
                    .flaw(format!("the same case, device and round as line {first}; counted once")))
            }
        }
    }

    fn flaw(&self, message: impl Into<String>) -> Flaw {
        Flaw { path: self.path.clone(), line: self.line, message: message.into() }
    }
}

/// A header as it would be written today, and the version of the file.
fn header(path: &Path, line: &[u8]) -> Result<(Header, u32)> {
    // The version alone first: a newer header may have any other form.
    #[derive(Deserialize)]
    enum Any {
        #[serde(rename = "header")]
        Header { version: u32 },
    }
    if line.trim_ascii().is_empty() {
        return Err(rejected(path, line, 0, "the first line is blank: this is no result", None));
    }
    let no_header = |e: serde_json::Error| {
        let message = format!("this is no result of gpubench: {}", without_place(&e));
        rejected(path, line, e.column().saturating_sub(1), &message, None)
    };
    let Any::Header { version } = serde_json::from_slice(line).map_err(no_header)?;
    if version > VERSION {
        let message =
            format!("written in format {version}; this gpubench reads formats up to {VERSION}");
        return Err(rejected(path, line, 0, &message, Some("read it with a newer gpubench")));
    }
    if version == 0 {
        return Err(rejected(path, line, 0, "written in format 0, which there never was", None));
    }
    match Line::parse(line, version).map_err(no_header)? {
        Line::Header(header) => match header.validation_error() {
            Some(why) => Err(rejected(path, line, 0, &why, None)),
            None => Ok((*header, version)),
        },
        _ => Err(rejected(path, line, 0, "the first line is no header", None)),
    }
}

/// What is wrong, without the place: a line of a file is line 1 to the parser.
fn without_place(error: &serde_json::Error) -> String {
    let why = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    why.strip_suffix(&place).unwrap_or(&why).to_owned()
}

/// What distinguishes a run from every other: a hash of its header and the line behind it. `None` where the file
/// cannot be read or begins with no header, which whoever reads it next will say.
pub fn identity(path: &Path) -> Option<[u8; 32]> {
    let meta = std::fs::metadata(path).ok()?;
    if gpubench_core::text::no_file(&meta).is_some() {
        return None;
    }
    // No more than two lines can be distinguished: a file that has no end is not searched for one.
    let file = File::open(path).ok()?.take(2 * LONGEST as u64);
    let mut lines = Lines::new(BufReader::new(file), LONGEST);
    let (Piece::Whole(mut begin), _) = lines.next_line().ok()?? else {
        return None;
    };
    begin.push(b'\n');
    begin.extend(lines.next_line().ok()??.0.into_bytes());
    Some(sha256(&begin))
}

/// A first line that is wrong at byte `at`.
fn rejected(path: &Path, line: &[u8], at: usize, message: &str, help: Option<&str>) -> Error {
    let (before, behind) = line.split_at(at.min(line.len()));
    let before = String::from_utf8_lossy(before);
    let behind = String::from_utf8_lossy(&behind[..behind.len().min(200)]);
    Error::Suite(vec![Located {
        file: path.display().to_string(),
        text: format!("{before}{behind}").into(),
        offset: before.len(),
        len: 0,
        message: message.to_owned(),
        help: help.map(str::to_owned),
    }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::sample::{device, header, key, record};
    use std::io::Write;

    fn file(lines: &[String]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for line in lines {
            writeln!(file, "{line}").unwrap();
        }
        file
    }

    fn line(line: &Line) -> String {
        serde_json::to_string(line).unwrap()
    }

    fn sample_header() -> String {
        line(&Line::Header(Box::new(header(vec![device("sim")]))))
    }

    #[test]
    fn a_corrupt_middle_line_is_named_and_skipped() {
        let good = |n| line(&Line::Record(Box::new(record(key("a", n), 1.0))));
        let mut stray = record(key("a", 1), 1.0);
        stray.device = 9;
        let stray = line(&Line::Record(Box::new(stray)));
        let file = file(&[sample_header(), good(1), "{\u{0}".into(), stray, good(2)]);
        let run = read(file.path()).unwrap();
        assert_eq!(run.records.len(), 2);
        let lines: Vec<_> = run.warnings.iter().map(|flaw| flaw.line).collect();
        assert_eq!(lines, [3, 4]);
        assert!(run.warnings[0].to_string().contains(":3: no record"), "{}", run.warnings[0]);
        assert!(run.footer.is_none());
    }

    #[test]
    fn a_record_that_stands_twice_counts_once() {
        let of = |round, seconds| Record { round, ..record(key("a", 1), seconds) };
        let lines = |records: &[Record]| {
            let records = records.iter().map(|r| line(&Line::Record(Box::new(r.clone()))));
            std::iter::once(sample_header()).chain(records).collect::<Vec<_>>()
        };
        let interval = |run: &Run| {
            let cases = gpubench_analysis::aggregate(&run.records);
            let [case] = cases.as_slice() else { panic!("{cases:?}") };
            assert_eq!(case.failed, (0, run.records.len()));
            case.time.unwrap().interval
        };
        let rounds = [of(0, 1.0), of(1, 1.1), of(2, 1.3)];
        let once = read(file(&lines(&rounds)).path()).unwrap();
        assert!(once.warnings.is_empty(), "{:?}", once.warnings);
        let twice = [&rounds[..], &rounds[..]].concat();
        let twice = read(file(&lines(&twice)).path()).unwrap();
        assert_eq!(interval(&twice), interval(&once), "no more rounds are known than before");
        assert_eq!(twice.records, once.records);
        let said: Vec<_> = twice.warnings.iter().map(|flaw| (flaw.line, &flaw.message)).collect();
        let message = |n| format!("the same case, device and round as line {n}; counted once");
        assert_eq!(said, [(5, &message(2)), (6, &message(3)), (7, &message(4))]);
        // What differs in any of the three is another record.
        let other = [of(0, 1.0), record(key("a", 2), 1.0), of(1, 1.0)];
        assert_eq!(read(file(&lines(&other)).path()).unwrap().records.len(), 3);
    }

    #[test]
    fn a_run_behind_another_is_not_read_as_its_records() {
        let good = line(&Line::Record(Box::new(record(key("a", 1), 1.0))));
        let file = file(&[sample_header(), good.clone(), sample_header(), good.clone(), good]);
        let run = read(file.path()).unwrap();
        assert_eq!((run.records.len(), run.unread, run.warnings.len()), (1, true, 1));
        assert!(run.warnings[0].to_string().contains(":3: a second header"), "{}", run.warnings[0]);
    }

    #[test]
    fn what_cannot_have_been_measured_is_named_and_skipped() {
        let mut bad = record(key("a", 1), 1.0);
        bad.measured.as_mut().unwrap().samples[0] = -1.0;
        let file = file(&[sample_header(), line(&Line::Record(Box::new(bad)))]);
        let run = read(file.path()).unwrap();
        assert!(run.records.is_empty());
        assert!(
            run.warnings[0].to_string().contains(":2: a sample of -1 s"),
            "{}",
            run.warnings[0]
        );
        let mut header = header(vec![device("sim")]);
        header.started = "yesterday".into();
        let error = read(self::file(&[line(&Line::Header(Box::new(header)))]).path());
        assert!(error.unwrap_err().to_string().contains("yesterday"));
    }

    #[test]
    fn a_mark_of_the_byte_order_is_no_part_of_the_header() {
        let file = file(&[format!("\u{feff}{}", sample_header())]);
        assert!(read(file.path()).is_ok());
    }

    #[test]
    fn a_newer_format_is_rejected_with_its_number() {
        let newer = r#"{"header":{"version":9,"anything":"else"}}"#.to_owned();
        let error = read(file(&[newer]).path()).unwrap_err().to_string();
        assert!(error.contains(":1:") && error.contains("format 9"), "{error}");
    }

    #[test]
    fn a_header_that_breaks_off_is_marked_where_it_does() {
        let cut = sample_header()[..50].to_owned();
        let error = read(file(&[cut]).path()).unwrap_err().to_string();
        assert!(error.contains(":1:50: this is no result") && !error.contains("column"), "{error}");
        let error = read(file(&[" ".into(), sample_header()]).path()).unwrap_err().to_string();
        assert!(error.contains("the first line is blank"), "{error}");
    }

    #[test]
    fn what_is_no_result_is_rejected() {
        for text in ["", "{}", "[1]", "{\"record\":{}}", "plain text", "\u{0}\u{1}"] {
            let file = file(&[text.to_owned()]);
            assert!(matches!(read(file.path()), Err(Error::Suite(_))), "{text:?}");
        }
        assert!(matches!(read(Path::new("/")), Err(Error::Io { .. })));
        assert!(matches!(read(Path::new("/dev/zero")), Err(Error::Io { .. })));
    }
}
