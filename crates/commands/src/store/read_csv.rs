//! Strict reading of CSV files: a header line, then rows; every mistake is reported with its place.

use ::csv::{ReaderBuilder, StringRecord, Trim};
use gpubench_core::error::{Error, Located, Result};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

/// The largest file that is read: tables of measurements are far smaller.
const LARGEST: u64 = 16 << 20;

/// A CSV file with a header line.
#[derive(Debug)]
pub struct Table {
    file: String,
    text: Arc<str>,
    header: StringRecord,
    rows: Vec<(usize, StringRecord)>,
}

/// One row of a [`Table`], read by column name.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    table: &'a Table,
    start: usize,
    fields: &'a StringRecord,
}

impl Table {
    /// Reads `path`, whose header must name all of `columns`; further columns are ignored.
    ///
    /// # Errors
    /// [`Error::Usage`] when the file cannot be read, [`Error::Suite`] for diagnostics in it.
    pub fn read(path: &Path, columns: &[&str]) -> Result<Self> {
        let file = path.display().to_string();
        let bytes = gpubench_core::text::read_bytes(path, LARGEST)
            .map_err(|why| Error::Usage(format!("{file}: {why}")))?;
        match String::from_utf8(bytes) {
            Ok(text) => Self::parse(&file, &text, columns),
            Err(error) => {
                let offset = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(error.as_bytes());
                let bytes = offset..offset + 1;
                Err(Error::Suite(vec![Located::at(&file, text, bytes, "not UTF-8 text", None)]))
            }
        }
    }

    /// Reads `text`, which messages call `file`.
    ///
    /// # Errors
    /// [`Error::Suite`] when a column is missing or named twice, or a row has too many or too few fields.
    pub fn parse(file: &str, text: &str, columns: &[&str]) -> Result<Self> {
        let mut reader =
            ReaderBuilder::new().trim(Trim::All).flexible(true).from_reader(text.as_bytes());
        let internal = |error: ::csv::Error| {
            Error::Suite(vec![Located::at(file, text, 0..0, error.to_string(), None)])
        };
        let header = reader.headers().map_err(internal)?.clone();
        let mut table = Self { file: file.to_owned(), text: text.into(), header, rows: Vec::new() };
        table.require(columns)?;
        for record in reader.records() {
            let record = record.map_err(internal)?;
            let byte = record.position().map_or(0, ::csv::Position::byte);
            let start = line_start(text, usize::try_from(byte).unwrap_or(usize::MAX));
            table.check_length(start, &record)?;
            table.rows.push((start, record));
        }
        if table.rows.is_empty() {
            return Err(table.diagnostic(text.len(), 0, "no rows below the header", None));
        }
        Ok(table)
    }

    /// The names of the columns, in order.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.header.iter()
    }

    /// The rows, in order.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|(start, fields)| Row { table: self, start: *start, fields })
    }

    /// A mistake about a column's name.
    pub fn column_diagnostic(&self, column: &str, message: &str, help: &str) -> Error {
        let index = self.header.iter().position(|name| name == column).unwrap_or(0);
        let (offset, len) = field(&self.text, line_start(&self.text, 0), index);
        self.diagnostic(offset, len, message, Some(help))
    }

    /// That the header names all of `columns`, and each column once.
    ///
    /// # Errors
    /// [`Error::Suite`] with the place of the mistake.
    pub fn require(&self, columns: &[&str]) -> Result<()> {
        self.require_for(columns, "the header must name")
    }

    /// The same; the help says `why`, and then the columns.
    ///
    /// # Errors
    /// As of [`Table::require`].
    pub fn require_for(&self, columns: &[&str], why: &str) -> Result<()> {
        if let Some((_, twice)) = self
            .header
            .iter()
            .enumerate()
            .find(|(i, name)| self.header.iter().take(*i).any(|n| n == *name))
        {
            let message = format!("two columns are called `{twice}`");
            return Err(self.column_diagnostic(twice, &message, "give each column its own name"));
        }
        match columns.iter().find(|column| !self.header.iter().any(|name| name == **column)) {
            None => Ok(()),
            Some(missing) => Err(self.diagnostic(
                line_start(&self.text, 0),
                0,
                &format!("no column `{missing}`"),
                Some(&format!("{why} {}", columns.join(", "))),
            )),
        }
    }

    fn check_length(&self, start: usize, record: &StringRecord) -> Result<()> {
        let (found, wanted) = (record.len(), self.header.len());
        if found == wanted {
            return Ok(());
        }
        let (offset, len) = field(&self.text, start, wanted.min(found - 1));
        let message = format!("{found} fields where the header names {wanted} columns");
        Err(self.diagnostic(offset, len, &message, None))
    }

    fn diagnostic(&self, offset: usize, len: usize, message: &str, help: Option<&str>) -> Error {
        let (text, bytes) = (self.text.clone(), offset..offset + len);
        Error::Suite(vec![Located::at(&self.file, text, bytes, message, help)])
    }
}

