//! The process that owns a device, and the parent's handle on it.
//!
//! `run` holds no device: for each device and round it starts itself as `gpubench worker`, asks
//! in JSON lines and is answered in JSON lines. The parent owns the deadlines. A worker that
//! hangs is killed with its process group, one that dies costs its case only. Workers of other machines are
//! started by a relay there, behind a command of the user's.

mod circuit_breaker;
mod client;
mod compiled;
mod deadlines;
mod fatal_variants;
mod group;
mod host;
mod local;
mod memory;
pub mod page;
mod protocol;
mod recovery;
mod remote;
mod serve;
mod stderr_tail;
mod supervisor;
mod transport;

pub use client::{devices, signatures, stage_label};
pub use group::kill_all;
pub use host::{host, version};
pub use recovery::{Drill, Try};
pub use remote::{Remote, Remotes, Route, SILENCE, SILENCES, relay};
pub use serve::{Wanted, serve};
pub use stderr_tail::LOG;
pub use supervisor::WorkerSupervisor;
pub use transport::die_with;
