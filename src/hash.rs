//! Content hashes by which files, kernels and problems are recognised again.

use sha2::{Digest, Sha256};

/// SHA-256 of `bytes` in lower-case hexadecimal.
pub fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
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
        assert_eq!(
            super::sha256_hex(b""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
