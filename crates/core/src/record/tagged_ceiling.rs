//! Ceilings in records of suites that only tagged them.

use super::Record;
use crate::workload::Ceiling;

/// Before suites said what a ceiling bounds they tagged it, and its family said the rest. A suite of today
/// that has the tag has the key too.
pub(super) fn tagged_ceiling(record: &mut Record) {
    if record.ceiling.is_none() && record.tags.iter().any(|tag| tag == "ceiling") {
        let of_memory = record.family == "memory";
        record.ceiling = Some(if of_memory { Ceiling::Bandwidth } else { Ceiling::Flops });
    }
}
