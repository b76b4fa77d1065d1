//! The process that owns a device, and the parent's handle on it.
//!
//! `run` holds no device: for each device and round it starts itself as `gpubench worker`, asks
//! in JSON lines and is answered in JSON lines. The parent owns the deadlines. A worker that
//! hangs is killed with its process group, one that dies costs its case only.

mod client;
mod deadlines;
mod group;
mod host;
mod protocol;
mod recovery;
mod seat;
mod serve;
mod streak;
mod tail;
mod wire;

pub use client::{Client, devices};
pub use deadlines::Deadlines;
pub use group::kill_all;
pub use host::host;
pub use protocol::{Reply, Request};
pub use recovery::{Drill, Try};
pub use seat::Seat;
pub use serve::{Wanted, serve};
pub use wire::die_with;
