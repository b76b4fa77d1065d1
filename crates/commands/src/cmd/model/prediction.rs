//! What a model predicts from parameters: its parts by name, each with its unit and its equation.

use super::{show, table};
use gpubench_core::error::Result;
use gpubench_core::text::listed;
use gpubench_core::units::quoted;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// A prediction and its parts.
#[derive(Debug, Serialize)]
pub struct Prediction {
    /// The model and its source.
    model: &'static str,
    #[serde(serialize_with = "by_name")]
    parts: Vec<Part>,
}

#[derive(Debug, Serialize)]
struct Part {
    #[serde(skip)]
    name: String,
    /// A number, several, or a text; nothing where a number is not finite.
    value: Value,
    /// Empty where the value has none.
    unit: &'static str,
    /// The equation or section of the model's source; `ours` where it has none.
    equation: &'static str,
}

/// What the value of a part is made of: a number, several, or a text.
pub trait PartValue: Into<Value> {}
impl PartValue for f64 {}
impl PartValue for Vec<f64> {}
impl PartValue for &str {}
impl PartValue for String {}

fn by_name<S: Serializer>(parts: &[Part], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(parts.iter().map(|part| (&part.name, part)))
}

impl Prediction {
    /// Of a model: its number, its name and its source.
    pub fn of(model: &'static str) -> Self {
        Self { model, parts: vec![] }
    }

    /// With one part more.
    pub fn part(
        mut self,
        name: impl Into<String>,
        value: impl PartValue,
        unit: &'static str,
        equation: &'static str,
    ) -> Self {
        self.parts.push(Part { name: name.into(), value: value.into(), unit, equation });
        self
    }

    /// With seconds.
    pub fn seconds(self, name: impl Into<String>, value: f64, equation: &'static str) -> Self {
        self.part(name, value, "s", equation)
    }

    /// Prints it, for programs or for people.
    pub fn show(&self, json: bool) -> Result<()> {
        show(json, self, || {
            let table =
                table(&["part", ">value", "unit", "equation"], self.parts.iter().map(cells));
            format!("model {}\n\n{table}", self.model)
        })
    }
}

fn cells(part: &Part) -> Vec<String> {
    /// Values of a list that a person is shown.
    const SHOWN: usize = 8;
    let value = match &part.value {
        Value::String(text) => text.clone(),
        Value::Array(values) => listed(values.iter().map(six_digits), SHOWN),
        number => six_digits(number),
    };
    vec![part.name.clone(), value, part.unit.to_owned(), part.equation.to_owned()]
}

/// Six digits, which tell slips of printed tables from rounding.
fn six_digits(number: &Value) -> String {
    let rounded = number.as_f64().and_then(|x| format!("{x:.5e}").parse().ok());
    rounded.map_or_else(|| "–".to_owned(), quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_with_six_digits() {
        let shown = |x: f64| six_digits(&x.into());
        assert_eq!(shown(1.819_000_000_000_000_2), "1.819");
        assert_eq!(shown(123_456_789.0), "123457000");
        assert_eq!(shown(f64::INFINITY), "–");
    }

    #[test]
    fn parts_are_a_map_in_their_order() {
        let prediction = Prediction::of("0 none")
            .seconds("b", 1.5, "1.1")
            .part("a", "yes", "", "1.2")
            .part("c", vec![1.0; 9], "s", "ours");
        let json = serde_json::to_string(&prediction).unwrap();
        assert!(json.find("\"b\"") < json.find("\"a\""), "{json}");
        assert!(json.contains(r#""b":{"value":1.5,"unit":"s","equation":"1.1"}"#), "{json}");
        assert!(cells(&prediction.parts[2])[1].ends_with("1 and 1 more"));
    }
}
