//! Scalar types: of buffers, of values and of parameters.

use half::{bf16, f16};
use serde::{Deserialize, Serialize};

/// A scalar type that kernels compute with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scalar {
    /// Signed 8-bit integer.
    I8,
    /// Unsigned 8-bit integer.
    U8,
    /// Signed 16-bit integer.
    I16,
    /// Unsigned 16-bit integer.
    U16,
    /// Signed 32-bit integer.
    I32,
    /// Unsigned 32-bit integer.
    U32,
    /// Signed 64-bit integer.
    I64,
    /// Unsigned 64-bit integer.
    U64,
    /// IEEE 754 binary16.
    F16,
    /// The upper half of binary32.
    Bf16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

/// Every scalar, its name in suites and its name in OpenCL C, where that has it.
const SCALARS: [(Scalar, &str, Option<&str>); 12] = [
    (Scalar::I8, "i8", Some("char")),
    (Scalar::U8, "u8", Some("uchar")),
    (Scalar::I16, "i16", Some("short")),
    (Scalar::U16, "u16", Some("ushort")),
    (Scalar::I32, "i32", Some("int")),
    (Scalar::U32, "u32", Some("uint")),
    (Scalar::I64, "i64", Some("long")),
    (Scalar::U64, "u64", Some("ulong")),
    (Scalar::F16, "f16", Some("half")),
    (Scalar::Bf16, "bf16", None),
    (Scalar::F32, "f32", Some("float")),
    (Scalar::F64, "f64", Some("double")),
];

