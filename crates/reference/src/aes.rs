//! AES with keys of 128 bits, byte by byte as in FIPS 197, *Advanced Encryption Standard*, 2001.

use super::{Data, Problem, for_each_chunk};
use gpubench_core::error::{Error, Result};

/// Rounds of a key of 128 bits.
const ROUNDS: usize = 10;

/// 16 bytes: a block, or a round's key. Byte `i` stands in row `i % 4` of column `i / 4`.
type Block = [u8; 16];

/// `out` = each of `blocks` blocks of `text`, encrypted (FIPS 197, 5.1). The first byte of a word is
/// its lowest.
///
/// # Errors
/// As [`super::Reference`]; when the key has not 128 bits.
pub fn encrypt(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    each_block(problem, encrypted)
}

/// `out` = each of `blocks` blocks of `text`, decrypted (FIPS 197, 5.3).
///
/// # Errors
/// As [`encrypt`].
pub fn decrypt(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    each_block(problem, decrypted)
}

fn each_block(
    problem: &Problem,
    how: fn(Block, &[Block], &Tables) -> Block,
) -> Result<Vec<(&'static str, Data)>> {
    let words = problem.size("blocks")?.saturating_mul(4);
    let text = problem.u32("text", words)?;
    let key = problem.u32("key", 4)?;
    if let Some(why) = unfit_key(key.len() as u64) {
        return Err(Error::Usage(why));
    }
    let tables = Tables::new();
    let keys = expanded(block_of(key), &tables);
    let mut out = vec![0; words];
    for_each_chunk(&mut out, 4, |first, piece| {
        for (out, text) in piece.chunks_exact_mut(4).zip(text[4 * first..].chunks_exact(4)) {
            let block = how(block_of(text), &keys, &tables);
            for (word, bytes) in out.iter_mut().zip(block.chunks_exact(4)) {
                *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            }
        }
    });
    Ok(vec![("out", Data::U32(out))])
}

/// Why a key of so many words is none of AES-128, if it is none.
pub fn unfit_key(words: u64) -> Option<String> {
    (words != 4).then(|| {
        let bits = words.saturating_mul(32);
        format!("AES-128 needs a key of 128 bits (4 words), not of {bits} ({words} words)")
    })
}

fn block_of(words: &[u32]) -> Block {
    let mut block = [0; 16];
    for (bytes, word) in block.chunks_exact_mut(4).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    block
}

/// The product in the field of 2^8 elements (4.2).
fn times(a: u8, b: u8) -> u8 {
    let (mut a, mut product) = (a, 0);
    for bit in 0..8 {
        if b >> bit & 1 == 1 {
            product ^= a;
        }
        a = a << 1 ^ if a & 0x80 == 0 { 0 } else { 0x1b };
    }
    product
}

/// One more than the largest factor (14) of the matrices that mix columns.
const FACTORS: usize = 15;

/// The substitution and its inverse, and every byte times every factor.
struct Tables {
    there: [u8; 256],
    back: [u8; 256],
    products: [[u8; 256]; FACTORS],
}

impl Tables {
    /// The substitution is the multiplicative inverse, then an affine map over the field of two elements (5.1.1).
    fn new() -> Self {
        let product = |factor: usize| std::array::from_fn(|byte| times(byte as u8, factor as u8));
        let products = std::array::from_fn(product);
        let mut tables = Self { there: [0; 256], back: [0; 256], products };
        for x in 0..=255u8 {
            // x^254 is the inverse of x, and 0 of 0.
            let inverse = (0..253).fold(x, |power, _| times(power, x));
            let y = (0..5).fold(0x63, |sum, turn| sum ^ inverse.rotate_left(turn));
            tables.there[usize::from(x)] = y;
            tables.back[usize::from(y)] = x;
        }
        tables
    }
}

/// The keys of all rounds (5.2).
fn expanded(key: Block, tables: &Tables) -> Vec<Block> {
    let mut keys = vec![key];
    let mut constant = 1;
    for _ in 0..ROUNDS {
        let last = keys[keys.len() - 1];
        let mut next = last;
        for row in 0..4 {
            next[row] ^= tables.there[usize::from(last[12 + (row + 1) % 4])];
        }
        next[0] ^= constant;
        for i in 4..16 {
            next[i] ^= next[i - 4];
        }
        keys.push(next);
        constant = times(constant, 2);
    }
    keys
}

