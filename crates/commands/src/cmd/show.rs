//! What commands say: data on stdout, diagnostics on stderr with the line they stand in.

use gpubench_core::error::{Error, Located, Result};
use gpubench_core::text::{harmless, is_invisible, printable};
use gpubench_document::Section;
use gpubench_report::formats::{FORMATS, Format};
use gpubench_report::progress::{Stderr, draws, say};
use gpubench_report::render;
use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, Report,
};
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

/// After this many diagnostics the others can wait.
const MAX_SHOWN: usize = 30;
/// A line longer than this is not shown.
const MAX_LINE: usize = 400;

/// Prints data: the one door to stdout, which nothing passes that commands a terminal. A reader that has
/// seen enough and closed the pipe is no error.
pub fn print(text: &str) -> Result<()> {
    out(&harmless(text))
}

/// Prints a report, its marks coloured where it is for a terminal.
pub fn print_report(format: &Format, text: &str) -> Result<()> {
    let paints = format.name == FORMATS[0].name && colored(std::io::stdout().is_terminal());
    let text = harmless(text);
    if paints { out(&painted(&text)) } else { out(&text) }
}

fn out(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Error::io("stdout", error)),
        _ => Ok(()),
    }
}

/// The marks coloured, and nothing else, so that no meaning hangs on colour alone.
fn painted(text: &str) -> String {
    text.replace('✓', "\u{1b}[32m✓\u{1b}[0m").replace('✗', "\u{1b}[31m✗\u{1b}[0m")
}

/// A section as a command's whole output, as wide as the terminal.
pub(super) fn text(section: &Section) -> String {
    let text = render::text::section(section, width());
    text.trim_start_matches('\n').to_owned()
}

/// A section as a command's whole output, for a pull request.
pub(super) fn markdown(section: &Section) -> String {
    render::markdown::section(section, 3).trim_start_matches('\n').to_owned()
}

/// From now on a panic that a file of the user's caused is shown as the mistake that it is, and ends the program as
/// every such mistake does.
pub(super) fn show_mistakes_of_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| match gpubench_suite::mistake_of_panic() {
        Some(mistake) => {
            show(&Error::Suite(vec![mistake]));
            std::process::exit(2);
        }
        None => usual(panic),
    }));
}

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// Wherever it goes
    Always,
    /// Not at all
    Never,
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
}

static COLOR: OnceLock<Color> = OnceLock::new();

/// Says once for the process when to colour.
pub(super) fn set_color(color: Color) {
    // Only the first call counts, and there is only one.
    let _ = COLOR.set(color);
}

/// Whether to colour what goes to a stream that is a terminal or not.
fn colored(is_terminal: bool) -> bool {
    match COLOR.get().copied().unwrap_or_default() {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            draws(is_terminal, std::env::var_os("TERM").as_deref())
                && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        }
    }
}

/// Columns of the terminal that stdout is; `None` where it is none, so that no line is broken.
pub fn width() -> Option<usize> {
    const USUAL: usize = 80;
    if !std::io::stdout().is_terminal() {
        return None;
    }
    #[cfg(unix)]
    if let Ok(size) = rustix::termios::tcgetwinsize(std::io::stdout())
        && size.ws_col >= 40
    {
        return Some(usize::from(size.ws_col));
    }
    Some(USUAL)
}

/// `text` in lines of at most 80 columns, the first behind `first` and the others behind `rest`, broken
/// between words; words that are too long are broken where `break_words` says so.
pub fn wrapped(text: &str, [first, rest]: [&str; 2], break_words: bool) -> String {
    let options = textwrap::Options::new(80)
        .initial_indent(first)
        .subsequent_indent(rest)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
        .break_words(break_words);
    textwrap::fill(text, options) + "\n"
}

/// Reports on stderr what of the input could not be used, at most the first few of many.
pub fn warnings(warnings: &[impl ToString]) {
    for warning in warnings.iter().take(MAX_SHOWN) {
        say(&printable(&warning.to_string(), MAX_LINE));
    }
    if warnings.len() > MAX_SHOWN {
        say(&format!("and {} more warnings", warnings.len() - MAX_SHOWN));
    }
}

/// Reports on stderr what went wrong: in colour where [`Color`] says so, in plain ASCII where it is
/// no terminal.
pub fn show(error: &Error) {
    let is_terminal = std::io::stderr().is_terminal();
    let theme = match (colored(is_terminal), is_terminal) {
        (true, _) => GraphicalTheme::unicode(),
        (false, true) => GraphicalTheme::unicode_nocolor(),
        (false, false) => GraphicalTheme::none(),
    };
    // There is nobody left to report to when this fails.
    let text = render(error, theme);
    let _ = match colored(is_terminal) {
        // What the text holds of others was cleaned part by part, since its colours are commands.
        true => std::io::stderr().write_all(text.as_bytes()),
        false => Stderr.write_all(text.as_bytes()),
    };
}

