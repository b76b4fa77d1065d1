//! Where a description's values come from: its comments, by the key that they stand behind.

/// A value of a description and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The value's keys from the outside in, such as `link.host.pinned`.
    pub key: String,
    /// What the comment behind it says.
    pub text: String,
}

/// The sources that the comments of a description's `text` name, in its order. A comment that
/// stands alone on its line is the reader's, not a value's.
pub fn sources(text: &str) -> Vec<Source> {
    let mut found: Vec<Source> = vec![];
    // The keys around the line, each with its indentation.
    let mut around: Vec<(usize, &str)> = vec![];
    for line in text.lines() {
        let (content, comment) = match line.find(" #") {
            Some(at) => (&line[..at], Some(line[at + 2..].trim())),
            None => (line, None),
        };
        let trimmed = content.trim_start();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        // A map in braces goes on with the key above it.
        if !trimmed.starts_with('{') {
            let indent = content.len() - trimmed.len();
            around.retain(|&(other, _)| other < indent);
            around.push((indent, trimmed.split(':').next().unwrap_or_default()));
        }
        let key = around.iter().map(|&(_, key)| key).collect::<Vec<_>>().join(".");
        if let Some(text) = comment.filter(|text| !text.is_empty()) {
            found.push(Source { key, text: text.to_owned() });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_sources_of_the_keys_they_stand_behind() {
        let text = "\
# all about it
name: x
units: 4   # the table
unit:      # the guide
  groups: 16
  banks: 32 # the table
link:
  host:
    # for the reader
    pinned:
      { upload: 1, download: 2 } # latency assumed
costs: { submit: 1 }
";
        let found = sources(text);
        let found: Vec<_> = found.iter().map(|s| (s.key.as_str(), s.text.as_str())).collect();
        let expected = [
            ("units", "the table"),
            ("unit", "the guide"),
            ("unit.banks", "the table"),
            ("link.host.pinned", "latency assumed"),
        ];
        assert_eq!(found, expected);
    }
}
