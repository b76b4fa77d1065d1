//! The problem sizes of a workload: every case once.

use super::convert::{Converter, NAME_RULE, is_name};
use super::decode::At;
use super::file;
use super::values::{Expression, Sizes};
use gpubench_core::workload::Size;
use std::ops::Range;

/// More sizes than this of one workload are an error.
const MAX_SIZES: usize = 1000;

impl Converter<'_> {
    /// The sizes of `spec`; one without a name where there are none.
    pub fn sizes(&mut self, spec: &file::Workload) -> Option<Vec<Size>> {
        let Some(At { value: sizes, at }) = &spec.sizes else { return Some(vec![vec![]]) };
        let all = match sizes {
            Sizes::Product(axes) => {
                let mut all: Vec<Size> = vec![vec![]];
                for (name, values) in &axes.0 {
                    let values: Option<Vec<_>> =
                        values.iter().map(|v| self.size(name, v)).collect();
                    let values = values?;
                    if all.len().saturating_mul(values.len()) > MAX_SIZES {
                        return self.too_many_or_few(at);
                    }
                    all = cross(&all, &name.value, &values);
                }
                all
            }
            Sizes::Cases(cases) if cases.len() > MAX_SIZES => return self.too_many_or_few(at),
            Sizes::Cases(cases) => {
                let mut all = vec![];
                for case in cases {
                    let values = case.value.0.iter();
                    let size: Option<Size> = values
                        .map(|(name, value)| Some((name.value.clone(), self.size(name, value)?)))
                        .collect();
                    all.push(size?);
                }
                self.same_names(cases.iter().map(|case| &case.at), &all)?;
                all
            }
        };
        if all.is_empty() {
            return self.too_many_or_few(at);
        }
        if let Some(twice) = (1..all.len()).find(|&i| all[..i].contains(&all[i])) {
            let message = format!("the size {} is there twice", shown(&all[twice]));
            return self.diagnostics.reject(at, message, None);
        }
        Some(all)
    }

    fn too_many_or_few<T>(&mut self, at: &Range<usize>) -> Option<T> {
        self.diagnostics.reject(at, format!("a workload has between 1 and {MAX_SIZES} sizes"), None)
    }

    fn size(&mut self, name: &At<String>, value: &At<Expression>) -> Option<i64> {
        if !is_name(&name.value) {
            let message = format!("`{}` cannot name a size", name.value);
            return self.diagnostics.reject(&name.at, message, Some(NAME_RULE));
        }
        self.names(&value.value, &[], "a size is a number")?;
        match value.value.expr.count(&[]) {
            Ok(count) => i64::try_from(count).ok(),
            Err(why) => {
                self.diagnostics.reject(&value.at, format!("size {}: {why}", name.value), None)
            }
        }
    }

    fn same_names<'r>(
        &mut self,
        places: impl Iterator<Item = &'r Range<usize>>,
        all: &[Size],
    ) -> Option<()> {
        let names = |size: &Size| size.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        for (at, size) in places.zip(all) {
            if names(size) != names(&all[0]) {
                let message = format!(
                    "this size names {}, the first one {}",
                    names(size).join(", "),
                    names(&all[0]).join(", ")
                );
                return self.diagnostics.reject(at, message, None);
            }
        }
        Some(())
    }
}

/// Every size of `all` with every value of `name` behind it.
fn cross(all: &[Size], name: &str, values: &[i64]) -> Vec<Size> {
    let with = |size: &Size, value: i64| {
        let mut size = size.clone();
        size.push((name.to_owned(), value));
        size
    };
    all.iter().flat_map(|size| values.iter().map(move |&value| with(size, value))).collect()
}

/// `n=512 m=3`.
pub fn shown(size: &Size) -> String {
    let parts: Vec<_> = size.iter().map(|(name, value)| format!("{name}={value}")).collect();
    parts.join(" ")
}

/// Names of the sizes.
pub fn size_names(sizes: &[Size]) -> Vec<&str> {
    sizes.first().map_or(vec![], |size| size.iter().map(|(name, _)| name.as_str()).collect())
}

#[cfg(test)]
mod tests {
    use crate::testing::{SUITE, load_with, mistake};
    use gpubench_core::workload::Size;

    /// The sizes of a transfer, or what is wrong with them and where.
    fn sizes(text: &str) -> Result<Vec<Size>, String> {
        let suite = format!(
            "version: 1\nworkloads:\n  w:\n    sizes: {text}\n    params: {{}}\n    verify: none\n    measure: [copies]\n"
        );
        let found = load_with(SUITE, &suite, &[]);
        found.map(|suite| suite.workloads[0].sizes.clone()).map_err(|_| {
            let (message, at) = mistake(SUITE, &suite, &[]);
            format!("{at}: {message}")
        })
    }

    fn size(parts: &[(&str, i64)]) -> Size {
        parts.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    #[test]
    fn sizes_are_the_product_of_lists_or_cases() {
        let product = sizes("{ n: [1, 2^3], m: [3, 4] }").unwrap();
        let wanted = [(1, 3), (1, 4), (8, 3), (8, 4)].map(|(n, m)| size(&[("n", n), ("m", m)]));
        assert_eq!(product, wanted);
        let cases = sizes("[{ n: 1, m: 2 }, { n: 2, m: 1 }]").unwrap();
        assert_eq!(cases, [size(&[("n", 1), ("m", 2)]), size(&[("n", 2), ("m", 1)])]);
        assert_eq!(sizes("{}").unwrap(), [size(&[])]);
        assert_eq!(super::shown(&cases[1]), "n=2 m=1");
        assert_eq!((super::size_names(&cases), super::size_names(&[])), (vec!["n", "m"], vec![]));
    }

    #[test]
    fn a_workload_has_a_thousand_sizes_and_no_more() {
        let list = |n: usize| (1..=n).map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
        let product =
            |n, m| sizes(&format!("{{ n: [{}], m: [{}] }}", list(n), list(m))).map(|all| all.len());
        let cases = |n: usize| {
            let all: Vec<_> = (1..=n).map(|i| format!("{{ n: {i} }}")).collect();
            sizes(&format!("[{}]", all.join(", "))).map(|all| all.len())
        };
        let many = Err("sizes: a workload has between 1 and 1000 sizes".to_owned());
        assert_eq!((product(100, 10), product(91, 11)), (Ok(1000), many.clone()));
        assert_eq!((cases(1000), cases(1001)), (Ok(1000), many.clone()));
        assert_eq!(
            (sizes("[]").map(|all| all.len()), sizes("{ n: [] }").map(|all| all.len())),
            (many.clone(), many)
        );
    }

    #[test]
    fn mistakes_of_sizes_are_said() {
        for (text, wanted) in [
            ("{ 9n: [1] }", "9n: `9n` cannot name a size"),
            ("{ n: [k] }", "k: there is no `k` here"),
            ("{ n: [-1] }", "-1: size n: `-1` is -1, but a count is not negative"),
            (
                "[{ n: 0.5 }]",
                "0.5: size n: `0.5` is 0.5, but a count is whole: use floor(…) or ceil_div(…)",
            ),
            ("{ n: [4, 3, 2^2] }", "sizes: the size n=4 is there twice"),
            ("[{ n: 1, m: 2 }, { m: 1, n: 2 }]", "{: this size names m, n, the first one n, m"),
        ] {
            assert_eq!(sizes(text), Err(wanted.to_owned()), "{text}");
        }
    }
}
