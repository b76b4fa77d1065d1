//! The process that owns a device, and the parent's handle on it.
//!
//! `run` holds no device: for each device and round it starts itself as `gpubench worker`, asks
//! in JSON lines and is answered in JSON lines. The parent owns the deadlines. A worker that
//! hangs is killed with its process group, one that dies costs its case only.

mod circuit_breaker;
mod client;
mod deadlines;
mod group;
mod host;
pub mod page;
mod protocol;
mod recovery;
mod serve;
mod stderr_tail;
mod supervisor;
mod transport;

pub use client::{Client, devices, signatures};
pub use deadlines::Deadlines;
pub use group::kill_all;
pub use host::host;
pub use protocol::{Reply, Request};
pub use recovery::{Drill, Try};
pub use serve::{Wanted, serve};
pub use supervisor::WorkerSupervisor;
pub use transport::die_with;
