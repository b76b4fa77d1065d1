//! A suite: parsed, its expressions evaluated, its kernels checked. Mistakes lie in their text.
#![no_main]

mod file;
mod limits;

use gpubench::error::Error;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let path = file::holding(data, "yaml");
    let names = gpubench::reference::names();
    let references: Vec<&str> = names.collect();
    limits::within(|| {
        match gpubench::suite::load(&path.to_string_lossy(), &references) {
            Err(Error::Suite(mistakes)) => {
                assert!(!mistakes.is_empty());
                for mistake in mistakes {
                    let end = mistake.offset + mistake.len;
                    assert!(mistake.text.get(mistake.offset..end).is_some(), "{mistake}");
                }
            }
            other => drop(other),
        }
    });
});
