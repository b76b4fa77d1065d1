use super::*;
use crate::testing::{decoded, mistakes, no_mistakes, wrong};

spec! {
    /// A spec of all sorts of values.
    Sorts {
        /// A number.
        number: f64,
        /// A truth value.
        truth: Option<bool>,
        /// A list.
        list: Option<Vec<u32>>,
    }
}

#[test]
fn values_are_of_their_sort() {
    assert_eq!(
        (decoded("7"), decoded("-2.5"), decoded::<f64>("1e3")),
        (Ok(7.0), Ok(-2.5), Ok(1000.0))
    );
    assert_eq!((decoded("0"), decoded("4294967295")), (Ok(0u32), Ok(u32::MAX)));
    assert_eq!((decoded("true"), decoded("false")), (Ok(true), Ok(false)));
    assert_eq!(decoded("a b"), Ok("a b".to_owned()));
    assert_eq!(
        (decoded::<Vec<u32>>("[1, 2]"), decoded::<Vec<u32>>("[]")),
        (Ok(vec![1, 2]), Ok(vec![]))
    );
    for text in ["-1", "4294967296", "1.5", "a"] {
        assert_eq!(
            wrong::<u32>(text).0,
            format!("expected a whole number between 0 and 2^32 - 1, found `{text}`")
        );
    }
    assert_eq!(wrong::<f64>("a").0, "expected a number, found `a`");
    assert_eq!(wrong::<bool>("yes").0, "expected true or false, found `yes`");
    assert_eq!(wrong::<String>("7").0, "expected a text, found `7`");
    assert_eq!(wrong::<Vec<u32>>("7").0, "expected a list, found `7`");
    assert_eq!(wrong::<Entries<u32>>("7").0, "expected a map, found `7`");
}

#[test]
fn every_mistake_of_a_list_or_map_is_reported() {
    let found = decoded::<Vec<u32>>("[1, a, 2, b]").unwrap_err();
    assert_eq!(found.iter().map(|(_, at)| &at[..]).collect::<Vec<_>>(), ["a", "b"]);
    let found = decoded::<Entries<u32>>("{ x: a, y: 1, z: b }").unwrap_err();
    assert_eq!(found.iter().map(|(_, at)| &at[..]).collect::<Vec<_>>(), ["a", "b"]);
    let entries: Entries<At<u32>> = decoded("{ x: 1, y: 2 }").unwrap();
    let seen: Vec<_> =
        entries.0.iter().map(|(key, at)| (&key.value[..], at.value, at.at.clone())).collect();
    assert_eq!(seen, [("x", 1, 5..6), ("y", 2, 11..12)]);
}

#[test]
fn a_spec_has_its_keys_and_no_others() {
    let all: Sorts = decoded("{ list: [3], number: 2, truth: true }").unwrap();
    assert_eq!((all.number, all.truth, all.list), (2.0, Some(true), Some(vec![3])));
    let few: Sorts = decoded("{ number: 2 }").unwrap();
    assert_eq!((few.truth, few.list), (None, None));
    assert_eq!(wrong::<Sorts>("{ truth: true }").0, "`number` is missing here");
    assert_eq!(
        wrong::<Sorts>("{ number: 1, lst: [1] }"),
        ("unknown key `lst`".to_owned(), "lst".to_owned())
    );
    assert_eq!(wrong::<Sorts>("7").0, "expected a map, found `7`");
    let found = decoded::<Sorts>("{ number: a, truth: 1, more: 2 }").unwrap_err();
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn what_is_not_clean_is_dropped_without_hiding_its_neighbours() {
    assert!(decoded::<Clean<Sorts>>("{ number: 1 }").unwrap().0.is_some());
    let text = "[{ number: 1, more: 2 }, { number: 3 }]";
    let mut diagnostics = no_mistakes(text);
    let all: Vec<Clean<Sorts>> =
        Vec::decode(&Node::parse("", text).unwrap(), &mut diagnostics).unwrap();
    assert_eq!(all.iter().map(|one| one.0.is_some()).collect::<Vec<_>>(), [false, true]);
    assert_eq!(mistakes(diagnostics), [("unknown key `more`".to_owned(), "more".to_owned())]);
}

#[test]
fn a_mistake_is_kept_once_and_a_hundred_in_all() {
    let text = "x".repeat(200);
    let mut diagnostics = no_mistakes(&text);
    assert_eq!(diagnostics.count(), 0);
    for i in 0..101 {
        diagnostics.push(&(i..i + 1), "wrong", None);
        diagnostics.push(&(i..i + 1), "wrong", None);
    }
    assert_eq!(diagnostics.count(), 202, "each that was found");
    assert_eq!(diagnostics.reject::<()>(&(0..1), "other", None), None);
    let found = diagnostics.into_found();
    assert_eq!((found.len(), found[99].offset, found[99].len), (100, 99, 1));
}

#[test]
fn names_that_are_not_known_are_reported_each() {
    let known = |text: &str| {
        let mut diagnostics = no_mistakes(text);
        let expression =
            Expression::decode(&Node::parse("", text).unwrap(), &mut diagnostics).unwrap();
        let all = diagnostics.check_names(&expression, &["rows", "m"], "the rule");
        (
            all.is_some(),
            diagnostics
                .into_found()
                .into_iter()
                .map(|one| (one.offset, one.help.unwrap()))
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(known("rows*m + 1"), (true, vec![]));
    let (all, found) = known("row*m + zzzzzz");
    assert!(
        !all && found[0] == (0, "did you mean `rows`?".to_owned()) && found[1].0 == 8,
        "{found:?}"
    );
    let mut diagnostics = no_mistakes("n");
    let expression = Expression::decode(&Node::parse("", "n").unwrap(), &mut diagnostics).unwrap();
    assert_eq!(diagnostics.check_names(&expression, &[], "the rule"), None);
    assert_eq!(diagnostics.into_found()[0].help.as_deref(), Some("the rule"));
}

#[test]
fn the_schema_of_what_is_wrapped_is_that_of_what_it_wraps() {
    assert_eq!(
        (At::<Sorts>::schema_name(), Clean::<Sorts>::schema_name()),
        (Sorts::schema_name(), Sorts::schema_name())
    );
    assert_eq!(
        (At::<Sorts>::schema_id(), At::<Sorts>::inline_schema()),
        (Sorts::schema_id(), false)
    );
    assert!(At::<f64>::inline_schema() && Entries::<f64>::inline_schema());
    assert_eq!(Entries::<Sorts>::schema_name(), "Map_of_Sorts");
    let mut generator = SchemaGenerator::default();
    let schema = Entries::<At<f64>>::json_schema(&mut generator).to_value();
    assert_eq!(
        (&schema["type"], &schema["additionalProperties"]["type"]),
        (&"object".into(), &"number".into())
    );
    assert_eq!(At::<bool>::json_schema(&mut generator).to_value()["type"], "boolean");
}
