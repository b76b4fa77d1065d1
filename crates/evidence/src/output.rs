//! What commands print for programs, as rows: `--format figures` and `--json`.

use serde_json::Value;

/// A value and where it stood.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The section; of JSON the pointer.
    pub section: String,
    /// The table; empty in JSON.
    pub table: String,
    /// The row of the table.
    pub row: u32,
    /// The column; empty in JSON.
    pub column: String,
    /// The number, or text.
    pub value: String,
    /// Its unit.
    pub unit: String,
}

/// The rows of an output; none of one that is neither.
pub fn rows(text: &str) -> Vec<Row> {
    match serde_json::from_str(text) {
        Ok(value) => {
            let mut rows = vec![];
            flatten(&value, &mut String::new(), &mut rows);
            rows
        }
        Err(_) if text.starts_with("section,table,row,column,") => figures(text),
        Err(_) => vec![],
    }
}

fn figures(text: &str) -> Vec<Row> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let records = reader.records().flatten();
    let row = |record: csv::StringRecord| {
        let cell = |i: usize| record.get(i).map(str::to_owned);
        Some(Row {
            section: cell(0)?,
            table: cell(1)?,
            row: cell(2)?.parse().ok()?,
            column: cell(3)?,
            value: cell(4)?,
            unit: cell(5)?,
        })
    };
    records.filter_map(row).collect()
}

fn flatten(value: &Value, path: &mut String, rows: &mut Vec<Row>) {
    let mut inner = |name: &str, value: &Value| {
        let length = path.len();
        path.push('/');
        path.push_str(&name.replace('/', "~1"));
        flatten(value, path, rows);
        path.truncate(length);
    };
    let value = match value {
        Value::Object(map) => return map.iter().for_each(|(name, value)| inner(name, value)),
        Value::Array(values) => {
            return (0..).zip(values).for_each(|(i, value)| inner(&format!("{i}"), value));
        }
        Value::Null => return,
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    rows.push(Row {
        section: path.clone(),
        table: String::new(),
        row: 0,
        column: String::new(),
        value,
        unit: String::new(),
    });
}

/// What the stars of a pattern stand for in `path`, both split at slashes; `None` where they differ.
/// A star within a name is any part of it, and not among the results.
pub fn matched<'p>(pattern: &str, path: &'p str) -> Option<Vec<&'p str>> {
    let (patterns, names) = (pattern.split('/'), path.split('/'));
    if patterns.clone().count() != names.clone().count() {
        return None;
    }
    let mut found = vec![];
    for (pattern, name) in patterns.zip(names) {
        match pattern.split_once('*') {
            Some(("", "")) => found.push(name),
            Some((before, after)) => {
                name.strip_prefix(before)?.strip_suffix(after)?;
            }
            None if pattern == name => {}
            None => return None,
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_outputs_become_rows() {
        let text =
            "section,table,row,column,value,unit,low,high\na/b,t,1,c,0.5,s,,\na/b,t,x,c,1,s,,\n";
        let rows = rows(text);
        assert_eq!(rows.len(), 1, "a row that is no number is none");
        assert_eq!((rows[0].row, rows[0].value.as_str(), rows[0].unit.as_str()), (1, "0.5", "s"));
        let json = super::rows(r#"[{"device":"a/b","models":{"x":{"y":1.5,"z":null}}}]"#);
        let all: Vec<_> = json.iter().map(|r| (r.section.as_str(), r.value.as_str())).collect();
        assert_eq!(all, [("/0/device", "a/b"), ("/0/models/x/y", "1.5")]);
        assert!(super::rows("error: nothing").is_empty());
    }

    #[test]
    fn stars_stand_for_names() {
        assert_eq!(matched("a/*/c", "a/b/c"), Some(vec!["b"]));
        assert_eq!(matched("a/*_time", "a/x_time"), Some(vec![]));
        assert_eq!(matched("a/*", "a/b/c"), None);
        assert_eq!(matched("a", "b"), None);
    }
}
