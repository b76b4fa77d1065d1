//! What every room of gpubench speaks of: units, errors, devices, recordings, cases and records.

pub mod checked;
pub mod class;
pub mod error;
pub mod gpu;
pub mod hash;
pub mod npy;
pub mod reason;
pub mod record;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod text;
pub mod units;
pub mod workload;
pub mod yaml;
