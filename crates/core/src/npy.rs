//! NumPy's `.npy` files, as far as buffers need them: arrays of one number's type in C order.
//!
//! By hand, since the crates for it bring a parser of Python and big integers for a header of one line.

use crate::gpu::Scalar;

/// What every file begins with, before its version.
const MAGIC: &[u8] = b"\x93NUMPY";
/// The numbers begin at a multiple of this.
const ALIGNMENT: usize = 64;
/// More bytes than this no header of an array of numbers has.
const MAX_HEADER: usize = 1 << 16;

/// The header of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The numbers' type as NumPy writes it: `<f4`.
    pub dtype: String,
    /// Whether the first index changes fastest.
    pub fortran: bool,
    /// Numbers along each axis.
    pub shape: Vec<u64>,
    /// Where the numbers begin.
    pub start: usize,
}

impl Header {
    /// Of the bytes with which a file begins.
    ///
    /// # Errors
    /// Why it is no such file.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let no_file = || "it is no `.npy` file".to_owned();
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(no_file)?;
        let (len, start) = match rest {
            [1, _, a, b, ..] => (usize::from(u16::from_le_bytes([*a, *b])), 10),
            [2 | 3, _, a, b, c, d, ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, 12),
            _ => return Err("its version of `.npy` is not known".to_owned()),
        };
        if len > MAX_HEADER {
            return Err("its header is too long".to_owned());
        }
        let text = bytes.get(start..start + len).ok_or("its header is cut off")?;
        let text = std::str::from_utf8(text).map_err(|_| no_file())?;
        let cut = |open: char, close: char, text: &str| {
            let (_, rest) = text.split_once(open)?;
            rest.split_once(close).map(|(inner, _)| inner.to_owned())
        };
        let value = |key: &str| text.split_once(&format!("'{key}':")).map(|(_, rest)| rest.trim());
        let dtype = value("descr").filter(|rest| rest.starts_with('\''));
        let dtype = dtype.and_then(|rest| cut('\'', '\'', rest));
        let dtype = dtype.ok_or("its numbers have no plain type (`descr`)")?;
        let fortran = value("fortran_order").is_some_and(|rest| rest.starts_with("True"));
        let shape = value("shape").and_then(|rest| cut('(', ')', rest));
        let shape = shape.ok_or("its header has no shape")?;
        let axes = shape.split(',').map(str::trim).filter(|axis| !axis.is_empty());
        let shape = axes.map(str::parse).collect::<Result<Vec<u64>, _>>();
        let shape = shape.map_err(|_| "its shape is no list of numbers".to_owned())?;
        Ok(Self { dtype, fortran, shape, start: start + len })
    }

    /// Whether it holds `count` numbers of the type `scalar`, in C order, in any shape.
    ///
    /// # Errors
    /// What it holds instead.
    pub fn check(&self, scalar: Scalar, count: u64) -> Result<(), String> {
        let wanted = dtype(scalar);
        if self.dtype != wanted {
            let (is, name) = (&self.dtype, numpy_name(scalar));
            return Err(format!(
                "its type is `{is}`, and not `{wanted}`: write `.astype(np.{name})`"
            ));
        }
        if self.fortran && self.shape.len() > 1 {
            return Err("it is in Fortran order: write `np.ascontiguousarray(…)`".to_owned());
        }
        let held = self.shape.iter().try_fold(1u64, |all, axis| all.checked_mul(*axis));
        if held != Some(count) {
            let held = held.map_or_else(|| "too many".to_owned(), |held| held.to_string());
            let axes: Vec<_> = self.shape.iter().map(u64::to_string).collect();
            return Err(format!(
                "its shape ({}) is {held} numbers, and not {count}",
                axes.join(", ")
            ));
        }
        Ok(())
    }
}

/// The bytes of the `count` numbers of type `scalar` that a file holds.
///
/// # Errors
/// What it holds instead.
pub fn numbers(file: &[u8], scalar: Scalar, count: u64) -> Result<&[u8], String> {
    let header = Header::parse(file)?;
    header.check(scalar, count)?;
    let wanted = count as usize * scalar.size();
    let rest = &file[header.start..];
    if rest.len() == wanted {
        return Ok(rest);
    }
    Err(format!("{} bytes follow its header, and not {wanted}", rest.len()))
}

