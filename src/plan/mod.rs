//! A suite on a device becomes cases; a case becomes recordings.

mod buffers;
mod case;
mod divide;
mod estimate;
mod filter;
mod forms;
mod grid;
mod limits;
mod lower;
mod order;
mod resolve;
mod scope;

pub use case::{BufferPlan, Candidate, Case, Planned};
pub use divide::{Chunked, Division, StageOf, chunked, equal_chunks, host_twin};
pub use estimate::{Estimate, estimate};
pub use filter::Filter;
pub use limits::{GUARD, Limits};
pub use lower::{copies, host_buffer, launches, line_launch, most_in_line, partial_launch, slices};
pub use order::shuffle;
pub use resolve::{keys, plan};
