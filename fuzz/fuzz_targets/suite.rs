//! A suite: parsed, its expressions evaluated, its kernels checked. Mistakes lie in their text.
#![no_main]

mod file;
mod limits;

use gpubench::error::Error;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let path = file::holding(data, "yaml");
    limits::within(|| {
        match gpubench::measure::load(&path.to_string_lossy()) {
            Err(Error::Suite(diagnostics)) => {
                assert!(!diagnostics.is_empty());
                for diagnostic in diagnostics {
                    let end = diagnostic.offset + diagnostic.len;
                    assert!(diagnostic.text.get(diagnostic.offset..end).is_some(), "{diagnostic}");
                }
            }
            other => drop(other),
        }
    });
});
