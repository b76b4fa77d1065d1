//! Headers of a kernel in OpenCL C: `#include "name.h"` takes a file of the suite's folder. gpubench reads
//! it and puts its text in the line's place, so that no compiler looks for files.

use super::directive;
use super::source::{Root, Source};
use gpubench_core::error::{Error, Located};
use gpubench_core::gpu::{Expanded, Language};
use std::ops::Range;
use std::path::Path;

/// Why a kernel is not taken.
pub const REJECTED: &str =
    "a kernel of a suite may not have the compiler look for other files, nor hold assembly";
/// More texts than this in one kernel are an error: headers that include each other grow fast.
const MAX_TEXTS: usize = 200;

/// A kernel's text with its headers, and every header that was read.
#[derive(Clone, Debug, Default)]
pub struct Headers {
    /// `None` where there are none.
    pub expanded: Option<Expanded>,
    /// The headers.
    pub sources: Vec<Source>,
}

/// Reads the headers of `source`.
///
/// # Errors
/// Where a text has the compiler look for files, or a header cannot be read.
pub fn headers(root: &Root, source: &Source) -> Result<Headers, Located> {
    let mut expansion = Expansion { root, texts: 0, open: vec![], sources: vec![] };
    let Joined { text, parts } = expansion.of(source)?;
    let sources = expansion.sources;
    // A comment that begins in one file and ends in another hides there what is a directive here.
    if !sources.is_empty() && directive::beyond_its_text(&parts).is_some() {
        let at = includes(&source.text).first().map_or(0..0, |include| include.at.clone());
        let message = format!("together with its headers {REJECTED}");
        return Err(source.place(&at).diagnostic(message, None));
    }
    let headers: Vec<_> = sources.iter().map(|header| header.file.to_string()).collect();
    let expanded = (!headers.is_empty()).then_some(Expanded { text, headers });
    Ok(Headers { expanded, sources })
}

/// A kernel's text and, where it is in OpenCL C, the text with its headers, which lie in its folder.
///
/// # Errors
/// `Usage` where it cannot be read, `Suite` with the place of what is wrong in it.
pub fn read_kernel(path: &Path, language: Language) -> Result<(String, Option<Expanded>), Error> {
    let unreadable = |why| Error::Usage(format!("{}: {why}", path.display()));
    let (root, source) = Root::open(path).map_err(unreadable)?;
    let text = source.text.to_string();
    if language == Language::Wgsl {
        return Ok((text, None));
    }
    let found = headers(&root, &source).map_err(|mistake| Error::Suite(vec![mistake]))?;
    Ok((text, found.expanded))
}

/// A text with its headers.
#[derive(Default)]
struct Joined {
    /// As the compiler gets it.
    text: String,
    /// Without the lines that say where its parts come from: a folder may be called `asm`.
    parts: String,
}

impl Joined {
    fn push(&mut self, text: &str) {
        self.text += text;
        self.parts += text;
    }

    /// From here on lines are those of `source` from `line` on.
    fn begin(&mut self, line: usize, source: &Source) {
        self.text += &format!("#line {line} {}", quoted(source));
    }
}

struct Expansion<'a> {
    root: &'a Root,
    texts: usize,
    /// Files that are being read, outermost first.
    open: Vec<String>,
    sources: Vec<Source>,
}

impl Expansion<'_> {
    fn of(&mut self, source: &Source) -> Result<Joined, Located> {
        let wrong =
            |at: Range<usize>, message: String, help| source.place(&at).diagnostic(message, help);
        let includes = includes(&source.text);
        if let Some(at) = directive::beyond_its_text(&blanked(&source.text, &includes)) {
            let help =
                "a header of the suite's folder stands in a line of its own: `#include \"name.h\"`";
            return Err(wrong(at, REJECTED.into(), Some(help)));
        }
        self.texts += 1;
        self.open.push(source.path.clone());
        let (mut joined, mut done) = (Joined::default(), 0);
        for Include { line, name, at } in includes {
            let header = self.root.read(source, name);
            let header = header.map_err(|why| {
                wrong(at.clone(), format!("cannot read the header `{name}`: {why}"), None)
            })?;
            if self.open.contains(&header.path) {
                return Err(wrong(at, format!("`{name}` includes itself"), None));
            }
            if self.texts >= MAX_TEXTS {
                return Err(wrong(
                    at,
                    format!("a kernel includes at most {MAX_TEXTS} texts"),
                    None,
                ));
            }
            let known = self.sources.iter().any(|known| known.path == header.path);
            let once = known && header.text.contains("#pragma once");
            let inner = if once { Joined::default() } else { self.of(&header)? };
            if !known {
                self.sources.push(header.clone());
            }
            joined.push(&source.text[done..line.start]);
            // A compiler counts lines from here on as the files have them.
            let next = 2 + source.text[..line.start].matches('\n').count();
            joined.begin(1, &header);
            joined.push("\n");
            joined.text += &inner.text;
            joined.parts += &inner.parts;
            joined.push("\n");
            joined.begin(next, source);
            done = line.end;
        }
        self.open.pop();
        joined.push(&source.text[done..]);
        Ok(joined)
    }
}

/// A file's name in a directive; it may stand in a comment, which it must not end.
fn quoted(source: &Source) -> String {
    format!("\"{}\"", source.file.replace('\\', "/").replace(['"', '\n', '\r', '*'], "?"))
}

struct Include<'a> {
    /// The whole line, without its end.
    line: Range<usize>,
    name: &'a str,
    /// Where the name stands.
    at: Range<usize>,
}

/// Lines that include a file by its name and hold nothing else.
fn includes(text: &str) -> Vec<Include<'_>> {
    let (mut found, mut start, mut spliced) = (vec![], 0, false);
    for whole in text.split_inclusive('\n') {
        let line = whole.trim_end_matches(['\n', '\r']);
        if !spliced && let Some(name) = included(line) {
            let offset = start + name.as_ptr() as usize - line.as_ptr() as usize;
            let at = offset..offset + name.len();
            found.push(Include { line: start..start + line.len(), name, at });
        }
        let last = line.trim_end();
        spliced = last.ends_with('\\') || last.ends_with("??/");
        start += whole.len();
    }
    found
}

fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
    let (name, rest) = rest.trim_start().strip_prefix('"')?.split_once('"')?;
    let rest = rest.trim();
    let alone = rest.is_empty() || rest.starts_with("//") && !rest.ends_with(['\\', '/']);
    (alone && !name.contains(['\\', '?'])).then_some(name)
}

/// The text with blanks for the lines that are read here.
fn blanked(text: &str, includes: &[Include]) -> String {
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    for include in includes {
        out += &text[done..include.line.start];
        out += &" ".repeat(include.line.len());
        done = include.line.end;
    }
    out + &text[done..]
}

#[cfg(test)]
mod tests;
