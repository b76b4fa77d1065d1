//! A suite on a device becomes cases; a case becomes recordings.

mod beside;
mod case;
mod divide;
mod estimate;
mod filter;
mod grid;
mod lower;
mod order;
mod resolve;
mod scope;

pub use beside::beside;
pub use case::{BufferPlan, Candidate, Case, Company, Planned};
pub use divide::{Chunked, Division, Parts, StageOf, chunked, equal_chunks, host_twin, in_parts};
pub use estimate::{Estimate, estimate};
pub use filter::Filter;
pub use lower::{copies, host_buffer, launches, line_launch, most_in_line, partial_launch, slices};
pub use order::shuffle;
pub use resolve::{GUARD, Limits, keys, plan};