impl<'a> Row<'a> {
    /// The text in `column`, not empty.
    ///
    /// # Errors
    /// [`Error::Suite`] when the field is empty.
    pub fn text(self, column: &str) -> Result<&'a str> {
        let text = self.optional(column);
        let why = || self.diagnostic(column, &format!("empty field in column `{column}`"), None);
        if text.is_empty() { Err(why()) } else { Ok(text) }
    }

    /// The text in `column`; empty where there is none.
    pub fn optional(self, column: &str) -> &'a str {
        self.index(column).and_then(|index| self.fields.get(index)).unwrap_or("")
    }

    /// The number in `column`: finite and not negative.
    ///
    /// # Errors
    /// [`Error::Suite`] for anything else.
    pub fn number(self, column: &str) -> Result<f64> {
        self.parse(column, "a number of at least 0", |x: f64| x.is_finite() && x >= 0.0)
    }

    /// The number in `column`: finite and above zero.
    ///
    /// # Errors
    /// [`Error::Suite`] for anything else.
    pub fn positive(self, column: &str) -> Result<f64> {
        self.parse(column, "a number above 0", |x: f64| x.is_finite() && x > 0.0)
    }

    /// The whole number in `column`, at least `lowest`.
    ///
    /// # Errors
    /// [`Error::Suite`] for anything else.
    pub fn count(self, column: &str, lowest: u32) -> Result<u32> {
        let wanted = format!("a whole number of at least {lowest}");
        self.parse(column, &wanted, |x: u32| x >= lowest)
    }

    /// A mistake in this row's `column`.
    pub fn diagnostic(self, column: &str, message: &str, help: Option<&str>) -> Error {
        let index = self.index(column).unwrap_or(0);
        let (offset, len) = field(&self.table.text, self.start, index);
        self.table.diagnostic(offset, len, message, help)
    }

    fn parse<T: FromStr + Copy>(
        self,
        column: &str,
        wanted: &str,
        good: impl Fn(T) -> bool,
    ) -> Result<T> {
        let text = self.text(column)?;
        text.parse().ok().filter(|value| good(*value)).ok_or_else(|| {
            let message = format!("`{text}` in column `{column}` is not {wanted}");
            self.diagnostic(column, &message, None)
        })
    }

    fn index(self, column: &str) -> Option<usize> {
        self.table.header.iter().position(|name| name == column)
    }
}

/// Where the line begins that the reader found at `offset`: it counts a byte-order mark and
/// empty lines as part of what follows.
fn line_start(text: &str, offset: usize) -> usize {
    let rest = text.get(offset..).unwrap_or("");
    text.len().min(offset) + rest.len() - rest.trim_start_matches(['\u{feff}', '\r', '\n']).len()
}

/// Offset and length, without surrounding blanks, of field `index` of the line at `start`.
fn field(text: &str, start: usize, index: usize) -> (usize, usize) {
    let (mut quoted, mut passed) = (false, 0);
    let (mut from, mut to) = (start, text.len());
    for (i, byte) in text.bytes().enumerate().skip(start) {
        match byte {
            b'"' => quoted = !quoted,
            b',' | b'\n' if !quoted => {
                if passed == index || byte == b'\n' {
                    to = i;
                    break;
                }
                passed += 1;
                from = i + 1;
            }
            _ => {}
        }
    }
    let raw = &text[from..to];
    (from + raw.len() - raw.trim_start().len(), raw.trim().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_outcome(text: &str) -> String {
        let read = || -> Result<()> {
            for row in Table::parse("t.csv", text, &["name", "n", "x"])?.rows() {
                row.text("name")?;
                row.count("n", 1)?;
                row.positive("x")?;
            }
            Ok(())
        };
        read().map_or_else(|error| error.to_string(), |()| "fine".into())
    }

    #[test]
    fn reads_names_counts_and_numbers_in_any_order_of_columns() {
        let text = "x, n ,comment,name\n1.5, 3 ,,a\r\n\n 2e-3,4,\"p, q\",\"b\"\n";
        let table = Table::parse("t.csv", text, &["name", "n", "x"]).unwrap();
        let rows: Vec<_> = table
            .rows()
            .map(|r| (r.text("name").unwrap(), r.count("n", 0).unwrap(), r.number("x").unwrap()))
            .collect();
        assert_eq!(rows, [("a", 3, 1.5), ("b", 4, 2e-3)]);
    }

    #[test]
    fn reports_line_and_column_of_each_mistake() {
        assert_eq!(parse_outcome("name,n,x\na,1,1\n"), "fine");
        for (text, place) in [
            ("name,n,x\na,1,1\nb,2, -1\n", "t.csv:3:6: `-1` in column `x` is not a number above 0"),
            ("name,n,x\na,1,nan\n", "t.csv:2:5: `nan`"),
            ("name,n,x\na,1.5,1\n", "t.csv:2:3: `1.5` in column `n` is not a whole number"),
            ("name,n,x\n\n\"a,b\",0,1\n", "t.csv:3:7: `0`"),
            ("name,n,x\n,1,1\n", "t.csv:2:1: empty field in column `name`"),
            ("name,n,x\na,1\n", "t.csv:2:3: 2 fields where the header names 3 columns"),
            ("name,n,x\na,1,1,9\n", "t.csv:2:7: 4 fields"),
            ("name,n,n,x\n", "t.csv:1:6: two columns are called `n`"),
            ("name,n\na,1\n", "t.csv:1:1: no column `x` (the header must name name, n, x)"),
            ("name,n,x\n", "t.csv:2:1: no rows"),
            ("", "t.csv:1:1: no column `name`"),
            ("\u{feff}name,n,x\né,x,1\n", "t.csv:2:3: `x`"),
        ] {
            let message = parse_outcome(text);
            assert!(message.starts_with(place), "{text:?} gave {message}, not {place}");
        }
    }

    #[test]
    fn files_that_are_no_text_are_rejected_with_their_place() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("binary.csv");
        std::fs::write(&path, b"a,b\n1,\xff\n").unwrap();
        let message = Table::read(&path, &["a"]).unwrap_err().to_string();
        assert!(message.ends_with("binary.csv:2:3: not UTF-8 text"), "{message}");
        assert!(matches!(Table::read(dir.path(), &["a"]), Err(Error::Usage(_))));
    }
}
