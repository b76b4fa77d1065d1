//! What a misspelt word was meant to be.

/// The choice most like `word`, where one is like it at all.
pub fn nearest<'a>(word: &str, choices: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = word.to_lowercase();
    choices
        .into_iter()
        .map(|choice| (strsim::jaro_winkler(&wanted, &choice.to_lowercase()), choice))
        .filter(|&(likeness, _)| likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, choice)| choice)
}

/// Help for a misspelt `word`: the nearest choice, else all of them where they are few.
pub fn meant<'a>(word: &str, choices: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    /// More than this many choices are no help.
    const FEW: usize = 24;
    if let Some(choice) = nearest(word, choices.clone()) {
        return Some(format!("did you mean `{choice}`?"));
    }
    let mut all: Vec<&str> = vec![];
    for choice in choices {
        if !all.contains(&choice) {
            all.push(choice);
        }
    }
    (1..=FEW).contains(&all.len()).then(|| format!("there are: {}", all.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_word_finds_its_like() {
        let choices = ["kernel", "sizes", "measure", "buffers"];
        assert_eq!(nearest("kernal", choices), Some("kernel"));
        assert_eq!(nearest("buffer", choices), Some("buffers"));
        assert_eq!(nearest("zzz", choices), None);
        assert_eq!(meant("Sise", choices).unwrap(), "did you mean `sizes`?");
        assert_eq!(meant("zzz", choices).unwrap(), "there are: kernel, sizes, measure, buffers");
        assert_eq!(meant("zzz", []), None);
    }
}
