//! A shipped kernel of single-precision numbers in double precision: its text with the names of the types
//! and the numbers of the other precision, so that both are one kernel.
//!
//! In WGSL `f64` and numbers that end in `lf` are what naga has beyond the language; a device that takes
//! them says that it has `f64`.

use gpubench_core::gpu::Language;

/// The text with `f64` in the place of `f32`.
pub fn doubled(text: &str, language: Language) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let len = token(rest).unwrap_or(first.len_utf8());
        let (token, behind) = rest.split_at(len);
        match first {
            '0'..='9' => out += &number(token, language),
            'a'..='z' => out += &word(token, language),
            _ => out += token,
        }
        rest = behind;
    }
    out
}

/// Bytes of the word or the number that a text begins with; `None` where it begins with neither.
fn token(text: &str) -> Option<usize> {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit());
    let belongs = |c: char| c.is_ascii_alphanumeric() || c == '_' || is_number && c == '.';
    match text.find(|c| !belongs(c)).unwrap_or(text.len()) {
        0 => None,
        len => Some(len),
    }
}

/// A number that has a fraction, of the other type.
fn number(token: &str, language: Language) -> String {
    let hexadecimal = token.starts_with("0x");
    let digits = if hexadecimal { token } else { token.trim_end_matches(['f', 'F']) };
    let has_fraction = digits.len() < token.len() || token.contains('.');
    match (has_fraction, language) {
        (false, _) => token.to_owned(),
        (true, Language::Opencl) => digits.to_owned(),
        (true, Language::Wgsl) => format!("{digits}lf"),
    }
}

/// A type, where the word is one.
fn word(token: &str, language: Language) -> String {
    match (language, token, token.strip_prefix("float")) {
        (Language::Wgsl, "f32", _) => "f64".to_owned(),
        (Language::Opencl, _, Some(width @ ("" | "2" | "3" | "4" | "8" | "16"))) => {
            format!("double{width}")
        }
        _ => token.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_numbers_are_doubled_and_nothing_else() {
        for (language, single, double) in [
            (Language::Opencl, "float4 x = (float4)(0.0f), y;", "double4 x = (double4)(0.0), y;"),
            (Language::Opencl, "floats a = 1e3f + 2u * 0x1f;", "floats a = 1e3 + 2u * 0x1f;"),
            (Language::Opencl, "c0 = mad(a.xxxx, b, c0); // é", "c0 = mad(a.xxxx, b, c0); // é"),
            (Language::Wgsl, "var s: vec4<f32> = 1.5 * v;", "var s: vec4<f64> = 1.5lf * v;"),
            (Language::Wgsl, "a[4 * i + 1u] = 2f; p.f32x", "a[4 * i + 1u] = 2lf; p.f32x"),
        ] {
            assert_eq!(doubled(single, language), double);
        }
    }
}
