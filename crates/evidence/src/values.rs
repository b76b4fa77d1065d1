//! The figures of a page: which values of which output stand in which row.

use crate::book::Figure;
use crate::output::{Row, matched};
use gpubench_document::{Unit, number};
use std::collections::BTreeMap;

/// A value of an output.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// With its unit.
    Number(f64, Unit),
    /// A verdict or a name.
    Text(String),
}

/// The values of a figure by the labels of their rows.
pub type Values = BTreeMap<String, Vec<Value>>;

/// The unit of a symbol.
pub fn unit(symbol: &str) -> Unit {
    Unit::ALL.into_iter().find(|unit| unit.symbol() == symbol).unwrap_or_default()
}

/// A cell as a value; nothing of one that is empty.
fn value(row: &Row, figure: &Figure) -> Option<Value> {
    let symbol = if row.unit.is_empty() { &figure.unit } else { &row.unit };
    match row.value.parse::<f64>() {
        Ok(x) if x.is_finite() => Some(Value::Number(x, unit(symbol))),
        _ if row.value.is_empty() => None,
        _ => Some(Value::Text(row.value.clone())),
    }
}

/// Whether a text begins with a device's name: `AMD EPYC · PoCL 3.1 · opencl (CPU): bound by …`.
fn is_device(text: &str) -> bool {
    text.rsplit_once(" · ").is_some_and(|(_, last)| {
        let api = last.split([' ', ':']).next().unwrap_or_default();
        !api.is_empty() && api.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    })
}

/// A title without the device that it names: the table's columns name it.
fn without_device(title: &str) -> String {
    match title.rsplit_once(" on ") {
        Some((what, device)) if is_device(device) => what.to_owned(),
        _ if is_device(title) => String::new(),
        _ => title.to_owned(),
    }
}

/// What an output has of a figure.
pub fn values(figure: &Figure, rows: &[Row]) -> Values {
    let found = match &figure.json {
        Some(pattern) => from_json(figure, pattern, rows),
        None => from_sections(figure, rows),
    };
    let mut values = Values::new();
    for (label, value) in found {
        values.entry(label).or_default().push(value);
    }
    values
}

fn from_json(figure: &Figure, pattern: &str, rows: &[Row]) -> Vec<(String, Value)> {
    let mut found = vec![];
    for row in rows {
        let Some(stars) = matched(pattern, &row.section) else { continue };
        let names = stars.into_iter().filter(|name| name.parse::<u32>().is_err());
        let mut label: Vec<String> = names.map(str::to_owned).collect();
        // Labels stand next to what the last star is, or further out.
        let depth = pattern.split('/').rev().skip_while(|part| !part.contains('*')).count();
        let place: Vec<&str> = row.section.split('/').take(depth).collect();
        for by in &figure.by {
            let near = (0..=depth).rev().find_map(|depth| {
                let pointer = format!("{}/{by}", place[..depth].join("/"));
                rows.iter().find(|row| row.section == pointer)
            });
            label.extend(near.map(|row| row.value.clone()));
        }
        found.extend(value(row, figure).map(|value| (label.join(" "), value)));
    }
    found
}

fn from_sections(figure: &Figure, rows: &[Row]) -> Vec<(String, Value)> {
    let is_of = |row: &&Row| {
        matched(&figure.table, &row.table).is_some()
            && matched(&figure.column, &row.column).is_some()
    };
    let mut found = vec![];
    for row in rows.iter().filter(is_of) {
        if matched(&figure.section, &row.section).is_none() {
            continue;
        }
        let label = |row: &Row| label(figure, rows, row);
        let Some(divided) = &figure.over else {
            found.extend(value(row, figure).map(|value| (label(row), value)));
            continue;
        };
        let first_label = |of: &Row| {
            let column = figure.by.first()?;
            cell(rows, of, column).map(|cell| cell.value.clone())
        };
        let base = rows.iter().filter(is_of).find(|other| {
            (&other.section, &other.table) == (&row.section, &row.table)
                && first_label(other).as_ref() == Some(divided)
        });
        let base = base.and_then(|base| value(base, figure));
        if let (Some(Value::Number(base, _)), Some(Value::Number(x, _))) =
            (base, value(row, figure))
            && first_label(row).as_ref() != Some(divided)
            && x > 0.0
        {
            found.push((label(row), Value::Number(base / x, Unit::Ratio)));
        }
    }
    found
}

