//! Arguments that choose from a list of names, each with what it stands for.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A name, what help says of it, and what it stands for. Behind a `|` stand other names for the same.
pub type Choice<T> = (&'static str, &'static str, T);

/// A parser of the names in `all`.
pub fn one_of<T: Clone + Send + Sync + 'static>(
    all: impl IntoIterator<Item = Choice<T>>,
) -> impl TypedValueParser<Value = T> {
    let all: Vec<_> = all.into_iter().collect();
    let named = |(name, about, _): &Choice<T>| {
        let (name, others) = name.split_once('|').unwrap_or((name, ""));
        let others = others.split('|').filter(|other| !other.is_empty());
        PossibleValue::new(name).aliases(others).help(*about)
    };
    let names = PossibleValuesParser::new(all.iter().map(named).collect::<Vec<_>>());
    names.try_map(move |name| {
        let found = all.iter().find(|(known, ..)| known.split('|').any(|known| known == name));
        found.map(|(_, _, one)| one.clone()).ok_or("it is not in the list")
    })
}
