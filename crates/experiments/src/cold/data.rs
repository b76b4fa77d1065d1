//! What a record holds of it.

use gpubench_core::record::Data;
use gpubench_core::workload::Kind;
use serde::{Deserialize, Serialize};

/// How the caches were flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flushed {
    /// Bytes that were written before every launch.
    pub bytes: u64,
    /// Bytes of the largest cache, as the driver reports it; `None` where it reports none.
    pub cache: Option<u64>,
}

impl Data for Flushed {
    const KIND: Kind = Kind::new("cold");
}
