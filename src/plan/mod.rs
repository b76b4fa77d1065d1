//! A suite on a device becomes cases; a case becomes recordings.

mod case;
mod lower;

pub use case::{BufferPlan, Candidate, Case, Planned};
pub use lower::{Buffers, launches};
