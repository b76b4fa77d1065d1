//! The names that a grid's or the work's expression may use.

use crate::gpu::Constant;
use crate::suite::Scope;

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
    let constants = constants.iter().map(|(name, value)| {
        let value = match value {
            Constant::Int(n) => *n as f64,
            Constant::Float(x) => *x,
            // A type counts as its width, so that a grid shrinks as vectors widen.
            Constant::Type(element) => f64::from(element.width),
        };
        (name.clone(), value)
    });
    group.chain(constants).chain(scope.iter().cloned()).collect()
}
