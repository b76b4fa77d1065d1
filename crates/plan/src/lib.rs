//! A suite on a device becomes cases; a case becomes recordings.

mod beside;
mod block;
mod buffers;
mod case;
mod divide;
mod emulation;
mod estimate;
mod filter;
mod forms;
mod grid;
mod halo;
mod iteration;
mod limits;
mod lower;
mod order;
mod rearrange;
mod resolve;
mod scope;

pub use beside::beside;
pub use block::{bytes_of, dealt, push_block};
pub use case::{BufferPlan, Candidate, Case, Company, Pass, Planned, Rearranged};
pub use divide::{
    Chunked, Division, Parts, StageOf, chunked, equal_chunks, host_twin, in_parts, rows_a_group,
};
pub use emulation::{emulated_device, emulated_launch, emulated_results, enter_pass};
pub use estimate::{Estimate, estimate};
pub use filter::Filter;
pub use halo::{
    Array, Exchange, Face, Halo, Message, PACK, UNPACK, Wanted, Ways, divided, given, slots,
};
pub use iteration::{Iteration, StatePart, saved, shadow, state, state_bytes};
pub use limits::{GUARD, Limits};
pub use lower::{copies, host_buffer, launches, line_launch, most_in_line, partial_launch, slices};
pub use order::{is_no_larger, ranks, shuffle};
pub use rearrange::rearranged_uses;
pub use resolve::{keys, plan};
