//! Typed buffer contents.

use crate::for_each_chunk;
use gpubench_core::gpu::Scalar;
use gpubench_emulator::Buffer;

/// The contents of a buffer; vectors lie flat, component after component.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// IEEE 754 binary32 numbers.
    F32(Vec<f32>),
    /// Unsigned integers.
    U32(Vec<u32>),
    /// Signed integers.
    I32(Vec<i32>),
    /// Scalars of another type, as they lie in memory.
    Other(Scalar, Vec<u8>),
}

impl From<&Data> for Buffer {
    fn from(data: &Data) -> Self {
        match data {
            Data::U32(words) => words.clone(),
            Data::Other(_, bytes) => words(bytes),
            other => bytemuck::cast_slice(other.as_bytes()).to_vec(),
        }
        .into()
    }
}

impl Data {
    /// `bytes` read as scalars of one type; a torn last scalar is left out.
    pub fn from_bytes(scalar: Scalar, bytes: &[u8]) -> Self {
        match scalar {
            Scalar::F32 => Self::F32(copied(bytes)),
            Scalar::U32 => Self::U32(copied(bytes)),
            Scalar::I32 => Self::I32(copied(bytes)),
            other => {
                let whole = bytes.len() / other.size() * other.size();
                Self::Other(other, copied(&bytes[..whole]))
            }
        }
    }

    /// The bytes as they lie in memory.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::F32(v) => bytemuck::cast_slice(v),
            Self::U32(v) => bytemuck::cast_slice(v),
            Self::I32(v) => bytemuck::cast_slice(v),
            Self::Other(_, bytes) => bytes,
        }
    }

    /// Turns every bit over: contents that no byte of these is equal to, and twice these again.
    pub fn invert(&mut self) {
        let bytes: &mut [u8] = match self {
            Self::F32(v) => bytemuck::cast_slice_mut(v),
            Self::U32(v) => bytemuck::cast_slice_mut(v),
            Self::I32(v) => bytemuck::cast_slice_mut(v),
            Self::Other(_, bytes) => bytes,
        };
        bytes.iter_mut().for_each(|byte| *byte = !*byte);
    }

    /// Number of scalars.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(v) => v.len(),
            Self::U32(v) => v.len(),
            Self::I32(v) => v.len(),
            Self::Other(scalar, bytes) => bytes.len() / scalar.size(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The scalar's type.
    pub fn scalar(&self) -> Scalar {
        match self {
            Self::F32(_) => Scalar::F32,
            Self::U32(_) => Scalar::U32,
            Self::I32(_) => Scalar::I32,
            Self::Other(scalar, _) => *scalar,
        }
    }

    /// A copy in which every scalar that is still as in `before`, to the bit, is taken from
    /// `instead`, and how many scalars were not. All three are of one type and length.
    pub fn with_untouched_from(&self, before: &Self, instead: &Self) -> (Self, usize) {
        let mut bytes = self.as_bytes().to_vec();
        let (mut touched, size) = (0, self.scalar().size());
        let others =
            before.as_bytes().chunks_exact(size).zip(instead.as_bytes().chunks_exact(size));
        for (scalar, (before, instead)) in bytes.chunks_exact_mut(size).zip(others) {
            if scalar == before && scalar != instead {
                scalar.copy_from_slice(instead);
            } else {
                touched += 1;
            }
        }
        (Self::from_bytes(self.scalar(), &bytes), touched)
    }

    /// How many scalars are not, to the bit, as in `other`.
    pub fn differing(&self, other: &Self) -> usize {
        let size = self.scalar().size();
        let both = self.as_bytes().chunks_exact(size).zip(other.as_bytes().chunks_exact(size));
        both.filter(|(a, b)| a != b).count()
    }

    /// The bytes of scalar `i`.
    pub fn bytes_of(&self, i: usize) -> Option<&[u8]> {
        self.as_bytes().chunks_exact(self.scalar().size()).nth(i)
    }

    /// Scalar `i` as a number, for messages and error norms.
    pub fn get(&self, i: usize) -> Option<f64> {
        match self {
            Self::F32(v) => v.get(i).map(|&x| f64::from(x)),
            Self::U32(v) => v.get(i).map(|&x| f64::from(x)),
            Self::I32(v) => v.get(i).map(|&x| f64::from(x)),
            Self::Other(scalar, _) => self.bytes_of(i).map(|bytes| scalar.number(bytes)),
        }
    }
}

/// `bytes` as words, the last filled up with zeros.
fn words(bytes: &[u8]) -> Vec<u32> {
    let word = |bytes: &[u8]| {
        let mut word = [0; 4];
        word[..bytes.len()].copy_from_slice(bytes);
        u32::from_ne_bytes(word)
    };
    bytes.chunks(4).map(word).collect()
}

/// `bytes` as scalars. A large array is copied on all cores: its pages take longer to come by than to
/// be filled.
fn copied<T: bytemuck::Pod + Send>(bytes: &[u8]) -> Vec<T> {
    /// Scalars that one core copies before others are worth waking.
    const BLOCK: usize = 1 << 18;
    let mut scalars = vec![T::zeroed(); bytes.len() / size_of::<T>()];
    for_each_chunk(&mut scalars, BLOCK, |first, piece| {
        let piece: &mut [u8] = bytemuck::cast_slice_mut(piece);
        piece.copy_from_slice(&bytes[first * BLOCK * size_of::<T>()..][..piece.len()]);
    });
    scalars
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_of_other_sizes_are_numbers_too() {
        let data = Data::from_bytes(Scalar::I16, &[1, 0, 255, 255, 7]);
        assert_eq!(
            (data.len(), data.get(0), data.get(1), data.get(2)),
            (2, Some(1.0), Some(-1.0), None)
        );
        assert_eq!(Buffer::from(&data).into_words().len(), 1);
        let double = Data::from_bytes(Scalar::F64, &0.1f64.to_ne_bytes());
        assert_eq!((double.get(0), double.scalar()), (Some(0.1), Scalar::F64));
        assert_eq!(data.differing(&Data::from_bytes(Scalar::I16, &[1, 0, 0, 0])), 1);
    }

    #[test]
    fn no_byte_of_an_inverse_is_the_same() {
        let bytes: Vec<u8> = (0..=255).collect();
        for scalar in [Scalar::F32, Scalar::U32, Scalar::I32, Scalar::F64, Scalar::U8] {
            let data = Data::from_bytes(scalar, &bytes);
            let mut inverse = data.clone();
            inverse.invert();
            let pairs = || data.as_bytes().iter().zip(inverse.as_bytes());
            assert!(pairs().count() == 256 && pairs().all(|(byte, other)| *other == !byte));
            inverse.invert();
            assert!(inverse.as_bytes() == data.as_bytes(), "{scalar:?}");
        }
    }

    #[test]
    fn bytes_are_scalars_however_many() {
        for count in [0_u32, 1, 1000, 262_144, 262_145, 1_500_000] {
            let numbers: Vec<u32> = (0..count).map(|i| i.wrapping_mul(2_654_435_761)).collect();
            let mut bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_ne_bytes()).collect();
            bytes.extend([1, 2, 3]);
            assert!(Data::from_bytes(Scalar::U32, &bytes) == Data::U32(numbers), "{count}");
        }
    }
}
