//! Headers of a kernel in OpenCL C: `#include "name.h"` takes a file of the suite's folder. gpubench reads
//! it and puts its text in the line's place, so that no compiler looks for files.

use super::directive;
use super::source::{Root, Source};
use gpubench_core::error::Error;
use gpubench_core::gpu::{Expanded, Language};
use std::ops::Range;
use std::path::Path;

/// Why a kernel is not taken.
const REJECTED: &str =
    "a kernel of a suite may not have the compiler look for other files, nor hold assembly";
/// More texts than this in one kernel are an error: headers that include each other grow fast.
const MAX_TEXTS: usize = 200;

/// What is wrong, where, and what to do.
pub struct Mistake {
    /// The file.
    pub source: Source,
    /// Its bytes.
    pub at: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<&'static str>,
}

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
pub fn headers(root: &Root, source: &Source) -> Result<Headers, Mistake> {
    let mut expansion = Expansion { root, texts: 0, open: vec![], sources: vec![] };
    let Joined { text, parts } = expansion.of(source)?;
    let sources = expansion.sources;
    // A comment that begins in one file and ends in another hides there what is a directive here.
    if !sources.is_empty() && directive::beyond_its_text(&parts).is_some() {
        let at = includes(&source.text).first().map_or(0..0, |include| include.at.clone());
        let message = format!("together with its headers {REJECTED}");
        return Err(Mistake { source: source.clone(), at, message, help: None });
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
    let found = headers(&root, &source).map_err(|Mistake { source, at, message, help }| {
        Error::Suite(vec![source.place(&at).diagnostic(message, help)])
    })?;
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
    fn of(&mut self, source: &Source) -> Result<Joined, Mistake> {
        let wrong = |at: Range<usize>, message: String, help| Mistake {
            source: source.clone(),
            at,
            message,
            help,
        };
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
mod tests {
    use super::*;

    fn expanded(files: &[(&str, &str)]) -> Result<Headers, String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let (root, source) = Root::open(&folder.path().join(files[0].0)).unwrap();
        headers(&root, &source)
            .map_err(|mistake| format!("{}: {}", &mistake.source.text[mistake.at], mistake.message))
    }

    #[test]
    fn headers_stand_where_they_are_included() {
        let kernel = "int a;\n# include \"b.h\" // two\nint c;\n#include \"b.h\"\nint d;\n";
        let header = "#pragma once\nint b;";
        let found = expanded(&[("k.cl", kernel), ("b.h", header)]).unwrap();
        let text = found.expanded.unwrap().text;
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(&lines[..2], ["int a;", lines[1]]);
        assert!(lines[1].starts_with("#line 1 ") && lines[1].ends_with("b.h\""), "{text}");
        assert_eq!(lines[2..4], ["#pragma once", "int b;"]);
        assert!(lines[4].starts_with("#line 3 ") && lines[4].ends_with("k.cl\""), "{text}");
        assert_eq!(text.matches("int b;").count(), 1, "once: {text}");
        assert_eq!(found.sources.len(), 1);
        assert!(expanded(&[("k.cl", "int a;")]).unwrap().expanded.is_none());
    }

    #[test]
    fn what_is_no_header_of_the_folder_is_rejected() {
        let why = |kernel: &str| {
            expanded(&[("k.cl", kernel), ("b.h", "#include \"b.h\"\n")]).unwrap_err()
        };
        assert!(why("#include <stdio.h>\n").starts_with("#include: a kernel of a suite may not"));
        assert!(why("#include \"../x.h\"\n").contains("outside the suite's folder"));
        assert!(why("#include \"/etc/passwd\"\n").contains("outside the suite's folder"));
        assert!(why("#include \"c.h\"\n").starts_with("c.h: cannot read the header `c.h`"));
        assert!(why("#include \"b.h\"\n").contains("includes itself"));
        assert!(why("#define A \\\n#include \"b.h\"\n").contains("may not"));
        assert!(why("#include \"b.h\" \"c.h\"\n").contains("may not"));
        assert!(why("int a; asm(\"\");\n").contains("may not"));
    }

    /// Each file by itself looks for nothing.
    #[test]
    fn what_joined_files_are_is_checked_too() {
        let comment = "#pragma GCC /*\n#include \"b.h\"\n*/ X\n";
        let why = |header: &str| expanded(&[("k.cl", comment), ("b.h", header)]).unwrap_err();
        for header in ["*/ dependency </etc/passwd> /*", "*/ module \"x\" /*"] {
            assert!(why(header).starts_with("b.h: together with its headers"), "{header}");
        }
        let harmless = expanded(&[("k.cl", comment), ("b.h", "int b;")]).unwrap();
        assert!(harmless.expanded.unwrap().text.contains("int b;"));
        // The names of files are no part of it, and end no comment.
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("asm*");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(inner.join("k.cl"), "/*\n#include \"b.h\"\n*/ int a;\n").unwrap();
        std::fs::write(inner.join("b.h"), "int b;").unwrap();
        let (root, source) = Root::open(&inner.join("k.cl")).unwrap();
        let found = headers(&root, &source).map_err(|mistake| mistake.message).unwrap();
        assert_eq!(found.expanded.unwrap().text.matches("*/").count(), 1);
    }

    #[test]
    fn a_kernel_is_read_with_its_headers_where_its_language_has_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k.cl");
        std::fs::write(&path, "#include \"b.h\"\nint c;\n").unwrap();
        std::fs::write(folder.path().join("b.h"), "int b;\n").unwrap();
        let (text, expanded) = read_kernel(&path, Language::Opencl).unwrap();
        assert_eq!(text, "#include \"b.h\"\nint c;\n");
        assert!(expanded.unwrap().text.contains("int b;"));
        let (text, expanded) = read_kernel(&path, Language::Wgsl).unwrap();
        assert!(text.contains("int c;") && expanded.is_none());
        assert!(read_kernel(&folder.path().join("none.cl"), Language::Opencl).is_err());
    }
}
