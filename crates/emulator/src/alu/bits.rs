//! Bits of integers: fields, leading and trailing ones, packed numbers.

/// Ones from bit `offset` on, `count` of them, as far as a word goes.
pub(crate) fn mask(offset: u32, count: u32) -> u32 {
    let offset = offset.min(32);
    let count = count.min(32 - offset);
    let ones = if count == 32 { u32::MAX } else { (1 << count) - 1 };
    ones.checked_shl(offset).unwrap_or(0)
}

pub(crate) fn extract(word: u32, offset: u32, count: u32) -> u32 {
    (word & mask(offset, count)).checked_shr(offset).unwrap_or(0)
}

/// As [`extract`], of a signed field.
pub(crate) fn extract_signed(word: u32, offset: u32, count: u32) -> u32 {
    let offset = offset.min(32);
    let count = count.min(32 - offset);
    if count == 0 {
        return 0;
    }
    let to_the_top = word << (32 - offset - count);
    (to_the_top.cast_signed() >> (32 - count)).cast_unsigned()
}

pub(crate) fn first_leading(word: u32) -> u32 {
    31u32.wrapping_sub(word.leading_zeros())
}

/// The highest bit that differs from the sign.
pub(crate) fn first_leading_signed(word: u32) -> u32 {
    first_leading(if word.cast_signed() < 0 { !word } else { word })
}

pub(crate) fn first_trailing(word: u32) -> u32 {
    if word == 0 { u32::MAX } else { word.trailing_zeros() }
}

/// The products of four bytes each, summed.
pub(crate) fn dot_bytes(a: u32, b: u32) -> u32 {
    let products = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
    products.map(|(a, b)| u32::from(a) * u32::from(b)).sum()
}

/// As [`dot_bytes`], of signed ones.
pub(crate) fn dot_signed_bytes(a: u32, b: u32) -> u32 {
    let products = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
    let signed = |byte: u8| i32::from(byte.cast_signed());
    products.map(|(a, b)| signed(a) * signed(b)).sum::<i32>().cast_unsigned()
}

/// A number from -1 to 1 in so many bits.
pub(crate) fn to_signed_share(x: f32, bits: u32) -> u32 {
    let largest = mask(0, bits - 1) as f32;
    ((0.5 + largest * x.clamp(-1.0, 1.0)).floor() as i32).cast_unsigned() & mask(0, bits)
}

/// A number from 0 to 1 in so many bits.
pub(crate) fn to_share(x: f32, bits: u32) -> u32 {
    (0.5 + mask(0, bits) as f32 * x.clamp(0.0, 1.0)).floor() as u32
}

pub(crate) fn from_signed_share(field: u32, bits: u32) -> f32 {
    let value = extract_signed(field, 0, bits).cast_signed() as f32;
    (value / mask(0, bits - 1) as f32).max(-1.0)
}

pub(crate) fn from_share(field: u32, bits: u32) -> f32 {
    field as f32 / mask(0, bits) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_end_with_their_word() {
        assert_eq!(
            (mask(0, 32), mask(32, 1), mask(28, 9), mask(4, 4)),
            (u32::MAX, 0, 0xf << 28, 0xf0)
        );
        assert_eq!(extract(0xabcd_1234, 16, 8), 0xcd);
        assert_eq!((extract(u32::MAX, 40, 3), extract(u32::MAX, 30, 8)), (0, 3));
        assert_eq!(extract_signed(0xabcd_1234, 16, 8), 0xffff_ffcd);
        assert_eq!((extract_signed(7, 0, 0), extract_signed(0x8000_0000, 31, 9)), (0, u32::MAX));
    }

    #[test]
    fn first_bits() {
        assert_eq!(
            (first_leading(0), first_leading(1), first_leading(u32::MAX)),
            (u32::MAX, 0, 31)
        );
        assert_eq!(first_leading_signed((-1i32).cast_unsigned()), u32::MAX);
        assert_eq!(first_leading_signed((-2i32).cast_unsigned()), 0);
        assert_eq!((first_trailing(0), first_trailing(12)), (u32::MAX, 2));
    }

    #[test]
    fn packed_numbers() {
        assert_eq!(to_signed_share(-1.0, 8), 0x81);
        assert_eq!((to_share(2.0, 16), to_share(0.5, 8)), (0xffff, 128));
        assert_eq!((from_signed_share(0x80, 8), from_share(255, 8)), (-1.0, 1.0));
        assert_eq!(dot_signed_bytes(0xff02_0304, 0x0101_0101), 8);
        assert_eq!(dot_bytes(0xff02_0304, 0x0101_0101), 264);
    }
}
