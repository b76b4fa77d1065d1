//! A result file, torn, corrupt or of another version: every line is read or named.
#![no_main]

mod file;
mod limits;

use gpubench::analyse::{ReportInput, Source};
use gpubench::report::terminal::Style;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| limits::within(|| {
    if let Ok(run) = gpubench::store::read(&file::holding(data, "jsonl")) {
        assert!(run.whole as usize <= data.len());
        let _ = gpubench::analyse::collect(&run.header, &run.records);
        let _ = gpubench::analyse::aggregate(&run.records);
        let (name, footer, warnings) = ("fuzz".to_owned(), None, vec![]);
        let source = Source { name, header: &run.header, records: &run.records, footer, warnings };
        let input = ReportInput::new(vec![source]);
        let sections = gpubench::measure::registry::sections(&input);
        let _ = gpubench::report::terminal::text(&sections, Style::default());
    }
}));
