//! A suite on a device becomes cases; a case becomes recordings.

mod block;
mod buffers;
mod case;
mod co_running;
mod divide;
mod emulation;
mod estimate;
mod filter;
mod grid;
mod halo;
mod iteration;
mod layout_transform;
mod limits;
mod lower;
mod order;
mod resolve;
mod scope;
mod variants;

pub use block::{bytes_of, multi_device_division, push_block};
pub use case::{BufferPlan, Candidate, Case, CoRunning, LayoutPlan, Pass, Planned};
pub use co_running::concurrent_launches;
pub use divide::{
    Chunked, Division, Parts, StageOf, chunked, equal_chunks, host_mirror, in_parts, rows_a_group,
};
pub use emulation::{
    emulated_device, emulated_launch, emulated_results, enter_pass, track_outputs,
};
pub use estimate::{Estimate, estimate};
pub use filter::Filter;
pub use halo::{
    Array, Exchange, Face, Halo, Message, PACK, UNPACK, Wanted, Ways, divided, given, slots,
};
pub use iteration::{Iteration, StatePart, save_buffer, shadow, state, state_bytes};
pub use layout_transform::transformed_uses;
pub use limits::{GUARD, Limits};
pub use lower::{
    copies, host_buffer, launches, line_launch, max_groups_in_line, partial_launch, slices,
};
pub use order::{is_no_larger, ranks, shuffle};
pub use resolve::{keys, plan};
