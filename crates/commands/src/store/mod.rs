//! All files that a run leaves or reads: results, tables of measurements, the lock that keeps two
//! runs off one device, the list of suites whose kernels the user trusts, and names of other machines.

pub mod baseline;
mod clock;
pub mod find;
mod hosts;
mod lines;
mod lock;
mod name;
mod provenance;
mod read;
pub mod read_csv;
mod record_mark;
mod replace;
mod run_file;
pub mod runs;
mod scratch;
mod settings;
pub mod trust;
pub mod tuned;
mod write;

pub use clock::now;
pub use hosts::{KnownHost, known_hosts};
pub use lines::Lines;
pub use lock::{Attempt, DeviceLock, Hold, LockFolder, LockKey};
pub use name::{result_name, safe};
pub use provenance::{is_copy, is_same_start};
pub use read::{Flaw, Records, Run, open, read};
pub use record_mark::rounded;
pub use replace::{replace, whole};
pub use run_file::RunFile;
pub use scratch::Scratch;
pub use write::Writer;
