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

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
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
    #[test]
    fn base64_is_that_of_policies() {
        assert_eq!(super::base64_sha256(b""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
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
}
