//! What a model predicts from parameters: its parts by name, each with its unit and its equation.

use super::{show, table};
use gpubench_core::error::Result;
use gpubench_core::units::quoted;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// A prediction and its parts.
#[derive(Debug, serde::Serialize)]
pub struct Prediction {
    /// The model and its source.
    model: &'static str,
    parts: Parts,
}

#[derive(Debug)]
struct Parts(Vec<Part>);

#[derive(Debug, serde::Serialize)]
struct Part {
    #[serde(skip)]
    name: String,
    value: Value,
    /// Empty where the value has none.
    unit: &'static str,
    /// The equation or section of the model's source; `ours` where it has none.
    equation: &'static str,
}

#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
enum Value {
    Number(f64),
    List(Vec<f64>),
    Text(String),
}

impl Serialize for Parts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for part in &self.0 {
            map.serialize_entry(&part.name, part)?;
        }
        map.end()
    }
}

impl Prediction {
    /// Of a model: its number, its name and its source.
    pub fn of(model: &'static str) -> Self {
        Self { model, parts: Parts(vec![]) }
    }

    /// With one more number.
    pub fn number(
        self,
        name: impl Into<String>,
        value: f64,
        unit: &'static str,
        equation: &'static str,
    ) -> Self {
        self.with(name.into(), Value::Number(value), unit, equation)
    }

    /// With seconds.
    pub fn seconds(self, name: impl Into<String>, value: f64, equation: &'static str) -> Self {
        self.number(name, value, "s", equation)
    }

    /// With a text.
    pub fn text(
        self,
        name: impl Into<String>,
        text: impl Into<String>,
        equation: &'static str,
    ) -> Self {
        self.with(name.into(), Value::Text(text.into()), "", equation)
    }

    /// With several numbers.
    pub fn list(
        self,
        name: impl Into<String>,
        values: Vec<f64>,
        unit: &'static str,
        equation: &'static str,
    ) -> Self {
        self.with(name.into(), Value::List(values), unit, equation)
    }

    fn with(
        mut self,
        name: String,
        value: Value,
        unit: &'static str,
        equation: &'static str,
    ) -> Self {
        self.parts.0.push(Part { name, value, unit, equation });
        self
    }

    /// Prints it, for programs or for people.
    pub fn show(&self, json: bool) -> Result<()> {
        show(json, self, || {
            let table =
                table(&["part", ">value", "unit", "equation"], self.parts.0.iter().map(cells));
            format!("model {}\n\n{table}", self.model)
        })
    }
}

fn cells(part: &Part) -> Vec<String> {
    /// Values of a list that a person is shown.
    const SHOWN: usize = 8;
    let value = match &part.value {
        Value::Number(x) => six_digits(*x),
        Value::Text(text) => text.clone(),
        Value::List(values) => {
            let shown = values.iter().take(SHOWN).map(|x| six_digits(*x)).collect::<Vec<_>>();
            let more = values.len().saturating_sub(SHOWN);
            let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{}{rest}", shown.join(", "))
        }
    };
    vec![part.name.clone(), value, part.unit.to_owned(), part.equation.to_owned()]
}

/// Six digits, which tell slips of printed tables from rounding.
fn six_digits(x: f64) -> String {
    match format!("{x:.5e}").parse() {
        Ok(rounded) if x.is_finite() => quoted(rounded),
        _ => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_with_six_digits() {
        assert_eq!(six_digits(1.819_000_000_000_000_2), "1.819");
        assert_eq!(six_digits(123_456_789.0), "123457000");
        assert_eq!(six_digits(f64::INFINITY), "–");
    }

    #[test]
    fn parts_are_a_map_in_their_order() {
        let prediction = Prediction::of("0 none")
            .seconds("b", 1.5, "1.1")
            .text("a", "yes", "1.2")
            .list("c", vec![1.0; 9], "s", "ours");
        let json = serde_json::to_string(&prediction).unwrap();
        assert!(json.find("\"b\"") < json.find("\"a\""), "{json}");
        assert!(json.contains(r#""b":{"value":1.5,"unit":"s","equation":"1.1"}"#), "{json}");
        assert!(cells(&prediction.parts.0[2])[1].ends_with("1 and 1 more"));
    }
}
