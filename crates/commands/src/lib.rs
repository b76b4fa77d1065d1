//! The commands: one file each in [`cmd`]; the process that owns a device ([`worker`]); all files
//! ([`store`]); kernels counted by emulation ([`kernel_counts`]).

pub mod cmd;
pub mod kernel_counts;
pub mod store;
pub mod worker;
