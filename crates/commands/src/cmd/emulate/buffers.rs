//! Buffers that the user names: inputs from files, results to be shown.

use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Access, Scalar};
use gpubench_core::text::read_bytes;
use gpubench_emulator::Buffer;
use gpubench_experiments::plan::{BufferPlan, Case};
use serde::Serialize;
use std::ops::Range;
use std::path::PathBuf;

/// Elements of a buffer as the launch left them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Shown {
    pub(super) buffer: String,
    /// The position of the first one.
    pub(super) first: u64,
    /// The numbers of each; none where nothing has written it.
    pub(super) elements: Vec<Vec<Option<Number>>>,
}

/// A number in JSON; as text where JSON has none for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Number {
    Float(f32),
    Integer(i64),
    Text(String),
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Float(x) if x.abs() < 1e-6 && *x != 0.0 || x.abs() >= 1e16 => {
                write!(f, "{x:e}")
            }
            Self::Float(x) => write!(f, "{x}"),
            Self::Integer(i) => write!(f, "{i}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// `NAME=FILE`: a buffer's contents before the launch.
pub(super) fn input(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => {
            Ok((name.to_owned(), file.into()))
        }
        _ => Err("write the name of a buffer and a file, such as `a=a.bin`".into()),
    }
}

/// `NAME[A..B]`: elements to be shown after it.
pub(super) fn show(text: &str) -> Result<(String, Range<u64>), String> {
    let wrong = || "write a buffer and its elements, such as `out[0..16]` or `out[7]`".to_owned();
    let (name, rest) = text.split_once('[').ok_or_else(wrong)?;
    let inside = rest.strip_suffix(']').filter(|_| !name.is_empty()).ok_or_else(wrong)?;
    let (first, end) = inside.split_once("..").unwrap_or((inside, ""));
    let first: u64 = first.trim().parse().map_err(|_| wrong())?;
    let end = match inside.contains("..") {
        true => end.trim().parse().map_err(|_| wrong())?,
        false => first.saturating_add(1),
    };
    if first >= end {
        return Err(format!("`{text}` is no element"));
    }
    Ok((name.to_owned(), first..end))
}

/// Replaces what `case` would fill its buffers with by the files that the user names.
pub(super) fn read_inputs(
    case: &Case,
    inputs: &[(String, PathBuf)],
    contents: &mut [Buffer],
) -> Result<()> {
    for (name, path) in inputs {
        let (i, buffer) = find(case, name)?;
        of_32_bits(buffer)?;
        if buffer.access == Access::Write {
            return Err(Error::Usage(format!("the kernel only writes `{name}`: it has no input")));
        }
        let (bytes, file) = (buffer.bytes().0, path.display());
        let read = read_bytes(path, bytes).map_err(|why| {
            Error::Usage(format!("{file}: {why} (`{}` holds {bytes} bytes)", buffer.name))
        })?;
        if read.len() as u64 != bytes {
            return Err(Error::Usage(format!(
                "{file}: {} bytes, but `{}` of {} holds {bytes}",
                read.len(),
                buffer.name,
                case.key
            )));
        }
        let scalars = read.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        contents[i] = scalars.collect();
    }
    Ok(())
}

/// What the launch left of the elements of a buffer that the user asks for.
pub(super) fn shown(
    case: &Case,
    (name, elements): &(String, Range<u64>),
    buffers: &mut [Buffer],
) -> Result<Shown> {
    let (i, plan) = find(case, name)?;
    of_32_bits(plan)?;
    if elements.end > plan.count {
        return Err(Error::Usage(format!(
            "`{}` of {} has {} elements: there is no element {}",
            plan.name,
            case.key,
            plan.count,
            elements.end - 1
        )));
    }
    let width = u64::from(plan.element.width);
    let mut number = |at| buffers[i].get(at as usize).map(|bits| number(plan.element.scalar, bits));
    let element = |element| (element * width..(element + 1) * width).map(&mut number).collect();
    let shown = elements.clone().map(element).collect();
    Ok(Shown { buffer: plan.name.clone(), first: elements.start, elements: shown })
}

fn number(scalar: Scalar, bits: u32) -> Number {
    match scalar {
        Scalar::F32 if f32::from_bits(bits).is_finite() => Number::Float(f32::from_bits(bits)),
        Scalar::F32 => Number::Text(f32::from_bits(bits).to_string()),
        Scalar::I32 => Number::Integer(bits.cast_signed().into()),
        _ => Number::Integer(bits.into()),
    }
}

/// The emulator's memory is words.
fn of_32_bits(buffer: &BufferPlan) -> Result<()> {
    let (name, held) = (&buffer.name, String::from(buffer.element));
    match buffer.element.scalar.size() {
        4 => Ok(()),
        _ => Err(Error::Usage(format!(
            "`{name}` holds {held}: only scalars of 32 bits are read and shown"
        ))),
    }
}

fn find<'c>(case: &'c Case, name: &str) -> Result<(usize, &'c BufferPlan)> {
    let found = case.buffers.iter().enumerate().find(|(_, buffer)| buffer.name == name);
    found.ok_or_else(|| {
        let names: Vec<_> = case.buffers.iter().map(|b| format!("`{}`", b.name)).collect();
        let (key, names) = (&case.key, names.join(", "));
        Error::Usage(format!("there is no buffer `{name}` in {key}: its buffers are {names}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_named_by_a_range_or_one_by_one() {
        assert_eq!(show("out[0..16]"), Ok(("out".into(), 0..16)));
        assert_eq!(show("out[7]"), Ok(("out".into(), 7..8)));
        for wrong in ["out", "out[", "[1]", "out[3..3]", "out[a]", "out[1..]", "out[-1]", "out[1]x"]
        {
            assert!(show(wrong).is_err(), "{wrong}");
        }
        assert!(input("a=b.bin").is_ok() && input("a").is_err() && input("=b").is_err());
    }

    #[test]
    fn numbers_that_json_lacks_are_text() {
        let json = |scalar, bits| serde_json::to_string(&number(scalar, bits)).unwrap();
        assert_eq!(json(Scalar::F32, 0.1f32.to_bits()), "0.1");
        assert_eq!(json(Scalar::F32, f32::NAN.to_bits()), "\"NaN\"");
        assert_eq!(json(Scalar::I32, u32::MAX), "-1");
        assert_eq!(json(Scalar::U32, u32::MAX), "4294967295");
    }
}
