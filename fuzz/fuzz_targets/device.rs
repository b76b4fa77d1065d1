//! The description of a simulated device.
#![no_main]

mod limits;

use gpubench::backend::sim::Description;
use gpubench::error::Error;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| limits::within(|| {
    if let Err(Error::Suite(mistakes)) = Description::parse("input.yaml", text) {
        for mistake in mistakes {
            let end = mistake.offset + mistake.len;
            assert!(mistake.text.get(mistake.offset..end).is_some(), "{mistake}");
        }
    }
}));
