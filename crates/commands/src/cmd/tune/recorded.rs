//! A recorded space from a file: which format it has, and what no format may hold.

use super::{kernel_tuner, measurements};
use flate2::read::MultiGzDecoder;
use gpubench_core::error::{Error, Result};
use gpubench_core::record::is_time;
use gpubench_core::text::{counted, read_bytes};
use gpubench_tune::{Interval, Outcome, Recorded, Space, SpaceError};
use std::io::Read;
use std::path::Path;

/// The largest file, and the largest that a gzipped one may unpack to.
const LARGEST: u64 = 256 << 20;

/// Parameters, and of each variant the values and the outcome.
#[derive(Debug, Default)]
pub struct Rows {
    /// Names of the parameters.
    pub names: Vec<String>,
    /// Values of each variant.
    pub variants: Vec<Vec<f64>>,
    /// Outcome of each variant.
    pub outcomes: Vec<Outcome>,
}

/// Reads a recorded space.
///
/// # Errors
/// `Usage` where the file cannot be read or holds no space; `Suite` for mistakes in it, with their place.
pub fn read(path: &Path) -> Result<Recorded> {
    let file = path.display().to_string();
    let wrong = |why: String| Error::Usage(format!("{file}: {why}"));
    let bytes = read_bytes(path, LARGEST).map_err(wrong)?;
    let bytes =
        if bytes.starts_with(&[0x1f, 0x8b]) { unpack(&bytes).map_err(wrong)? } else { bytes };
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        wrong(format!(
            "not UTF-8 text at byte {at}: CSV, CSV in gzip, or Kernel Tuner's JSON is read"
        ))
    })?;
    if text.trim().is_empty() {
        return Err(wrong("empty: a recorded space has a header line and a line a variant".into()));
    }
    let is_json = text.trim_start().starts_with(['{', '[']);
    let rows =
        if is_json { kernel_tuner::read(&file, &text) } else { measurements::read(&file, &text) }?;
    space(rows, is_json).map_err(wrong)
}

/// What gzip holds, to its end.
fn unpack(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut unpacked = vec![];
    match MultiGzDecoder::new(bytes).take(LARGEST + 1).read_to_end(&mut unpacked) {
        Err(error) => Err(format!(
            "the gzip data end or break after {} unpacked ({error}): copy the file again",
            counted(unpacked.len(), "byte")
        )),
        Ok(_) if unpacked.len() as u64 > LARGEST => {
            Err(format!("unpacks to more than {} MiB", LARGEST >> 20))
        }
        Ok(_) => Ok(unpacked),
    }
}

/// Whether a variant can have taken that.
fn is_possible(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Slow(_) | Outcome::Failed => true,
        Outcome::Measured(Interval { low, time, high }) => {
            [low, time, high].into_iter().all(|seconds| is_time(*seconds))
        }
    }
}

/// The space of these rows; variants are named by line where the file has lines.
fn space(rows: Rows, is_json: bool) -> Result<Recorded, String> {
    let place = |variant: usize| match is_json {
        true => format!("result {}", variant + 1),
        false => format!("row {}", variant + 1),
    };
    if let Some(odd) = rows.outcomes.iter().position(|outcome| !is_possible(outcome)) {
        return Err(format!("{} took what no clock reads", place(odd)));
    }
    let names = rows.names.clone();
    let space = Space::new(rows.names, rows.variants).map_err(|error| match error {
        SpaceError::Empty => "no variant".to_owned(),
        SpaceError::Length { variant } => {
            format!("{} has another number of values", place(variant))
        }
        SpaceError::NotFinite { variant, parameter } => {
            format!("`{}` of {} is not finite", names[parameter], place(variant))
        }
        SpaceError::Twice { first, second } => {
            format!("{} is the same variant as {}: keep one", place(second), place(first))
        }
    })?;
    let all = space.len();
    Recorded::new(space, rows.outcomes)
        .ok_or_else(|| format!("none of {all} variants is ok, so there is no best to compare with"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_variant_took_what_no_clock_reads() {
        let taken = |low: f64, time: f64, high: f64| {
            let outcomes = vec![Outcome::Failed, Outcome::Measured(Interval { low, time, high })];
            let variants = vec![vec![1.0], vec![2.0]];
            space(Rows { names: vec!["x".into()], variants, outcomes }, true).map(|_| ())
        };
        assert_eq!(taken(1e-3, 2e-3, 3e-3), Ok(()));
        for [low, time, high] in [[-0.005, 1e-3, 1e-3], [1e-303; 3], [1e-3, 1e-3, 1e300]] {
            assert_eq!(taken(low, time, high), Err("result 2 took what no clock reads".to_owned()));
        }
    }
}
