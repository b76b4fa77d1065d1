//! A selection from included suites: a short suite names cases of longer ones instead of
//! repeating them, so that one name means one thing everywhere.

use super::decode::{At, Diagnostics, Entries};
use super::sizes::shown;
use super::suggest::suggest;
use super::types::Workload;
use super::values::Expression;

/// Workloads by name, and the values that their sizes may have.
pub type Select = Entries<Entries<Vec<At<Expression>>>>;

/// Those of `included` that `select` names, in its order, at the sizes it names.
pub fn select(
    mut included: Vec<Workload>,
    select: &Select,
    diagnostics: &mut Diagnostics,
) -> Vec<Workload> {
    let mut selected = vec![];
    for (name, wanted) in &select.0 {
        let Some(position) = included.iter().position(|w| w.name == name.value) else {
            let help = suggest(&name.value, included.iter().map(|w| w.name.as_str()));
            diagnostics.push(
                &name.at,
                format!("no included workload is called `{}`", name.value),
                help.as_deref(),
            );
            continue;
        };
        let mut workload = included.remove(position);
        let all = workload.sizes.clone();
        let help =
            || format!("its sizes: {}", all.iter().map(shown).collect::<Vec<_>>().join(", "));
        let before = diagnostics.count();
        for (size, values) in &wanted.0 {
            let has =
                |value: i64| move |(name, v): &(String, i64)| *name == size.value && *v == value;
            let mut known = vec![];
            for At { value: expression, at } in values {
                match expression.expr.count(&[]).map(i64::try_from) {
                    Ok(Ok(value)) if all.iter().flatten().any(has(value)) => known.push(value),
                    Ok(_) => {
                        let value = &expression.expr;
                        let message =
                            format!("`{}` has no size {}={value}", name.value, size.value);
                        diagnostics.push(at, message, Some(&help()));
                    }
                    Err(why) => diagnostics.push(at, why, None),
                }
            }
            workload.sizes.retain(|size| known.iter().any(|&value| size.iter().any(has(value))));
        }
        if workload.sizes.is_empty() && diagnostics.count() == before {
            let help = help();
            diagnostics.push(&name.at, format!("`{}` has no such size", name.value), Some(&help));
        }
        selected.push(workload);
    }
    selected
}

#[cfg(test)]
mod tests {
    use crate::testing::Stub;
    use crate::{Needs, load};
    use gpubench_core::error::Error;

    static COPIES: Stub = Stub::new("copies", Needs::NOTHING);

    /// A suite of transfers that includes another of them and selects from it.
    fn selected(select: &str) -> Result<Vec<String>, Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        let transfer = "{ sizes: { n: [4, 8, 16] }, buffers: { a: { type: u32, count: n, fill: index } }, \
                        verify: none, measure: [copies] }";
        let file = |name: &str, text: String| {
            std::fs::write(folder.path().join(name), format!("version: 1\n{text}")).unwrap();
        };
        file("long.yaml", format!("workloads:\n  one: {transfer}\n  two: {transfer}\n"));
        file(
            "short.yaml",
            format!("include: [long.yaml]\nselect: {select}\nworkloads: {{ own: {transfer} }}"),
        );
        match load(&folder.path().join("short.yaml").to_string_lossy(), &[], &[&COPIES]) {
            Ok(suite) => Ok(suite
                .workloads
                .iter()
                .map(|w| format!("{} {}", w.name, w.sizes.len()))
                .collect()),
            Err(Error::Suite(diagnostics)) => {
                Err(diagnostics.iter().map(|m| m.message.clone()).collect())
            }
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn a_selection_keeps_its_order_and_sizes_and_the_own_workloads() {
        assert_eq!(
            selected("{ two: {}, one: { n: [8, 2^4] } }").unwrap(),
            ["two 3", "one 2", "own 3"]
        );
    }

    #[test]
    fn what_is_not_there_cannot_be_selected() {
        assert_eq!(
            selected("{ three: {} }").unwrap_err(),
            ["no included workload is called `three`"]
        );
        assert_eq!(selected("{ own: {} }").unwrap_err(), ["no included workload is called `own`"]);
        assert_eq!(selected("{ one: { m: [4] } }").unwrap_err(), ["`one` has no size m=4"]);
        assert_eq!(selected("{ one: { n: [] } }").unwrap_err(), ["`one` has no such size"]);
        assert_eq!(
            selected("{ one: { n: [8, 5, 2^7] } }").unwrap_err(),
            ["`one` has no size n=5", "`one` has no size n=2^7"],
            "each value, although another one is there"
        );
    }
}
