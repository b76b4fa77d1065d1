//! A workload's `search:`: the variants of a kernel among which the fastest is looked for.

use super::condition::Condition;
use super::convert::{Converter, Params};
use super::data;
use super::decode::{At, Decode, Diagnostics, SpecReader};
use super::expr::Scope;
use super::file;
use super::keywords::SearchedBy;
use super::suggest::suggest;
use super::types::{Kernel, Workload};
use super::values::{Group, Groups};
use gpubench_core::gpu::{Constant, group_label};
use gpubench_core::workload::Size;
use gpubench_core::yaml::{Node, Value};
use std::ops::Range;

/// More variants than this take too long to try in every run.
const MAX_IN_RUN: usize = 1000;
/// More than this a plan does not even list.
const MAX_PRODUCT: usize = 1_000_000;

/// The variants among which the fastest is looked for: the product of all axes, as far as the conditions hold.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// Group sizes to try.
    pub groups: Vec<Group>,
    /// Constants to try: name and values.
    pub constants: Vec<(String, Vec<Constant>)>,
    /// What must hold of a variant.
    pub conditions: Vec<Condition>,
    /// Who tries them.
    pub by: SearchedBy,
}

/// A kernel in one point of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Work-items per group along each dimension.
    pub group: Group,
    /// All constants of the kernel.
    pub constants: Vec<(String, Constant)>,
    /// What sets it apart from the others: `16x16 WIDTH=4`.
    pub label: String,
}

impl Search {
    /// Every variant of `kernel` whose conditions hold in `scope`, the values of sizes and parameters.
    ///
    /// # Errors
    /// A condition that has no value.
    pub fn variants(&self, kernel: &Kernel, scope: &Scope) -> Result<Vec<Variant>, String> {
        let groups = if self.groups.is_empty() { &[kernel.group][..] } else { &self.groups };
        let labels = !self.groups.is_empty();
        let first = |group: &Group| Variant {
            group: *group,
            constants: kernel.constants.clone(),
            label: if labels { group_label(*group) } else { String::new() },
        };
        let mut variants: Vec<Variant> = groups.iter().map(first).collect();
        for (name, values) in &self.constants {
            let with =
                |variant| values.iter().map(move |value| Variant::with(variant, name, value));
            variants = variants.iter().flat_map(with).collect();
        }
        let allowed = |variant| {
            let allows = self.allows(&variant, scope);
            allows.map(|allows| allows.then_some(variant)).transpose()
        };
        variants.into_iter().filter_map(allowed).collect()
    }

