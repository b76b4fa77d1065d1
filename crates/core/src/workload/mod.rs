//! Words about work that every room shares: what is measured, over which data, how it is checked.

mod ceiling;
mod halo;
mod key;
mod terms;

pub use ceiling::Ceiling;
pub use halo::{Faces, cut, share};
pub use key::{CaseKey, Kind, Size, Skip};
pub use terms::{Command, Comparison, Fill, Split, Verify};
