//! A report as Markdown, short enough for a pull request.

use super::labels::{counts, few};
use super::render::markdown::{escaped, section};
use gpubench_analysis::ReportInput;
use gpubench_core::text::printable;
use gpubench_document::Section;

/// The most that one comment of a code forge takes is about 65,000 characters.
const MAX_BYTES: usize = 50_000;
/// A longer section is folded.
const MAX_LINES: usize = 60;

/// The whole report; what has no room is named at its end.
pub fn markdown(input: &ReportInput, sections: &[Section]) -> String {
    let suites =
        few(input.sources.iter().map(|source| escaped(&printable(&source.header.suite, 60))));
    let counts = escaped(&counts(&input.rows).text_with(Clone::clone));
    let mut out = format!("## gpubench: {suites}\n\n{counts}\n");
    let mut skipped = 0;
    for one in sections {
        let open = section(one, 3);
        let text = match open.lines().count() {
            ..MAX_LINES => open,
            _ => section(&one.clone().folded(), 3),
        };
        match out.len() + text.len() <= MAX_BYTES {
            true => out += &text,
            false => skipped += 1,
        }
    }
    match skipped {
        0 => out,
        n => out + &format!("\n{n} more sections are in the other formats.\n"),
    }
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
