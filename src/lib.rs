//! gpubench measures GPUs of any vendor, explains what it measured, and ranks them.
//!
//! A suite becomes cases, a case becomes a recording, a device turns a recording into a
//! timeline, and everything after that is arithmetic on records.
//!
//! ```text
//! suites/*.yaml ─parse─► Suite ─plan(device, filters)─► Cases (each skip with its reason)
//!    Case ─lower─► Recording ─Device::run─► Timeline ─► Record, appended at once to results/<run>.jsonl
//! results/*.jsonl, baselines/*.jsonl ─parse─► Records ─aggregate─► analysis ─► sections ─► text, HTML, Markdown, JSON, CSV
//! ```
//!
//! The rooms are crates, so that the compiler keeps the floors apart; each uses only those below it.
//!
//! | crate | holds |
//! |---|---|
//! | `commands` | one file a command ([`cmd`]), the process that owns a device ([`worker`]), all files ([`store`]), kernels counted by emulation ([`kernel_counts`]) |
//! | `report` | what people and programs read: one renderer a format, for sections of any origin |
//! | `experiments` | one folder a kind of experiment, their registry, planning, the loop over a live device |
//! | `analysis` | arithmetic on records: aggregation over rounds, comparison, ranking, fits |
//! | `device` | the seam to the hardware: OpenCL, Vulkan, wgpu, simulated devices, sensors |
//! | `suite`, `reference`, `model` | YAML to a checked suite; expected results; one file a model |
//! | `document` | what reports say, before any format: sections of sentences, tables, plots |
//! | `emulator` | work-groups of a kernel run on the host, counted and checked |
//! | `tune` | the search for a kernel's fastest variant: space, strategies, racing, replay |
//! | `core`, `stats` | units, errors, devices, recordings, cases, records; summaries and intervals |
//! | `packed` | folders of text inside the binary, compressed |
//!
//! Besides: `crates/evidence`, a program that runs `docs/evidence.yaml` and writes `docs/results/evidence/`; `suites/` and `shaders/` (one kernel in both languages a workload), which the binary carries; `baselines/`; `docs/`.

pub use gpubench_analysis as analyse;
pub use gpubench_commands::{cmd, kernel_counts, store, worker};
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
pub use gpubench_tune as tune;
