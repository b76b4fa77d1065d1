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

/// The `count` choices that are most like `word`, whole or by any of their words; the most similar first.
pub fn closest_matches<'a>(
    word: &str,
    choices: impl IntoIterator<Item = &'a str>,
    count: usize,
) -> Vec<&'a str> {
    let wanted = word.to_lowercase();
    let likeness = |choice: &str| {
        let choice = choice.to_lowercase();
        let parts = choice.split([' ', '_', '/']).chain([choice.as_str()]);
        parts.map(|part| strsim::jaro_winkler(&wanted, part)).fold(0.0, f64::max)
    };
    let mut ranked: Vec<_> = choices.into_iter().map(|choice| (likeness(choice), choice)).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    ranked.into_iter().take(count).map(|(_, choice)| choice).collect()
}

/// Help for a misspelt `word`: the nearest choice, else all of them where they are few.
pub fn suggest<'a>(
    word: &str,
    choices: impl IntoIterator<Item = &'a str> + Clone,
) -> Option<String> {
    /// More than this many choices are no help.
    const FEW: usize = 40;
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
        assert_eq!(suggest("Sise", choices).unwrap(), "did you mean `sizes`?");
        assert_eq!(suggest("zzz", choices).unwrap(), "there are: kernel, sizes, measure, buffers");
        assert_eq!(suggest("zzz", []), None);
        let cases = ["matmul n=64", "overlap_sepia n=512", "sepia n=1", "gather n=2"];
        assert_eq!(closest_matches("sepai", cases, 2), ["overlap_sepia n=512", "sepia n=1"]);
    }

    #[test]
    fn a_few_choices_are_listed_each_once() {
        let names: Vec<String> =
            (0..41).map(|i| format!("{}{i}", char::from(b'a' + i % 26))).collect();
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(
            suggest("qqqqqqqq", all[..40].iter().copied()),
            Some(format!("there are: {}", all[..40].join(", ")))
        );
        assert_eq!(suggest("qqqqqqqq", all.iter().copied()), None);
        assert_eq!(
            suggest("zzz", ["kernel", "sizes", "kernel"]).unwrap(),
            "there are: kernel, sizes"
        );
    }

    #[test]
    fn the_most_similar_choice_wins_whatever_its_case() {
        assert_eq!(nearest("GRID", ["grids", "grid", "grip"]), Some("grid"));
        assert_eq!(nearest("grid", ["GRIP", "GRID"]), Some("GRID"));
        assert_eq!(
            closest_matches("grid", ["kernel", "a/grid", "the grid"], 3),
            ["a/grid", "the grid", "kernel"]
        );
        assert_eq!(closest_matches("grid", ["kernel", "grid"], 0), Vec::<&str>::new());
    }
}
