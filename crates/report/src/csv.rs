//! Rows for spreadsheets and data frames, safe to open.

use gpubench_core::text::harmless;

/// `rows` as comma-separated values, the header line first. A text that a spreadsheet would take
/// for a formula gets an apostrophe before it; numbers stay numbers.
pub fn csv(rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut writer = ::csv::WriterBuilder::new().flexible(true).from_writer(vec![]);
    for row in rows {
        let cells = row.iter().map(|cell| guarded(cell));
        // Writing into memory does not fail.
        if writer.write_record(cells).is_err() {
            break;
        }
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// The cell with an apostrophe where a spreadsheet would run it, and without what would command a
/// terminal.
pub fn guarded(cell: &str) -> String {
    let formula = cell.trim_start().starts_with(['=', '+', '-', '@', '\t', '\r']);
    let guard = if formula && cell.parse::<f64>().is_err() { "'" } else { "" };
    format!("{guard}{}", harmless(cell))
}

/// A number as text that reads back to the same number; empty where there is none.
pub fn number(x: Option<f64>) -> String {
    x.filter(|x| x.is_finite()).map_or_else(String::new, |x| format!("{x:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_text_and_numbers_are_numbers() {
        for bad in ["=1+1", "+cmd", "-x", "@SUM(A1)", "\t=1", " =1"] {
            assert_eq!(guarded(bad), format!("'{bad}"));
        }
        assert_eq!(guarded("\r=1\u{1b}[31m"), "'=1");
        for good in ["-1.5e-3", "+2", "a=b", "", "1-2"] {
            assert_eq!(guarded(good), good);
        }
        let row = |cells: &[&str]| cells.iter().map(|c| (*c).to_owned()).collect();
        let text = csv([row(&["name", "x"]), row(&["a,\"b\"\n=c", "-1.0"])]);
        assert_eq!(text, "name,x\n\"a,\"\"b\"\"\n=c\",-1.0\n");
        assert_eq!((number(Some(0.1)), number(Some(f64::NAN))), ("0.1".into(), String::new()));
    }
}
