//! A report as Markdown, short enough for a pull request.

use super::labels::{counts, suites};
use super::render::markdown::{cut, escaped};
use gpubench_analysis::ReportInput;
use gpubench_document::Section;

/// The most that one comment of a code forge takes is about 65,000 characters.
const MAX_BYTES: usize = 50_000;
/// A longer section is folded.
const MAX_LINES: usize = 120;
/// How many rows of each table are tried, one after the other.
const ROWS: [usize; 4] = [usize::MAX, 100, 30, 10];

/// The whole report. Tables are cut where a section has no room, and what has none even so is
/// counted at the end.
pub fn markdown(input: &ReportInput, sections: &[Section]) -> String {
    let counts = counts(&input.rows).text_with(Clone::clone);
    let mut out = format!("## gpubench: {}\n\n{}\n", escaped(&suites(input)), escaped(&counts));
    let mut skipped = 0;
    for one in sections {
        let room = MAX_BYTES.saturating_sub(out.len());
        let texts = ROWS.iter().map(|&rows| folded_where_long(one, rows));
        match texts.into_iter().find(|text| text.len() <= room) {
            Some(text) => out += &text,
            None => skipped += 1,
        }
    }
    match skipped {
        0 => out,
        n => out + &format!("\n{n} more sections are in the other formats.\n"),
    }
}

fn folded_where_long(section: &Section, rows: usize) -> String {
    let open = cut(section, 3, rows);
    if open.lines().count() < MAX_LINES { open } else { cut(&section.clone().folded(), 3, rows) }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Sample, hostile};

    fn of(sample: &Sample) -> String {
        let (input, ranking) = (sample.input(), sample.ranking());
        let experiments = vec![crate::render::sample::section()];
        let all = crate::sections(&input, experiments, &ranking, &sample.compared());
        super::markdown(&input, &all)
    }

    #[test]
    fn a_pull_request_reads_well() {
        insta::assert_snapshot!(of(&Sample::new()));
    }

    #[test]
    fn hostile_names_stay_text() {
        let text = of(&Sample::named(&hostile()));
        assert!(!text.contains("<img") && !text.contains("</script"), "{text}");
        assert!(text.contains("&lt;/script&gt;&lt;img"));
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}']));
        assert!(text.len() < 65_000, "{} characters", text.len());
    }
}
