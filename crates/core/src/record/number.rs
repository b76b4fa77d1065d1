//! Numbers that may be infinite or no number at all, which JSON cannot say: then a string does.

use serde::{Deserialize, Deserializer, Serializer, de::Error};

/// Writes `x` as a number where JSON can, else as `"inf"`, `"-inf"` or `"NaN"`.
pub fn serialize<S: Serializer>(x: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if x.is_finite() { serializer.serialize_f64(*x) } else { serializer.collect_str(x) }
}

/// Reads what [`serialize`] wrote.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Raw {
        Number(f64),
        Text(String),
    }
    match Raw::deserialize(deserializer)? {
        Raw::Number(x) => Ok(x),
        Raw::Text(text) => text.parse().map_err(D::Error::custom),
    }
}

#[cfg(test)]
mod tests {
    use crate::record::ErrorNorms;

    #[test]
    fn norms_survive_json_whatever_they_are() {
        let norms = ErrorNorms { max_absolute: f64::INFINITY, max_relative: f64::NAN, l2: 1.5e-7 };
        let text = serde_json::to_string(&norms).expect("serialises");
        assert_eq!(text, r#"{"max_absolute":"inf","max_relative":"NaN","l2":1.5e-7}"#);
        let back: ErrorNorms = serde_json::from_str(&text).expect("deserialises");
        assert!(back.max_absolute.is_infinite() && back.max_relative.is_nan());
        assert_eq!(back.l2, norms.l2);
    }
}
