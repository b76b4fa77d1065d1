//! A suite on a device becomes cases; a case becomes recordings.

mod block;
mod buffers;
pub(crate) mod case;
mod divide;
mod emulation;
mod estimate;
mod fallback;
mod filter;
mod grid;
mod limits;
mod lower;
mod order;
mod program;
mod resolve;
mod same_code;
mod scope;
mod space;
mod subgroup;
mod variants;

pub use block::{Chunking, bytes_of, multi_device_division, record_rows};
pub use buffers::{available, copy_buffer, device_bytes, peak_bytes, sweep_buffer};
#[cfg(any(test, feature = "testing"))]
pub use case::sample;
pub use case::{BufferPlan, Candidate, Case, Pass, Planned};
pub use divide::{
    Chunked, Division, Parts, StageOf, equal_chunks, host_mirror, in_parts, rows_a_group,
};
pub use emulation::{
    emulated_device, emulated_launch, emulated_results, enter_pass, track_outputs,
};
pub use estimate::{Estimate, estimate};
pub use filter::Filter;
pub use limits::{GUARD, Limits};
pub use lower::{
    copies, host_buffer, launches, line_launch, max_groups_in_line, partial_launch, program_kernel,
    recording_of, slices,
};
pub use order::{Turn, is_no_larger, shuffle, turns};
pub use resolve::{Resolution, resolve, scope_of};
pub use space::{Numbers, space};
pub use variants::place;
