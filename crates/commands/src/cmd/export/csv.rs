//! Records as comma-separated values.

use super::each;
use crate::cmd::show::print;
use crate::store::{RunFile, open};
use gpubench_core::error::{Error, Result};
use gpubench_report::csv::csv;
use gpubench_report::export_rows::{COLUMNS, Cell};
use gpubench_report::progress::say;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// One line a case and round.
pub(super) fn write(files: &[RunFile], output: Option<&Path>) -> Result<()> {
    let head = csv([COLUMNS.map(|(name, _)| name.to_owned()).to_vec()]);
    let line = |cells: &[Cell]| csv([cells.iter().map(Cell::text).collect::<Vec<_>>()]);
    match output {
        None => {
            // What cannot be read is reported before the first line: half a table would look like a whole one.
            files.iter().try_for_each(|file| open(file).map(drop))?;
            print(&head)?;
            each(files, |cells| print(&line(&cells)))?;
        }
        Some(path) => {
            let io = |source| Error::io(path, source);
            let mut file = BufWriter::new(File::create_new(path).map_err(io)?);
            file.write_all(head.as_bytes()).map_err(io)?;
            let rows = each(files, |cells| file.write_all(line(&cells).as_bytes()).map_err(io))?;
            file.flush().map_err(io)?;
            say(&format!("{rows} rows: {}", path.display()));
        }
    }
    Ok(())
}