/// Another cell of the same row; `title` is the table's.
fn cell<'r>(rows: &'r [Row], of: &Row, column: &str) -> Option<&'r Row> {
    rows.iter().find(|row| {
        (&row.section, &row.table) == (&of.section, &of.table)
            && (row.row == of.row || column == "title")
            && row.column == column
    })
}

/// What a row is called: the titles of the sections that stars stand for, and its own labels.
fn label(figure: &Figure, rows: &[Row], row: &Row) -> String {
    let mut label = vec![];
    for (depth, part) in figure.section.split('/').enumerate() {
        if part.contains('*') {
            let path: Vec<&str> = row.section.split('/').take(depth + 1).collect();
            let path = path.join("/");
            let title = rows.iter().find(|row| row.section == path && row.table == "title");
            label.extend(title.map(|title| without_device(&title.value)));
        }
    }
    for by in &figure.by {
        label.extend(cell(rows, row, by).map(|cell| match value(cell, figure) {
            Some(Value::Number(x, _)) => {
                let name = by.trim_end_matches('s');
                format!("{name} {}", number(x, unit(&cell.unit)))
            }
            _ => without_device(&cell.value),
        }));
    }
    label.retain(|part| !part.is_empty());
    label.join(", ")
}

/// Each value over that of the same row in `others`, where both are one number each.
pub fn over(values: &Values, others: &Values) -> Values {
    let mut ratios = Values::new();
    for (label, values) in values {
        if let ([Value::Number(x, _)], Some([Value::Number(y, _)])) =
            (&values[..], others.get(label).map(Vec::as_slice))
            && x.min(*y) > 0.0
        {
            ratios.insert(label.clone(), vec![Value::Number(x / y, Unit::Ratio)]);
        }
    }
    ratios
}

/// Several values of one row in few words: the median with the ends, or how often each text.
#[derive(Clone, Debug, PartialEq)]
pub enum Summary {
    /// Numbers.
    Numbers {
        /// The middle.
        median: f64,
        /// The smallest.
        min: f64,
        /// The largest.
        max: f64,
        /// How many.
        count: usize,
        /// Their unit.
        unit: Unit,
    },
    /// Texts, and how often each stands there.
    Texts(Vec<(String, usize)>),
}

impl Summary {
    /// Of values; nothing of none.
    pub fn of(values: &[Value]) -> Option<Self> {
        let mut numbers = vec![];
        let mut texts: BTreeMap<&str, usize> = BTreeMap::new();
        let mut shared = Unit::default();
        for value in values {
            match value {
                Value::Number(x, unit) => {
                    numbers.push(*x);
                    shared = *unit;
                }
                Value::Text(text) => *texts.entry(text).or_default() += 1,
            }
        }
        if !texts.is_empty() {
            return Some(Self::Texts(texts.into_iter().map(|(t, n)| (t.to_owned(), n)).collect()));
        }
        let median = gpubench_stats::median_of(numbers.iter().copied())?;
        Some(Self::Numbers {
            median,
            min: numbers.iter().copied().fold(f64::INFINITY, f64::min),
            max: numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            count: numbers.len(),
            unit: shared,
        })
    }

