//! Lines between two machines: numbered and hashed, so that what a link drops or garbles is seen, and not
//! taken for a result.

use gpubench_core::hash::sha256_hex;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Stands before every line: whatever else arrives is chatter, such as a greeting of the shell.
const MARK: &str = "gpubench-remote\u{1}";
/// Digits of the hash: what is guarded against is a bad line, not an attacker, who needs none of this.
const DIGITS: usize = 16;

/// Writes lines.
#[derive(Debug, Default)]
pub(super) struct FrameWriter {
    written: u64,
}

impl FrameWriter {
    /// The message as the next line, its break included.
    pub fn line(&mut self, message: &impl Serialize) -> serde_json::Result<String> {
        let body = format!("{} {}", self.written, serde_json::to_string(message)?);
        self.written += 1;
        Ok(format!("{MARK}{} {body}\n", &sha256_hex(&body)[..DIGITS]))
    }
}

/// Reads lines.
#[derive(Debug, Default)]
pub(super) struct FrameReader {
    read: u64,
}

impl FrameReader {
    /// The message in a line; `None` where it is no message.
    ///
    /// # Errors
    /// That it is garbled, that one before it is missing, or that it is no message of this version.
    pub fn message<T: DeserializeOwned>(&mut self, line: &str) -> Result<Option<T>, String> {
        let Some((_, framed)) = line.split_once(MARK) else { return Ok(None) };
        let whole = framed.trim_end_matches(['\r', '\n']).split_once(' ');
        let is_whole = |(hash, body): &(&str, &str)| sha256_hex(body)[..DIGITS] == **hash;
        let Some((_, body)) = whole.filter(is_whole) else {
            return Err("a line arrived garbled".into());
        };
        let (number, json) = body.split_once(' ').unwrap_or((body, ""));
        if number.parse() != Ok(self.read) {
            return Err(format!("line {} did not arrive, {number} did", self.read));
        }
        self.read += 1;
        serde_json::from_str(json).map(Some).map_err(|error| format!("a line is unknown: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> [String; 3] {
        let mut writer = FrameWriter::default();
        [1.5, 2.5, 3.5].map(|number: f64| writer.line(&number).expect("a number"))
    }

    #[test]
    fn messages_arrive_in_order_and_chatter_is_none() {
        let mut reader = FrameReader::default();
        let [one, two, _] = lines();
        assert_eq!(reader.message::<f64>("Welcome to the board\n"), Ok(None));
        assert_eq!(reader.message(&format!("$ {one}")), Ok(Some(1.5)));
        assert_eq!(reader.message(&two.replace('\n', "\r\n")), Ok(Some(2.5)));
    }

    #[test]
    fn a_digit_that_changes_and_a_line_that_is_missing_are_seen() {
        let [one, two, three] = lines();
        let mut reader = FrameReader::default();
        let garbled = reader.message::<f64>(&one.replace("1.5", "1.6"));
        assert!(garbled.unwrap_err().contains("garbled"));
        assert_eq!(reader.message(&one), Ok(Some(1.5)));
        let missing = reader.message::<f64>(&three).unwrap_err();
        assert_eq!(missing, "line 1 did not arrive, 2 did");
        let cut = reader.message::<f64>(&two[..two.len() - 3]);
        assert!(cut.unwrap_err().contains("garbled"));
    }
}
