//! Mistakes in a kernel, shown at their place in the user's file.

use gpubench_core::gpu::KernelSource;
use naga::Span;
use std::error::Error as StdError;
use std::fmt::Write;

/// A kernel whose mistakes are to be shown.
pub(super) struct Located<'a>(pub &'a KernelSource);

impl Located<'_> {
    /// One mistake: the places with what is wrong at each, then remarks.
    pub fn mistake<'t>(
        &self,
        message: &str,
        places: impl IntoIterator<Item = (Span, &'t str)>,
        remarks: impl IntoIterator<Item = String>,
    ) -> String {
        let mut log = format!("error: {message}");
        for (span, label) in places {
            self.place(&mut log, span, label);
        }
        for remark in remarks {
            let _ = write!(log, "\n  = {remark}");
        }
        log
    }

    /// A mistake that naga's validator found, with all its causes.
    pub fn invalid<E: StdError>(&self, error: &naga::WithSpan<E>) -> String {
        let causes = std::iter::successors(error.source(), |cause| (*cause).source());
        let places: Vec<_> = error.spans().map(|(span, label)| (*span, label.as_str())).collect();
        self.mistake(&error.to_string(), places, causes.map(ToString::to_string))
    }

    /// `file:line:column`, the line itself, and a mark below it.
    fn place(&self, log: &mut String, span: Span, label: &str) {
        let (file, text) = (self.0.origin.file(), &self.0.text);
        let Some(range) = span.to_range() else { return };
        // Behind the text stand the constants.
        if range.start >= text.len() {
            let _ = write!(log, "\n  --> {file}: in the suite's constants or group: {label}");
            return;
        }
        let start = range.start;
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line = text[line_start..].lines().next().unwrap_or_default();
        let number = text[..start].matches('\n').count() + 1;
        let column = text[line_start..start].chars().count() + 1;
        let end = range.end.min(line_start + line.len()).max(start);
        let width = text[start..end].chars().count().max(1);
        let indent: String =
            text[line_start..start].chars().map(|c| if c == '\t' { c } else { ' ' }).collect();
        let marks = "^".repeat(width);
        let _ = write!(
            log,
            "\n  --> {file}:{number}:{column}\n   | {line}\n   | {indent}{marks} {label}"
        );
    }
}
