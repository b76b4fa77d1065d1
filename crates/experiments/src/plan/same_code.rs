//! Variants that a language's text does not tell apart: a constant for the compiler of the other language makes
//! none here.

use super::Candidate;
use gpubench_core::gpu::{Constant, KernelSource, Language};
use std::collections::BTreeSet;

/// Of variants of one kernel that differ only in constants which its text does not mention, the first.
pub(super) fn distinct(variants: Vec<Candidate>) -> Vec<Candidate> {
    let silent = variants.first().map_or_else(BTreeSet::new, |first| unmentioned(&first.kernel));
    if silent.is_empty() {
        return variants;
    }
    let mut kept: Vec<Candidate> = vec![];
    for variant in variants {
        if !kept.iter().any(|known| are_same(known, &variant, &silent)) {
            kept.push(variant);
        }
    }
    kept
}

/// Whether the compiler and the device are given the same for both, but for these constants.
fn are_same(a: &Candidate, b: &Candidate, silent: &BTreeSet<String>) -> bool {
    a.kernel.group == b.kernel.group
        && a.groups == b.groups
        && [a.flops, a.bytes] == [b.flops, b.bytes]
        && a.params == b.params
        && a.values == b.values
        && a.later == b.later
        && spoken(a, silent).eq(spoken(b, silent))
}

/// The constants of a variant that its text mentions.
fn spoken<'a>(
    one: &'a Candidate,
    silent: &BTreeSet<String>,
) -> impl Iterator<Item = &'a (String, Constant)> {
    one.kernel.constants.iter().filter(|(name, _)| !silent.contains(name))
}

/// The constants of which neither the name nor a relative's (`V_WIDTH`) stands in the text.
fn unmentioned(kernel: &KernelSource) -> BTreeSet<String> {
    let text = match kernel.language {
        Language::Opencl => kernel.opencl(),
        Language::Wgsl => &kernel.text,
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let names: BTreeSet<&str> = text.split(|c| !is_name(c)).collect();
    let stands = |name: &str| {
        let relative =
            |known: &&str| known.strip_prefix(name).is_some_and(|rest| rest.starts_with('_'));
        names.contains(name) || names.iter().any(relative)
    };
    let silent = kernel.constants.iter().filter(|(name, _)| !stands(name));
    silent.map(|(name, _)| name.clone()).collect()
}
