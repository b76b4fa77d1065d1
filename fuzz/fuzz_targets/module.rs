//! What a module in SPIR-V declares.
#![no_main]

mod limits;

use gpubench::gpu::SpirvModule;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| limits::within(|| {
    if let Ok(module) = SpirvModule::read(file) {
        assert_eq!(module.words.len() * 4, file.len());
    }
}));
