//! Variants that a language's text does not tell apart: a constant for the compiler of the other language makes
//! none here.

use super::Candidate;
use gpubench_core::gpu::{Constant, KernelSource, Language};
use std::collections::BTreeSet;

/// Of variants of one kernel that differ only in constants which its text does not mention, the first.
pub(super) fn distinct(variants: Vec<Candidate>) -> Vec<Candidate> {
    let unread = variants.first().map_or_else(BTreeSet::new, |first| unmentioned(&first.kernel));
    if unread.is_empty() {
        return variants;
    }
    let mut kept: Vec<Candidate> = vec![];
    for variant in variants {
        match kept.iter_mut().find(|known| are_same(known, &variant, &unread)) {
            Some(known) => known.is_own |= variant.is_own,
            None => kept.push(variant),
        }
    }
    kept
}

/// Whether the compiler and the device are given the same for both, but for these constants.
fn are_same(a: &Candidate, b: &Candidate, unread: &BTreeSet<String>) -> bool {
    a.kernel.group == b.kernel.group
        && a.kernel.settings == b.kernel.settings
        && a.kernel.args == b.kernel.args
        && a.groups == b.groups
        && [a.flops, a.bytes] == [b.flops, b.bytes]
        && a.params == b.params
        && a.values == b.values
        && a.later == b.later
        && mentioned(a, unread).eq(mentioned(b, unread))
}

/// The constants of a variant that its text mentions.
fn mentioned<'a>(
    one: &'a Candidate,
    unread: &BTreeSet<String>,
) -> impl Iterator<Item = &'a (String, Constant)> {
    one.kernel.constants.iter().filter(|(name, _)| !unread.contains(name))
}

/// The constants of which neither the name nor a relative's (`V_WIDTH`) stands in the text or in what a definition
/// puts into it.
fn unmentioned(kernel: &KernelSource) -> BTreeSet<String> {
    // A module's text is digits, and its constants are set by name.
    if kernel.settings.spirv {
        return BTreeSet::new();
    }
    let text = match kernel.language {
        Language::Opencl => kernel.opencl(),
        Language::Wgsl => &kernel.text,
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let defined = kernel.settings.defines.iter().map(|(_, value)| value.as_str());
    let names: BTreeSet<&str> =
        defined.chain([text]).flat_map(|text| text.split(|c| !is_name(c))).collect();
    let stands = |name: &str| {
        let relative =
            |known: &&str| known.strip_prefix(name).is_some_and(|rest| rest.starts_with('_'));
        names.contains(name) || names.iter().any(relative)
    };
    let unread = kernel.constants.iter().filter(|(name, _)| !stands(name));
    unread.map(|(name, _)| name.clone()).collect()
}
