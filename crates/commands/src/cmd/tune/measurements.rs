//! Recorded spaces as CSV: a column a parameter, then `outcome`, then what was measured.

use super::recorded::Rows;
use crate::store::read_csv::{Row, Table};
use gpubench_core::error::Result;
use gpubench_tune::{Interval, Outcome};

/// The column between parameters and measurements: `ok`, or why the variant failed.
const OUTCOME: &str = "outcome";
/// A variant's time.
const MEDIAN: &str = "median_ms";
/// What else may be measured.
const OTHERS: [&str; 5] = ["samples", "first_ms", "min_ms", "q25_ms", "q75_ms"];

/// Reads the text of `file`.
///
/// # Errors
/// `Suite` with the line and column of a mistake.
pub fn read(file: &str, text: &str) -> Result<Rows> {
    let table = Table::parse(file, text, &[OUTCOME, MEDIAN])?;
    let columns: Vec<&str> = table.columns().collect();
    let parameters: Vec<&str> =
        columns.iter().copied().take_while(|name| *name != OUTCOME).collect();
    let measured = &columns[parameters.len() + 1..];
    let known = |name: &&&str| **name == MEDIAN || OTHERS.contains(*name);
    if let Some(unknown) = measured.iter().find(|name| !known(name)) {
        return Err(table.column_diagnostic(
            unknown,
            &format!("unknown column `{unknown}`"),
            &format!(
                "parameters stand before `{OUTCOME}`; behind it are {MEDIAN}, {}",
                OTHERS.join(", ")
            ),
        ));
    }
    if let Some(misplaced) = parameters.iter().find(|name| known(name)) {
        return Err(table.column_diagnostic(
            misplaced,
            &format!("`{misplaced}` stands among the parameters"),
            &format!("put it behind `{OUTCOME}`"),
        ));
    }
    if parameters.is_empty() {
        return Err(table.column_diagnostic(
            OUTCOME,
            "no parameter",
            "parameters stand before `outcome`",
        ));
    }
    let has = |name: &str| measured.contains(&name);
    let mut rows =
        Rows { names: parameters.iter().map(ToString::to_string).collect(), ..Rows::default() };
    for row in table.rows() {
        rows.variants.push(parameters.iter().map(|name| number(row, name)).collect::<Result<_>>()?);
        rows.outcomes.push(outcome(row, has("q25_ms"), has("q75_ms"))?);
    }
    Ok(rows)
}

/// A parameter's value.
fn number(row: Row<'_>, column: &str) -> Result<f64> {
    let text = row.text(column)?;
    text.parse().ok().filter(|value: &f64| value.is_finite()).ok_or_else(|| {
        let message = format!("`{text}` in column `{column}` is not a number");
        row.diagnostic(column, &message, Some("give each value of a parameter a number"))
    })
}

fn outcome(row: Row<'_>, has_low: bool, has_high: bool) -> Result<Outcome> {
    if row.text(OUTCOME)? != "ok" {
        return Ok(Outcome::Failed);
    }
    let seconds = |column: &str| Ok(row.positive(column)? / 1e3);
    let time = seconds(MEDIAN)?;
    let low = if has_low { seconds("q25_ms")? } else { time };
    let high = if has_high { seconds("q75_ms")? } else { time };
    let disorder = |column: &str, side: &str| {
        row.diagnostic(column, &format!("`{column}` is {side} `{MEDIAN}`"), None)
    };
    match () {
        () if low > time => Err(disorder("q25_ms", "above")),
        () if high < time => Err(disorder("q75_ms", "below")),
        () => Ok(Outcome::Measured(Interval { low, time, high })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        read("t.csv", text).map_or_else(|error| error.to_string(), |_| "fine".into())
    }

    #[test]
    fn reads_parameters_outcomes_and_quartiles() {
        let text = "x,flag,outcome,samples,median_ms,q25_ms,q75_ms\n16,0,ok,32,2,1.5,3\n32,1,CompileFailed,0,,,\n";
        let rows = read("t.csv", text).unwrap();
        assert_eq!(rows.names, ["x", "flag"]);
        assert_eq!(rows.variants, [[16.0, 0.0], [32.0, 1.0]]);
        let measured = Interval { low: 1.5e-3, time: 2e-3, high: 3e-3 };
        assert_eq!(rows.outcomes, [Outcome::Measured(measured), Outcome::Failed]);
    }

    #[test]
    fn mistakes_have_their_place() {
        for (text, place) in [
            ("x,outcome,median_ms\n1,ok,2\n", "fine"),
            ("x,median_ms\n1,2\n", "t.csv:1:1: no column `outcome`"),
            ("x,outcome\n1,ok\n", "t.csv:1:1: no column `median_ms`"),
            (
                "x,outcome,median_ms,watts\n1,ok,2,3\n",
                "t.csv:1:21: unknown column `watts` (parameters stand before",
            ),
            (
                "x,min_ms,outcome,median_ms\n1,1,ok,2\n",
                "t.csv:1:3: `min_ms` stands among the parameters",
            ),
            ("outcome,median_ms\nok,2\n", "t.csv:1:1: no parameter"),
            ("x,outcome,median_ms\nbig,ok,2\n", "t.csv:2:1: `big` in column `x` is not a number"),
            ("x,outcome,median_ms\n1,ok,fast\n", "t.csv:2:6: `fast` in column `median_ms`"),
            ("x,outcome,median_ms\n1,ok,-1\n", "t.csv:2:6: `-1`"),
            ("x,outcome,median_ms\n1,ok,\n", "t.csv:2:6: empty field in column `median_ms`"),
            ("x,outcome,median_ms,q25_ms\n1,ok,1,2\n", "t.csv:2:8: `q25_ms` is above `median_ms`"),
            ("x,outcome,median_ms,q75_ms\n1,ok,2,1\n", "t.csv:2:8: `q75_ms` is below `median_ms`"),
        ] {
            let message = message(text);
            assert!(message.starts_with(place), "{text:?} gave {message}, not {place}");
        }
    }
}
