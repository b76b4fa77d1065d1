//! The file of a saved state: whatever its bytes, and with a right checksum behind them.
#![no_main]

mod limits;

use gpubench::hash::sha256;
use gpubench::record::CheckpointFile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| limits::within(|| {
    let sealed = [bytes, &sha256(bytes)].concat();
    for bytes in [bytes, &sealed] {
        if let Ok(checkpoint) = CheckpointFile::parse(bytes) {
            assert_eq!(CheckpointFile::parse(&checkpoint.to_bytes().unwrap()), Ok(checkpoint));
        }
    }
}));
