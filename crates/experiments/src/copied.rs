//! What a copy left in its target, against what it was made of: every bit must be the same.

use super::{Bench, compare};
use gpubench_core::error::Result;
use gpubench_core::gpu::{BufferId, Scalar};
use gpubench_core::record::{ErrorNorms, Mismatch};
use gpubench_core::workload::Comparison;
use gpubench_reference::Data;

/// Whether the buffer `target`, called `name`, holds `data`; else the mismatch is noted.
pub(super) fn verify_copied(
    bench: &mut Bench,
    (target, name): (BufferId, &str),
    data: &Data,
    when: &str,
) -> Result<bool> {
    if bench.device().holds(target, data.as_bytes())? {
        bench.measurement.norms = Some(ErrorNorms::default());
        return Ok(true);
    }
    let found = bench.device().read(target)?;
    let (norms, mismatch) = differing(name, data.as_bytes(), &found, when);
    bench.measurement.norms = Some(norms);
    bench.measurement.mismatch(mismatch);
    Ok(false)
}

/// Where what was found differs, as words, or bytes where it is no whole number of them: of fractions some are equal
/// whose bits are not.
fn differing(name: &str, expected: &[u8], found: &[u8], when: &str) -> (ErrorNorms, Mismatch) {
    let words = expected.len().is_multiple_of(4) && found.len().is_multiple_of(4);
    let scalar = if words { Scalar::U32 } else { Scalar::U8 };
    let [wanted, read] = [expected, found].map(|bytes| Data::from_bytes(scalar, bytes));
    let exact = Comparison { relative: 0.0, absolute: 0.0 };
    let (norms, mismatch) = compare(name, &wanted, &read, exact, when);
    // It differed when it was first read.
    let vanished = || Mismatch {
        buffer: name.to_owned(),
        index: 0,
        found: "other bytes, and the right ones when it was read again".into(),
        expected: "these bytes".into(),
        wrong: 1,
        of: wanted.len() as u64,
        when: when.to_owned(),
    };
    (norms, mismatch.unwrap_or_else(vanished))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_counts() {
        let bits = [0x7fc0_0000, 0x8000_0000, 5_u32];
        let bytes: Vec<u8> = bits.iter().flat_map(|word| word.to_ne_bytes()).collect();
        for wrong in [0, 4, 8] {
            let mut found = bytes.clone();
            found[wrong] ^= 1;
            // As numbers, one NaN is another, and 0 is -0.
            let (_, mismatch) = differing("data", &bytes, &found, "copies");
            assert_eq!((mismatch.index, mismatch.wrong, mismatch.of), (wrong as u64 / 4, 1, 3));
        }
        let (_, odd) = differing("data", &bytes[..5], &[&bytes[..4], &[9]].concat(), "copies");
        assert_eq!((odd.index, odd.of), (4, 5));
        let (_, vanished) = differing("data", &bytes, &bytes, "copies");
        assert!(vanished.wrong == 1 && vanished.found.contains("read again"));
    }
}
