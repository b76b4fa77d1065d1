//! The description of a simulated device.
#![no_main]

mod limits;

use gpubench::backend::sim::Description;
use gpubench::error::Error;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| limits::within(|| {
    if let Err(Error::Suite(diagnostics)) = Description::parse("input.yaml", text) {
        for diagnostic in diagnostics {
            let end = diagnostic.offset + diagnostic.len;
            assert!(diagnostic.text.get(diagnostic.offset..end).is_some(), "{diagnostic}");
        }
    }
}));