    /// For people.
    pub fn text(&self) -> String {
        match self {
            Self::Numbers { median, count: 1, unit, .. } => number(*median, *unit),
            Self::Numbers { median, min, max, count, unit } => format!(
                "{} ({} to {}; {count})",
                number(*median, *unit),
                number(*min, *unit),
                number(*max, *unit)
            ),
            Self::Texts(texts) => {
                let text = |(text, n): &(String, usize)| match (texts.len(), n) {
                    (1, 1) => text.clone(),
                    _ => format!("{text} {n} ×"),
                };
                texts.iter().map(text).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::rows;
    use gpubench_core::gpu::{DeviceInfo, DeviceKind, names};
    use gpubench_core::record::sample::device;

    const OUTPUT: &str = "section,table,row,column,value,unit,low,high\n\
        s/a_sim_8,title,0,text,a n=4 on Tesla K40c · sim (simulated),,,\n\
        s/a_sim_8/plans,plans,0,plan,no partition,,,\n\
        s/a_sim_8/plans,plans,0,seconds,0.004,s,,\n\
        s/a_sim_8/plans,plans,1,plan,search,,,\n\
        s/a_sim_8/plans,plans,1,seconds,0.002,s,,\n\
        s/a_sim_8/plans,plans,2,plan,rule,,,\n\
        s/a_sim_8/plans,plans,2,seconds,,s,,\n";

    fn figure(json: serde_json::Value) -> Figure {
        let mut all = serde_json::json!({ "id": "x", "what": "x", "from": [] });
        all.as_object_mut().unwrap().extend(json.as_object().unwrap().clone());
        serde_json::from_value(all).unwrap()
    }

    #[test]
    fn sections_are_labelled_by_titles_and_columns() {
        let place =
            serde_json::json!({ "section": "s/*/plans", "table": "plans", "column": "seconds" });
        let all = values(&figure(place.clone()), &rows(OUTPUT));
        let seconds = |x| Value::Number(x, Unit::Seconds);
        assert_eq!(all["a n=4"], [seconds(0.004), seconds(0.002)], "an empty cell is no value");
        assert_eq!(Summary::of(&all["a n=4"]).unwrap().text(), "3.00 ms (2.00 ms to 4.00 ms; 2)");
        let mut speedup = place;
        speedup["by"] = serde_json::json!(["plan"]);
        speedup["over"] = "no partition".into();
        let all = values(&figure(speedup), &rows(OUTPUT));
        assert_eq!(all.len(), 1);
        assert_eq!(all["a n=4, search"], [Value::Number(2.0, Unit::Ratio)]);
    }

    #[test]
    fn json_is_labelled_by_names_and_neighbours() {
        let text = r#"[{"models":[{"model":"roofline","score":{"accuracy":0.5}}],"b":{"c":true}}]"#;
        let place = serde_json::json!({ "json": "/*/models/*/score/accuracy", "by": ["model"] });
        let all = values(&figure(place), &rows(text));
        assert_eq!(all["roofline"], [Value::Number(0.5, Unit::None)]);
        let text = r#"{"cases":[{"case":"a n=4","devices":[{"seconds":1.0},{"seconds":2.0}]}]}"#;
        let place = serde_json::json!({ "json": "/cases/*/devices/*/seconds", "by": ["case"] });
        assert_eq!(values(&figure(place), &rows(text))["a n=4"].len(), 2, "labelled from outside");
        let text = r#"[{"b":{"c":true}}]"#;
        let all = values(&figure(serde_json::json!({ "json": "/*/b/*" })), &rows(text));
        assert_eq!(all["c"], [Value::Text("true".into())]);
        assert_eq!(Summary::of(&all["c"]).unwrap().text(), "true");
        assert_eq!(Summary::of(&[]), None);
    }

    #[test]
    fn rows_of_two_steps_divide() {
        let of = |x| Values::from([("a".to_owned(), vec![Value::Number(x, Unit::Seconds)])]);
        assert_eq!(over(&of(6.0), &of(2.0))["a"], [Value::Number(3.0, Unit::Ratio)]);
        assert!(over(&of(6.0), &Values::new()).is_empty());
    }

    #[test]
    fn devices_are_left_to_the_columns() {
        let cpu = DeviceInfo { kind: DeviceKind::Cpu, ..device("opencl") };
        for name in names(&[&device("vulkan"), &device("vulkan"), &cpu]) {
            assert_eq!(without_device(&format!("a n=4 on {name}")), "a n=4");
            assert_eq!(without_device(&name), "");
            let more = format!("ladder n=512 on {name}: bound by arithmetic");
            assert_eq!(without_device(&more), "ladder n=512");
        }
        assert_eq!(without_device("packed on the device"), "packed on the device");
    }
}
