//! The models against the numbers of the papers they come from, as data files and through the
//! command line. Where a paper prints a wrong number, the test's name or comment says so.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod command_line;
mod tables;

use gpubench::store::read_csv::{Row, Table};
use std::path::{Path, PathBuf};

fn paper(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/papers").join(name)
}

fn rows<T>(name: &str, columns: &[&str], read: impl Fn(Row<'_>) -> T) -> Vec<T> {
    Table::read(&paper(name), columns).unwrap().rows().map(read).collect()
}

fn near(value: f64, printed: f64, half_digit: f64) {
    assert!((value - printed).abs() <= half_digit * (1.0 + 1e-9), "{value} is not {printed}");
}