fn render(error: &Error, theme: GraphicalTheme) -> String {
    let Error::Suite(diagnostics) = error else {
        return format!("gpubench: {}\n", clean(&error.to_string()));
    };
    // Its own column counts bytes.
    let handler =
        GraphicalReportHandler::new_themed(theme).with_width(100).without_primary_span_start();
    let mut text = String::new();
    for diagnostic in diagnostics.iter().take(MAX_SHOWN) {
        text += &drawn(diagnostic, &handler)
            .unwrap_or_else(|| format!("gpubench: {}\n", clean(&diagnostic.to_string())));
    }
    if diagnostics.len() > MAX_SHOWN {
        text += &format!("gpubench: and {} more diagnostics\n", diagnostics.len() - MAX_SHOWN);
    }
    text
}

/// The mistake with the line it stands in; `None` where there is no line worth showing.
fn drawn(diagnostic: &Located, handler: &GraphicalReportHandler) -> Option<String> {
    let (line, column) = diagnostic.line_column();
    let shown = diagnostic.text.lines().skip(line.saturating_sub(2)).take(3);
    if diagnostic.text.is_empty() || shown.map(str::len).max().unwrap_or(0) > MAX_LINE {
        return None;
    }
    let place = (diagnostic.offset.min(diagnostic.text.len()), diagnostic.len);
    let mut picture = MietteDiagnostic::new(clean(&diagnostic.message))
        .with_label(LabeledSpan::new_with_span(None, place));
    picture.help = diagnostic.help.as_deref().map(clean);
    let place = format!("{}:{line}:{column}", clean(&diagnostic.file));
    let source = NamedSource::new(place, clean(&diagnostic.text));
    let mut text = String::new();
    let report = Report::new(picture).with_source_code(source);
    handler.render_report(&mut text, report.as_ref()).ok()?;
    Some(text + "\n")
}

/// The text with every control character and every mark that reorders text replaced by something of as many
/// bytes, so that places stay: a file of somebody else must not command the terminal.
fn clean(text: &str) -> String {
    const REPLACEMENTS: [char; 4] = ['?', '¿', '\u{fffd}', '\u{1f6ab}'];
    let clean = |c: char| match c {
        '\n' | '\t' => c,
        '\r' => ' ',
        c if c.is_control() || is_invisible(c) => REPLACEMENTS[c.len_utf8() - 1],
        c => c,
    };
    text.chars().map(clean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnostic(text: &str, offset: usize, len: usize) -> Error {
        Error::Suite(vec![Located {
            file: "my.yaml".into(),
            text: text.into(),
            offset,
            len,
            message: "unknown key `kernal`".into(),
            help: Some("did you mean `kernel`?".into()),
        }])
    }

    #[test]
    fn a_mistake_is_shown_in_its_line() {
        let text = render(&diagnostic("a: 1\nkernal: x\n", 5, 6), GraphicalTheme::none());
        for part in ["unknown key `kernal`", "my.yaml:2:1", "kernal: x", "^^^^^^", "did you mean"] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }

    #[test]
    fn a_column_counts_characters() {
        let Error::Suite(mistakes) = diagnostic("größe: 1\nä: ü: x\n", 19, 1) else { panic!() };
        assert_eq!(mistakes[0].line_column(), (2, 7));
        let shown = render(&Error::Suite(mistakes), GraphicalTheme::none());
        assert!(shown.contains("my.yaml:2:7"), "{shown}");
    }

    #[test]
    fn no_place_panics() {
        for text in ["", "é", "a\nb", "\u{1b}[31m\u{85}x", &"x".repeat(9999)] {
            for offset in 0..6 {
                for len in 0..4 {
                    let shown = render(&diagnostic(text, offset, len), GraphicalTheme::none());
                    assert!(shown.contains("unknown key") && !shown.contains('\u{1b}'), "{shown}");
                }
            }
        }
    }

    #[test]
    fn places_stay_where_characters_are_replaced() {
        for c in ['\u{1b}', '\u{85}', '\u{ad}', '\u{61c}', '\u{202e}', '\u{e0041}'] {
            let text = format!("é{c}{c}{c}é");
            assert_eq!(clean(&text).len(), text.len(), "{c:?}");
            assert!(!clean(&text).contains(c));
        }
    }
}
