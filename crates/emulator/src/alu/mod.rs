//! Arithmetic on rows.

pub(super) mod bits;
pub(super) mod float;
pub(super) mod lanes;
