//! gpubench measures GPUs of any vendor, explains what it measured, and ranks them.
//!
//! A suite becomes cases, a case becomes a recording, a device turns a recording into a
//! timeline, and everything after that is arithmetic on records.
//!
//! ```text
//! suites/*.yaml ─parse─► Suite ─plan(device, filters)─► Cases (each refusal with its reason)
//!    Case ─lower─► Recording ─Device::run─► Timeline ─► Record, appended at once to results/<run>.jsonl
//! results/*.jsonl, baselines/*.jsonl ─parse─► Records ─► stats ─► fit │ compare │ rank ─► Report
//!
//! pure (no GPU, file, clock): units stats gpu workload emulate suite plan record model reference analyse report counting
//! edges:                      backend worker measure store cmd
//! ```
//!
//! A file imports only from floors below its own; `tests/layers.rs` holds it to that.
//!
//! | floor | rooms |
//! |---|---|
//! | 7 | [`cmd`]: one file a command: read arguments, call, print |
//! | 6 | [`worker`]: the process that owns a device, or several that begin together; [`counting`]: what the kernels of a suite do, counted by emulation |
//! | 5 | [`measure`]: the loop over a live device; [`store`]: all files; [`report`]: one file a format |
//! | 4 | [`analyse`]: compare, rank over records; [`plan`]: suite × device → cases → recordings; [`backend`]: one folder a device API |
//! | 3 | [`suite`], [`record`], [`model`], [`reference`](mod@reference) |
//! | 2 | [`workload`]: the words of suites, cases and records; [`emulate`]: work-groups of a kernel run on the host, counted and checked |
//! | 1 | [`gpu`]: plain data (device info, kernel, recording, timeline); [`stats`]; [`yaml`]: YAML, its mistakes located |
//! | 0 | [`units`], [`text`], [`error`](mod@error), [`hash`] |

pub mod analyse;
pub mod backend;
pub mod cmd;
pub mod counting;
pub mod emulate;
pub mod error;
pub mod gpu;
pub mod hash;
pub mod measure;
pub mod model;
pub mod plan;
pub mod record;
pub mod reference;
pub mod report;
pub mod stats;
pub mod store;
pub mod suite;
pub mod text;
pub mod units;
pub mod worker;
pub mod workload;
pub mod yaml;
