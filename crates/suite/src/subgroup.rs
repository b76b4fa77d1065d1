//! `subgroup:`, how many work-items a kernel asks its subgroups to have.

use super::convert::Converter;
use super::decode::{At, Decode, Diagnostics};
use super::file;
use super::suggest::suggest;
use super::types::Fallback;
use gpubench_core::gpu::{Constant, MAX_SUBGROUP};
use gpubench_core::yaml::{Node, Value};

const RULE: &str =
    "a subgroup has a power of two of work-items, at most 128; 0 leaves it to the driver";

/// A size, or the name of the constant that is it, so that a search can try several.
#[derive(Clone, Debug, PartialEq)]
pub enum Subgroup {
    /// Work-items.
    Size(i64),
    /// A constant's name.
    Constant(String),
}

impl Decode for Subgroup {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match &node.value {
            Value::Int(size) => Some(Self::Size(*size)),
            Value::Text(name) => Some(Self::Constant(name.clone())),
            _ => diagnostics.unexpected(node, "a number of work-items, or a constant's name"),
        }
    }
}

impl std::fmt::Display for Subgroup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Size(size) => write!(f, "{size}"),
            Self::Constant(name) => f.write_str(name),
        }
    }
}

impl Subgroup {
    /// The size with a variant's constants; `None` leaves it to the driver.
    pub fn size(&self, constants: &[(String, Constant)]) -> Option<u32> {
        let size = match self {
            Self::Size(size) => *size,
            Self::Constant(name) => match constants.iter().find(|(known, _)| known == name)?.1 {
                Constant::Int(size) => size,
                _ => 0,
            },
        };
        u32::try_from(size).ok().filter(|&size| size > 0)
    }
}

fn is_size(constant: &Constant) -> bool {
    let largest = i64::from(MAX_SUBGROUP);
    matches!(constant, Constant::Int(size) if (0..=largest).contains(size) && size.count_ones() <= 1)
}

impl Converter<'_> {
    /// The subgroup of a kernel with these constants, whatever variant; the outer `None`: it is none.
    pub fn subgroup(
        &mut self,
        spec: &file::Workload,
        kernel: &file::Kernel,
        (constants, fallback): (&[(String, Constant)], &[Fallback]),
    ) -> Option<Option<Subgroup>> {
        let Some(At { value, at }) = &kernel.subgroup else { return Some(None) };
        let mut sizes: Vec<Constant> = vec![];
        match value {
            Subgroup::Size(size) => sizes.push(Constant::Int(*size)),
            Subgroup::Constant(name) => {
                let own = constants.iter().chain(fallback.iter().flat_map(|of| &of.constants));
                let own = own.filter(|(known, _)| known == name).map(|(_, value)| value.clone());
                let search = spec.search.iter().filter_map(|s| s.value.constants.as_ref());
                let searched = search.flat_map(|all| &all.0).filter(|(of, _)| of.value == *name);
                let tried = searched.flat_map(|(_, values)| &values.value);
                sizes.extend(own.chain(tried.map(|tried| tried.value.0.clone())));
            }
        }
        if let (Subgroup::Constant(name), true) = (value, sizes.is_empty()) {
            let message = format!("the kernel has no constant `{name}`");
            let help = suggest(name, constants.iter().map(|(known, _)| known.as_str()));
            return self.diagnostics.reject(at, message, help.as_deref());
        }
        match sizes.iter().find(|size| !is_size(size)) {
            Some(wrong) => {
                self.diagnostics.reject(at, format!("{wrong} is no size of a subgroup"), Some(RULE))
            }
            None => Some(Some(value.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{SUITE, mistake, workload_with};
    use gpubench_core::gpu::{Constant, Language};

    fn sizes(kernel: &str, constants: &[(&str, i64)]) -> Option<u32> {
        let kernel =
            workload_with("group: [64]", &format!("group: [64], {kernel}")).kernel.unwrap();
        let constants: Vec<_> =
            constants.iter().map(|(name, n)| ((*name).to_owned(), Constant::Int(*n))).collect();
        kernel.settings(kernel.text(Language::Wgsl).unwrap(), &constants).subgroup
    }

    #[test]
    fn a_size_is_a_number_or_a_constants() {
        assert_eq!(sizes("needs: []", &[]), None);
        assert_eq!(sizes("subgroup: 32", &[]), Some(32));
        assert_eq!(sizes("subgroup: 0", &[]), None);
        let named = "subgroup: LANES, constants: { LANES: 64 }";
        assert_eq!(sizes(named, &[("LANES", 16)]), Some(16));
        assert_eq!(sizes(named, &[("LANES", 0)]), None);
    }

    #[test]
    fn what_no_subgroup_has_is_said() {
        for (kernel, message, at) in [
            ("subgroup: 24", "24 is no size of a subgroup", "24"),
            ("subgroup: -1", "-1 is no size of a subgroup", "-1"),
            ("subgroup: 256", "256 is no size of a subgroup", "256"),
            ("subgroup: LANES", "the kernel has no constant `LANES`", "LANES"),
            ("subgroup: T, constants: { T: f32 }", "f32 is no size of a subgroup", "T"),
            ("subgroup: L, constants: { L: 0.5 }", "0.5 is no size of a subgroup", "L"),
            (
                "subgroup: L, constants: { L: 32 }, fallback: [{ group: [32], constants: { L: 12 } }]",
                "12 is no size of a subgroup",
                "L",
            ),
        ] {
            let (said, place) = mistake("group: [64]", &format!("group: [64], {kernel}"), &[]);
            assert_eq!((&said[..], &place[..]), (message, at), "{kernel}");
        }
        let searched = SUITE
            .replace("group: [64]", "group: [64], subgroup: L")
            .replace("    params:", "    search: { constants: { L: [32, 48] } }\n    params:");
        assert_eq!(mistake(SUITE, &searched, &[]).0, "48 is no size of a subgroup");
    }
}
