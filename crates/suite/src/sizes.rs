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
