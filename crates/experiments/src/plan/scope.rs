//! The names that a grid's or the work's expression may use.

use gpubench_core::gpu::Constant;
use gpubench_suite::Scope;

/// `scope` with the kernel's constants and its work-group's size below it: of equal names, that
/// of `scope` wins.
pub(super) fn with_constants(
    scope: &Scope,
    group: [u32; 3],
    constants: &[(String, Constant)],
) -> Vec<(String, f64)> {
    let group = ["GROUP_X", "GROUP_Y", "GROUP_Z"]
        .into_iter()
        .zip(group)
        .map(|(name, size)| (name.to_owned(), f64::from(size)));
    let constants = constants.iter().flat_map(|(name, value)| value.numbers(name));
    group.chain(constants).chain(scope.iter().cloned()).collect()
}
