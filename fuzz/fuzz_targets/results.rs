//! A result file, torn, corrupt or of another version: every line is read or named.
#![no_main]

mod file;
mod limits;

use gpubench::record::Detail;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| limits::within(|| {
    if let Ok(mut run) = gpubench::store::read(&file::holding(data, "jsonl")) {
        assert!(run.whole as usize <= data.len());
        gpubench::analyse::flag_implausible(&mut run.records);
        let _ = gpubench::analyse::collect(&run.header, &run.records);
        let _ = gpubench::analyse::aggregate(&run.records);
        for record in &run.records {
            match &record.detail {
                Some(Detail::TransferStates(raw)) => drop(gpubench::measure::analysis::all_states(raw)),
                Some(Detail::Split(raw)) => drop(gpubench::measure::analysis::split(raw)),
                _ => {}
            }
        }
    }
}));
