//! gpubench measures GPUs of any vendor, explains what it measured, and ranks them.
pub use gpubench_analysis as analyse;
pub use gpubench_core::{error, gpu, hash, record, text, units, workload, yaml};
pub use gpubench_device as backend;
pub use gpubench_emulator as emulate;
pub use gpubench_experiments as measure;
pub use gpubench_experiments::plan;
pub use gpubench_model as model;
pub use gpubench_reference as reference;
pub use gpubench_report as report;
pub use gpubench_stats as stats;
pub use gpubench_suite as suite;

pub mod cmd;
pub mod kernel_counts;
pub mod store;
pub mod worker;
