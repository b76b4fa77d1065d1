//! Words about work that every room shares: what is measured, over which data, how it is checked.

mod ceiling;
mod halo;
mod key;
mod kind_name;
mod terms;

pub use ceiling::Ceiling;
pub use halo::{Faces, cut, share};
pub use key::{CaseKey, Size, Skip};
pub use kind_name::Kind;
pub use terms::{Command, Comparison, Fill, Split, Verify};