/// Whole numbers beyond this are not all binary64.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl Scalar {
    fn names(self) -> (&'static str, Option<&'static str>) {
        let row = SCALARS.iter().find(|row| row.0 == self).unwrap_or(&SCALARS[0]);
        (row.1, row.2)
    }

    /// Its name in suites.
    pub fn name(self) -> &'static str {
        self.names().0
    }

    /// Its name in OpenCL C; `None` where that lacks it.
    pub fn opencl(self) -> Option<&'static str> {
        self.names().1
    }

    /// Its name in WGSL, where that or an extension of it has it (naga has numbers of 64 bits, and whole ones of 16).
    pub fn wgsl(self) -> Option<&'static str> {
        let lacks = [Self::I8, Self::U8, Self::Bf16].contains(&self);
        (!lacks).then(|| self.name())
    }

    /// Its bytes.
    pub const fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// The scalar of this name in suites.
    pub fn from_name(name: &str) -> Option<Self> {
        SCALARS.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// The scalar of this name in OpenCL C.
    pub fn from_opencl(name: &str) -> Option<Self> {
        SCALARS.iter().find(|row| row.2 == Some(name)).map(|row| row.0)
    }

    /// Whether it has fractions.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::F64)
    }

    /// The least and the largest whole number; `None` for those with fractions.
    pub fn range(self) -> Option<[f64; 2]> {
        let bits = 8 * self.size() as i32;
        match self {
            _ if self.is_float() => None,
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => Some([0.0, 2f64.powi(bits) - 1.0]),
            _ => Some([-(2f64.powi(bits - 1)), 2f64.powi(bits - 1) - 1.0]),
        }
    }

    /// The least and the largest whole number that it holds with all between them.
    pub fn whole_range(self) -> [f64; 2] {
        let largest = match self {
            Self::F16 => 2048.0,
            Self::Bf16 => 256.0,
            Self::F32 => 16_777_216.0,
            _ => EXACT,
        };
        self.range().unwrap_or([-largest, largest])
    }

    /// Whether it can hold `value`: integers hold whole numbers of their range that binary64 has exactly,
    /// others what rounds to a finite number.
    pub fn holds(self, value: f64) -> bool {
        match self.range() {
            Some([low, high]) => {
                value.fract() == 0.0 && value.abs() <= EXACT && (low..=high).contains(&value)
            }
            None => self.number(&self.bytes(value)).is_finite(),
        }
    }

    /// `value` as it lies in memory, rounded or cut to what the type holds.
    pub fn bytes(self, value: f64) -> Vec<u8> {
        let mut bytes = vec![0; self.size()];
        self.write(value, &mut bytes);
        bytes
    }

    /// Writes `value` to the first of `bytes`, of which there are enough.
    pub fn write(self, value: f64, bytes: &mut [u8]) {
        let bytes = &mut bytes[..self.size()];
        match self {
            Self::I8 => bytes.copy_from_slice(&(value as i8).to_ne_bytes()),
            Self::U8 => bytes.copy_from_slice(&(value as u8).to_ne_bytes()),
            Self::I16 => bytes.copy_from_slice(&(value as i16).to_ne_bytes()),
            Self::U16 => bytes.copy_from_slice(&(value as u16).to_ne_bytes()),
            Self::I32 => bytes.copy_from_slice(&(value as i32).to_ne_bytes()),
            Self::U32 => bytes.copy_from_slice(&(value as u32).to_ne_bytes()),
            Self::I64 => bytes.copy_from_slice(&(value as i64).to_ne_bytes()),
            Self::U64 => bytes.copy_from_slice(&(value as u64).to_ne_bytes()),
            Self::F16 => bytes.copy_from_slice(&f16::from_f64(value).to_ne_bytes()),
            Self::Bf16 => bytes.copy_from_slice(&bf16::from_f64(value).to_ne_bytes()),
            Self::F32 => bytes.copy_from_slice(&(value as f32).to_ne_bytes()),
            Self::F64 => bytes.copy_from_slice(&value.to_ne_bytes()),
        }
    }

    /// The number that lies in the first of `bytes`, of which there are enough; 64-bit integers are
    /// rounded.
    pub fn number(self, bytes: &[u8]) -> f64 {
        let mut all = [0; 8];
        let size = self.size();
        all[..size].copy_from_slice(&bytes[..size]);
        let [a, b, c, d, ..] = all;
        match self {
            Self::I8 => i8::from_ne_bytes([a]).into(),
            Self::U8 => a.into(),
            Self::I16 => i16::from_ne_bytes([a, b]).into(),
            Self::U16 => u16::from_ne_bytes([a, b]).into(),
            Self::I32 => i32::from_ne_bytes([a, b, c, d]).into(),
            Self::U32 => u32::from_ne_bytes([a, b, c, d]).into(),
            Self::I64 => i64::from_ne_bytes(all) as f64,
            Self::U64 => u64::from_ne_bytes(all) as f64,
            Self::F16 => f16::from_ne_bytes([a, b]).to_f64(),
            Self::Bf16 => bf16::from_ne_bytes([a, b]).to_f64(),
            Self::F32 => f32::from_ne_bytes([a, b, c, d]).into(),
            Self::F64 => f64::from_ne_bytes(all),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_from_their_bytes() {
        for (scalar, value) in [
            (Scalar::I8, -128.0),
            (Scalar::U8, 255.0),
            (Scalar::I16, -3.0),
            (Scalar::U16, 65_535.0),
            (Scalar::I32, -1.0),
            (Scalar::U32, 4_294_967_295.0),
            (Scalar::I64, -EXACT),
            (Scalar::U64, EXACT),
            (Scalar::F16, 0.333_251_953_125),
            (Scalar::Bf16, 1.007_812_5),
            (Scalar::F32, -0.5),
            (Scalar::F64, 0.1),
        ] {
            let bytes = scalar.bytes(value);
            assert_eq!((bytes.len(), scalar.number(&bytes)), (scalar.size(), value));
            assert!(scalar.holds(value));
            assert_eq!(Scalar::from_name(scalar.name()), Some(scalar));
            let again = scalar.opencl().and_then(Scalar::from_opencl);
            assert_eq!(again, (scalar != Scalar::Bf16).then_some(scalar));
        }
    }

    #[test]
    fn values_hold_what_they_can_and_no_more() {
        for (scalar, held, not) in [
            (Scalar::I8, -128.0, 128.0),
            (Scalar::I8, 127.0, -129.0),
            (Scalar::U8, 255.0, -1.0),
            (Scalar::U8, 0.0, 256.0),
            (Scalar::I16, 32767.0, 0.5),
            (Scalar::U32, 4_294_967_295.0, 4_294_967_296.0),
            (Scalar::I64, -EXACT, 2.0 * EXACT),
            (Scalar::F16, 65_504.0, 70_000.0),
            (Scalar::Bf16, 1e38, 1e39),
            (Scalar::F32, 0.1, 1e300),
            (Scalar::F64, 1e300, f64::INFINITY),
        ] {
            assert!(scalar.holds(held) && !scalar.holds(not), "{scalar:?}");
        }
    }
}
