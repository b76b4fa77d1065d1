//! Arguments that choose from a list which another crate, or another file, keeps.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A parser of the names in `all`: what each stands for, and what help says of it. Behind a `|` stand other
/// names for the same.
pub fn one_of<T: Clone + Send + Sync + 'static>(
    all: impl IntoIterator<Item = (&'static str, &'static str, T)>,
) -> impl TypedValueParser<Value = T> {
    let all: Vec<_> = all.into_iter().collect();
    let named = |(name, about, _): &(&'static str, &'static str, T)| {
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