fn encrypted(block: Block, keys: &[Block], tables: &Tables) -> Block {
    let mut state = added(block, keys[0]);
    for (round, key) in keys.iter().enumerate().skip(1) {
        state = shifted(state.map(|byte| tables.there[usize::from(byte)]), 1);
        if round < ROUNDS {
            state = mixed(state, [2, 3, 1, 1], tables);
        }
        state = added(state, *key);
    }
    state
}

fn decrypted(block: Block, keys: &[Block], tables: &Tables) -> Block {
    let mut state = block;
    for (round, key) in keys.iter().enumerate().skip(1).rev() {
        state = added(state, *key);
        if round < ROUNDS {
            state = mixed(state, [14, 11, 13, 9], tables);
        }
        state = shifted(state, 3).map(|byte| tables.back[usize::from(byte)]);
    }
    added(state, keys[0])
}

fn added(state: Block, key: Block) -> Block {
    std::array::from_fn(|i| state[i] ^ key[i])
}

/// Row `r` turned left by `columns · r` columns.
fn shifted(state: Block, columns: usize) -> Block {
    std::array::from_fn(|i| state[(i + 4 * columns * (i % 4)) % 16])
}

/// Every column times the matrix whose first row is `factors` and whose rows are turned by one more
/// each.
fn mixed(state: Block, factors: [usize; 4], tables: &Tables) -> Block {
    let by = factors.map(|factor| &tables.products[factor]);
    std::array::from_fn(|i| {
        let (row, column) = (i % 4, &state[i / 4 * 4..i / 4 * 4 + 4]);
        (0..4).fold(0, |sum, k| sum ^ by[(4 + k - row) % 4][usize::from(column[k])])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(hex: &str) -> Block {
        let digit = |i: usize| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap();
        std::array::from_fn(digit)
    }

    /// Key, plain text and cipher text of FIPS 197, appendices B and C.1.
    const VECTORS: [[&str; 3]; 2] = [
        [
            "2b7e151628aed2a6abf7158809cf4f3c",
            "3243f6a8885a308d313198a2e0370734",
            "3925841d02dc09fbdc118597196a0b32",
        ],
        [
            "000102030405060708090a0b0c0d0e0f",
            "00112233445566778899aabbccddeeff",
            "69c4e0d86a7b0430d8cdb78070b4c55a",
        ],
    ];

    #[test]
    fn the_vectors_of_the_standard() {
        let tables = Tables::new();
        for [key, plain, cipher] in VECTORS.map(|vector| vector.map(block)) {
            let keys = expanded(key, &tables);
            assert_eq!(encrypted(plain, &keys, &tables), cipher);
            assert_eq!(decrypted(cipher, &keys, &tables), plain);
        }
    }

    #[test]
    fn the_key_schedule_of_the_standard() {
        // Appendix A.1: the last round's key.
        let keys = expanded(block(VECTORS[0][0]), &Tables::new());
        assert_eq!(keys[ROUNDS], block("d014f9a8c9ee2589e13f0cc8b6630ca6"));
    }

    fn problem(key_words: usize, text: Vec<u32>) -> Problem {
        let key = (1..=key_words as u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
        Problem::new(
            vec![("blocks".to_owned(), (text.len() / 4) as f64)],
            vec![("text".to_owned(), Data::U32(text)), ("key".to_owned(), Data::U32(key))],
        )
    }

    #[test]
    fn decrypting_undoes_encrypting() {
        let text: Vec<u32> = (0..40).map(|i: u32| i.wrapping_mul(0x0123_4567)).collect();
        let Data::U32(cipher) = encrypt(&problem(4, text.clone())).unwrap().remove(0).1 else {
            panic!("words are expected")
        };
        assert_ne!(cipher, text);
        assert_eq!(decrypt(&problem(4, cipher)).unwrap(), [("out", Data::U32(text))]);
    }

    #[test]
    fn a_key_of_another_length_is_reported() {
        for (words, message) in
            [(6, "not of 192"), (8, "not of 256"), (3, "needs 4 scalars in `key`")]
        {
            let error = encrypt(&problem(words, vec![0; 4])).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
