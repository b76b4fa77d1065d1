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
fn what_gzip_packed_is_to_be_unpacked_first() {
    // Its first line may end anywhere or nowhere.
    for rest in [&b"\x08\x00line\n"[..], b"\x08\x00"] {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[b"\x1f\x8b", rest].concat()).unwrap();
        let Err(Error::Suite(mistakes)) = read(file.path()) else { panic!("it was read") };
        assert_eq!(mistakes[0].message, "this is compressed (gzip)");
        assert!(mistakes[0].help.as_deref().unwrap().contains("gunzip"), "{:?}", mistakes[0]);
    }
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
    assert!(run.warnings[0].to_string().contains(":2: a sample of -1 s"), "{}", run.warnings[0]);
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