    /// Whether all conditions hold of a variant; of equal names that of `scope` wins, as in a grid.
    fn allows(&self, variant: &Variant, scope: &Scope) -> Result<bool, String> {
        if self.conditions.is_empty() {
            return Ok(true);
        }
        let mut values = variant.numbers();
        values.extend(scope.iter().cloned());
        for condition in &self.conditions {
            if !condition.holds(&values)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// How many points its axes have.
    fn product(&self) -> usize {
        let values = self.constants.iter().map(|(_, values)| values.len());
        values.fold(self.groups.len().max(1), usize::saturating_mul)
    }
}

impl Variant {
    /// Whether `kernel` itself has this variant's group and constants.
    pub fn is_of(&self, kernel: &Kernel) -> bool {
        self.group == kernel.group
            && self.constants.iter().all(|own| kernel.constants.contains(own))
    }

    fn with(&self, name: &str, value: &Constant) -> Self {
        let mut constants = self.constants.clone();
        constants.retain(|(known, _)| known != name);
        constants.push((name.to_owned(), value.clone()));
        let label = format!("{} {name}={value}", self.label).trim().to_owned();
        Self { group: self.group, constants, label }
    }

    /// Group and constants as expressions see them.
    pub fn numbers(&self) -> Vec<(String, f64)> {
        let group = ["GROUP_X", "GROUP_Y", "GROUP_Z"].into_iter().zip(self.group);
        let group = group.map(|(name, size)| (name.to_owned(), f64::from(size)));
        let constants = self.constants.iter().flat_map(|(name, value)| value.numbers(name));
        group.chain(constants).collect()
    }
}

impl Kernel {
    /// The search that every run makes.
    pub fn searched_in_run(&self) -> Option<&Search> {
        self.search.as_ref().filter(|search| search.by == SearchedBy::Run)
    }

    /// This kernel in one variant, with nothing left to search.
    pub fn in_variant(&self, variant: &Variant) -> Self {
        Self {
            group: variant.group,
            constants: variant.constants.clone(),
            variant: variant.label.clone(),
            search: None,
            ..self.clone()
        }
    }
}

/// Work-groups of a search: a list, or the product of lists by axis.
#[derive(Clone, Debug)]
pub struct SearchGroups(pub Vec<Group>);

impl Decode for SearchGroups {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        if !matches!(node.value, Value::Map(_)) {
            return Groups::decode(node, diagnostics).map(|groups| Self(groups.all()));
        }
        let mut reader = SpecReader::of(node, diagnostics)?;
        let axes =
            ["x", "y", "z"].map(|axis| reader.field::<Option<Vec<At<u32>>>>(axis, diagnostics));
        reader.close(diagnostics);
        let mut groups = vec![[1; 3]];
        for (axis, sizes) in axes.into_iter().enumerate() {
            let Some(sizes) = sizes? else { continue };
            if let Some(zero) = sizes.iter().find(|size| size.value == 0) {
                let message = "a work-group has at least one work-item";
                return diagnostics.reject(&zero.at, message, None);
            }
            if groups.len().saturating_mul(sizes.len()) > MAX_PRODUCT {
                return diagnostics.reject(&node.at, "more work-groups than a plan lists", None);
            }
            let with = |mut group: Group, size: &At<u32>| {
                group[axis] = size.value;
                group
            };
            let all = |group| sizes.iter().map(move |size| with(group, size));
            groups = groups.into_iter().flat_map(all).collect();
        }
        match groups.is_empty() {
            true => diagnostics.reject(&node.at, "an axis of a work-group without a size", None),
            false => Some(Self(groups)),
        }
    }
}

impl Converter<'_> {
    /// The axes of a search. `None`: there was a diagnostic.
    pub fn search(
        &mut self,
        spec: &file::Search,
        at: &Range<usize>,
        kernel: &file::Kernel,
    ) -> Option<Search> {
        let by = spec.by.as_ref().map_or(SearchedBy::default(), |by| by.value);
        let mut constants = vec![];
        for (name, values) in spec.constants.as_ref().map_or(&[][..], |entries| &entries.0) {
            let own = kernel.constants.iter().flat_map(|all| &all.0);
            if by == SearchedBy::Tune && !own.clone().any(|(known, _)| known.value == name.value) {
                let message = format!("the kernel has no constant `{}`", name.value);
                let help = suggest(&name.value, own.map(|(known, _)| known.value.as_str()));
                let rule = "what `tune` searches needs a value in the kernel's `constants` that `run` takes";
                self.diagnostics.push(&name.at, message, Some(help.as_deref().unwrap_or(rule)));
            }
            if values.value.is_empty() {
                return self.diagnostics.reject(&values.at, "there is no value to try", None);
            }
            let values = values.value.iter().map(|value| value.value.0.clone()).collect();
            constants.push(self.constant_name(name).map(|name| (name, values)));
        }
        let search = Search {
            groups: spec.group.as_ref().map_or(vec![], |groups| groups.value.0.clone()),
            constants: constants.into_iter().collect::<Option<_>>()?,
            conditions: spec.r#where.iter().flatten().map(|at| at.value.clone()).collect(),
            by,
        };
        let (max_variants, count) =
            (if by == SearchedBy::Tune { MAX_PRODUCT } else { MAX_IN_RUN }, search.product());
        if !(1..=max_variants).contains(&count) {
            let message =
                format!("a search has between 1 and {max_variants} variants, not {count}");
            let help = (by == SearchedBy::Run).then_some(
                "with `by: tune` they are tried by `gpubench tune` and not in every run",
            );
            return self.diagnostics.reject(at, message, help);
        }
        Some(search)
    }

    /// Reports conditions over names that are not there, and those that leave no variant at some size.
    pub fn check_search(
        &mut self,
        spec: &file::Workload,
        sizes: &[Size],
        params: &Params,
    ) -> Option<()> {
        let names = data::launch_names(spec, sizes, params);
        let conditions = spec.search.iter().flat_map(|search| &search.value.r#where).flatten();
        let mut known = Some(());
        for At { value: condition, at } in conditions {
            if let Some(name) = condition.names().find(|name| !names.iter().any(|n| n == name)) {
                let help = suggest(name, names.iter().map(String::as_str));
                let rule =
                    "sizes, parameters, constants and GROUP_X, GROUP_Y, GROUP_Z can be compared";
                let help = help.as_deref().unwrap_or(rule);
                self.diagnostics.push(at, format!("there is no `{name}` here"), Some(help));
                known = None;
            }
        }
        known
    }

    /// Reports a size at which no variant is left.
    pub fn search_at_size(
        &mut self,
        spec: &file::Workload,
        workload: &Workload,
        size: &Size,
        values: &Scope,
    ) {
        let Some(kernel) = &workload.kernel else { return };
        let (Some(search), Some(At { at, .. })) = (&kernel.search, &spec.search) else { return };
        if search.conditions.is_empty() {
            return;
        }
        match search.variants(kernel, values) {
            Ok(left) if left.is_empty() => {
                self.fails(at, "search", size, "no variant fulfils all conditions");
            }
            Ok(_) => {}
            Err(why) => self.fails(at, "search", size, &why),
        }
    }
}

#[cfg(test)]
mod tests;
