//! Words about work that every room shares: what is measured, over which data, how it is checked.

mod key;
mod terms;

pub use key::{CaseKey, Refusal, Size};
pub use terms::{Comparison, Fill, Measure, Split, Verify};
