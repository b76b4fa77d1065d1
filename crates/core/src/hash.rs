//! Content hashes by which files, kernels and problems are recognised again.

use sha2::{Digest, Sha256};
use std::io::{self, Read};

/// SHA-256 of `bytes`.
pub fn sha256(bytes: impl AsRef<[u8]>) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// SHA-256 of `bytes` in lower-case hexadecimal.
pub fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(bytes))
}

/// [`sha256_hex`] of what `source` gives, without keeping it.
///
/// # Errors
/// What the source says.
pub fn sha256_of(mut source: impl Read) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut chunk = vec![0; 1 << 16];
    loop {
        match source.read(&mut chunk) {
            Ok(0) => return Ok(hex(&hash.finalize())),
            Ok(read) => hash.update(&chunk[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// `bytes` in lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// The bytes of a text that [`hex`] made; `None` for any other.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| char::from(c).to_digit(16);
    let byte = |pair: &[u8]| match pair {
        &[high, low] => u8::try_from(digit(high)? << 4 | digit(low)?).ok(),
        _ => None,
    };
    text.as_bytes().chunks(2).map(byte).collect()
}

/// 128 bits by which contents are recognised that nobody tampers with, such as what a kernel computed
/// or a file of this very run: as fast as memory is read. Words are mixed into eight states, each step of which can
/// be undone, so that a single changed word never goes unseen.
/// Each state has 64 bits: contents that differ only in every eighth word are distinguished by so many, not by 128.
pub fn fingerprint(bytes: &[u8]) -> u128 {
    const STATES: usize = 8;
    let mut states: [u64; STATES] = std::array::from_fn(|i| mixed(i as u64 + 1));
    let mut take = |block: &[u8]| {
        for (state, word) in states.iter_mut().zip(block.chunks_exact(8)) {
            let word = u64::from_le_bytes(word.try_into().unwrap_or_default());
            *state = mixed(*state ^ word);
        }
    };
    let mut blocks = bytes.chunks_exact(8 * STATES);
    blocks.by_ref().for_each(&mut take);
    let rest = blocks.remainder();
    let mut last = [0; 8 * STATES];
    last[..rest.len()].copy_from_slice(rest);
    take(&last);
    let length = bytes.len() as u64;
    let fold = |sum: u64, state: &u64| mixed(sum ^ state);
    let high = states.iter().fold(length, fold);
    let low = states.iter().rev().fold(!length, fold);
    u128::from(high) << 64 | u128::from(low)
}

/// A word of which every bit depends on every bit of `word` (SplitMix64's last step).
fn mixed(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// SHA-256 of `bytes` in base64, as a content-security policy names a style sheet.
pub fn base64_sha256(bytes: impl AsRef<[u8]>) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in Sha256::digest(bytes).chunks(3) {
        let byte = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..=three.len() {
            let six = (bits >> (18 - 6 * digit)) as usize & 63;
            text.push(char::from(DIGITS[six]));
        }
    }
    // 32 bytes are ten times three and two: one digit is missing to a multiple of four.
    text + "="
}

#[cfg(test)]
mod tests {
    use super::{from_hex, hex};

    #[test]
    fn bytes_survive_as_digits_and_nothing_else_is_digits() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(from_hex(&hex(&bytes)), Some(bytes));
        for other in ["0g", "123", "+f", " 1"] {
            assert_eq!(from_hex(other), None, "{other}");
        }
    }

    #[test]
    fn a_source_that_fails_has_no_hash_and_one_that_is_interrupted_has() {
        struct Source(Vec<Result<&'static [u8], std::io::ErrorKind>>);
        impl std::io::Read for Source {
            fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
                let next = if self.0.is_empty() { Ok(&b""[..]) } else { self.0.remove(0) };
                let bytes = next.map_err(std::io::Error::from)?;
                into[..bytes.len()].copy_from_slice(bytes);
                Ok(bytes.len())
            }
        }
        use std::io::ErrorKind::{Interrupted, UnexpectedEof};
        let whole = super::sha256_of(Source(vec![Ok(b"ab"), Err(Interrupted), Ok(b"c")]));
        assert_eq!(whole.unwrap(), super::sha256_hex("abc"));
        let cut = super::sha256_of(Source(vec![Ok(b"ab"), Err(UnexpectedEof)]));
        assert_eq!(cut.unwrap_err().kind(), UnexpectedEof);
    }

    #[test]
    fn the_mixer_is_splitmix64s() {
        // The first output of Vigna's generator seeded with 0: the step's own increment is added first.
        assert_eq!(super::mixed(0x9e37_79b9_7f4a_7c15), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn base64_is_that_of_policies() {
        assert_eq!(super::base64_sha256(b""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }

    #[test]
    fn a_fingerprint_changes_with_every_bit_and_the_length() {
        let bytes: Vec<u8> = (0..200).map(|i| (i * 37) as u8).collect();
        let whole = super::fingerprint(&bytes);
        assert_eq!(whole, super::fingerprint(&bytes.clone()));
        let mut seen = std::collections::BTreeSet::from([whole]);
        for bit in 0..8 * bytes.len() {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(seen.insert(super::fingerprint(&other)), "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert!(seen.insert(super::fingerprint(&bytes[..length])), "{length} bytes");
        }
        assert_ne!(super::fingerprint(&[0; 64]), super::fingerprint(&[0; 128]));
    }

    #[test]
    fn hexadecimal_digits_are_read_back() {
        assert_eq!(super::from_hex("00ff1a"), Some(vec![0, 255, 26]));
        for text in ["0", "0g", "é", "00f"] {
            assert_eq!(super::from_hex(text), None, "{text}");
        }
    }

    #[test]
    fn the_hash_of_nothing_is_the_standards() {
        let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(super::sha256_hex(b""), nothing);
        assert_eq!(super::sha256_of(std::io::empty()).unwrap(), nothing);
    }

    #[test]
    fn the_hash_of_a_stream_is_that_of_its_bytes() {
        let bytes = vec![7; 200_000];
        assert_eq!(super::sha256_of(bytes.as_slice()).unwrap(), super::sha256_hex(&bytes));
    }

    #[test]
    fn a_fingerprint_is_what_its_description_says() {
        // Computed in Python by the description: eight states, words of eight bytes, both ways round.
        let bytes: Vec<u8> = (0..200).map(|i| (i * 37) as u8).collect();
        assert_eq!(super::fingerprint(&bytes), 0x3cee_4e46_d19b_c588_ae25_dbb3_aed6_dee5);
    }
}