/// A file with these numbers.
pub fn file(scalar: Scalar, shape: &[u64], numbers: &[u8]) -> Vec<u8> {
    let axes: String = shape.iter().map(|axis| format!("{axis},")).collect();
    let mut header =
        format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({axes}), }}", dtype(scalar));
    let before = MAGIC.len() + 4;
    let len = (before + header.len() + 1).next_multiple_of(ALIGNMENT) - before;
    header += &" ".repeat(len - header.len() - 1);
    header.push('\n');
    let mut file = MAGIC.to_vec();
    file.extend([1, 0]);
    file.extend((len as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(numbers);
    file
}

/// NumPy's word for a type of this machine's byte order, which one byte has none of.
fn dtype(scalar: Scalar) -> String {
    let order = match (scalar.size(), cfg!(target_endian = "little")) {
        (1, _) => '|',
        (_, true) => '<',
        (_, false) => '>',
    };
    format!("{order}{}{}", &kind(scalar)[..1], scalar.size())
}

fn numpy_name(scalar: Scalar) -> String {
    format!("{}{}", kind(scalar), 8 * scalar.size())
}

/// NumPy has no bf16: a file holds its bits.
fn kind(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::F16 | Scalar::F32 | Scalar::F64 => "float",
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 | Scalar::Bf16 => "uint",
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => "int",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `np.save` of `np.arange(6, dtype=np.float32).reshape(2, 3)`.
    fn saved(header: &str) -> Vec<u8> {
        let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        file.extend(format!("{header:<117}\n").as_bytes());
        file.extend((0..6).flat_map(|i| (i as f32).to_le_bytes()));
        file
    }

    const HEADER: &str = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";

    #[test]
    fn what_numpy_writes_is_read() {
        let file = saved(HEADER);
        let header = Header::parse(&file).unwrap();
        assert_eq!((header.dtype.as_str(), header.fortran), ("<f4", false));
        assert_eq!((header.shape.as_slice(), header.start), (&[2, 3][..], 128));
        let numbers = numbers(&file, Scalar::F32, 6).unwrap();
        assert_eq!(numbers[4..8], 1f32.to_le_bytes());
    }

    #[test]
    fn what_is_written_is_read() {
        for shape in [&[3u64][..], &[3, 1], &[1, 1, 3]] {
            let bytes = [1u8, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0];
            let file = file(Scalar::U32, shape, &bytes);
            assert_eq!(numbers(&file, Scalar::U32, 3).unwrap(), bytes);
            assert_eq!(Header::parse(&file).unwrap().shape, shape);
            assert_eq!(Header::parse(&file).unwrap().start % ALIGNMENT, 0);
        }
    }

    #[test]
    fn version_2_has_four_bytes_of_length() {
        let mut file = b"\x93NUMPY\x02\x00\x74\x00\x00\x00".to_vec();
        file.extend(format!("{HEADER:<115}\n").as_bytes());
        assert_eq!(Header::parse(&file).map(|header| header.start), Ok(128));
        file[6] = 4;
        assert!(Header::parse(&file).unwrap_err().contains("version"));
    }

    #[test]
    fn types_have_numpys_names() {
        for (scalar, descr, name) in [
            (Scalar::U8, "|u1", "uint8"),
            (Scalar::I16, "<i2", "int16"),
            (Scalar::F16, "<f2", "float16"),
            (Scalar::Bf16, "<u2", "uint16"),
            (Scalar::F64, "<f8", "float64"),
        ] {
            let order = if cfg!(target_endian = "little") { "<" } else { ">" };
            assert_eq!(dtype(scalar), descr.replace('<', order));
            assert_eq!(numpy_name(scalar), name);
        }
        let bytes = [1u8, 2, 3];
        assert_eq!(numbers(&file(Scalar::U8, &[3], &bytes), Scalar::U8, 3).unwrap(), bytes);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let why = |file: &[u8], count| numbers(file, Scalar::F32, count).unwrap_err();
        let file = saved(HEADER);
        assert_eq!(why(&file, 5), "its shape (2, 3) is 6 numbers, and not 5");
        assert!(why(&file[..140], 6).contains("12 bytes follow its header, and not 24"));
        assert!(why(&file[..60], 6).contains("cut off"));
        assert!(why(b"PK\x03\x04", 6).contains("no `.npy` file"));
        assert!(why(&saved(&HEADER.replace("<f4", "<f8")), 6).contains("np.float32"));
        assert!(why(&saved(&HEADER.replace("False", "True")), 6).contains("Fortran"));
        assert!(why(&saved(&HEADER.replace("(2, 3)", "(2, x)")), 6).contains("shape"));
        assert!(why(&saved(&HEADER.replace("'<f4'", "[('a', '<f4')]")), 6).contains("plain type"));
        let huge = HEADER.replace("(2, 3)", "(9999999999, 9999999999)");
        assert!(why(&saved(&huge), 6).contains("too many"));
        for end in 0..file.len() {
            assert!(numbers(&file[..end], Scalar::F32, 6).is_err());
        }
    }

    #[test]
    fn a_header_is_as_long_as_it_may_be() {
        let with = |len: usize| {
            let mut file = b"\x93NUMPY\x02\x00".to_vec();
            file.extend((len as u32).to_le_bytes());
            file.extend(HEADER.as_bytes());
            file.resize(12 + len, b' ');
            Header::parse(&file).map(|header| header.start)
        };
        assert_eq!(with(MAX_HEADER), Ok(12 + MAX_HEADER));
        assert_eq!(with(MAX_HEADER + 1), Err("its header is too long".to_owned()));
        let row = Header { dtype: "<f4".into(), fortran: true, shape: vec![3], start: 0 };
        assert_eq!(row.check(Scalar::F32, 3), Ok(()), "one axis has no order");
    }

    #[test]
    fn headers_are_filled_up_to_the_next_64_bytes() {
        for axes in 1..40 {
            let file = file(Scalar::U8, &vec![1; axes], &[7]);
            let header = Header::parse(&file).unwrap();
            let text = std::str::from_utf8(&file[10..header.start]).unwrap();
            let blanks = text.len() - text.trim_end().len();
            assert!(text.ends_with('\n') && (1..=64).contains(&blanks), "{axes}: {blanks}");
            assert_eq!((header.start % 64, &file[header.start..]), (0, &[7][..]));
        }
    }
}
