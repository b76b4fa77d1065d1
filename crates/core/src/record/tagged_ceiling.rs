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

#[test]
fn a_tag_is_a_ceiling_of_what_its_family_says() {
    let ceiling = |family: &str, tag: &str| {
        let mut record = super::sample::record(super::sample::key("a", 1), 1.0);
        (record.family, record.tags) = (family.into(), vec![tag.into()]);
        tagged_ceiling(&mut record);
        record.ceiling
    };
    assert_eq!(ceiling("memory", "ceiling"), Some(Ceiling::Bandwidth));
    assert_eq!(ceiling("compute", "ceiling"), Some(Ceiling::Flops));
    assert_eq!(ceiling("compute", "other"), None);
}
