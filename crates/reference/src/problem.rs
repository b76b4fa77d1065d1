//! What a reference sees of a launch: numbers by name and the buffers as they were before it.

use super::Data;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::Scalar;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// A launch's sizes, parameters and buffers.
#[derive(Debug, Default)]
pub struct Problem {
    numbers: Vec<(String, f64)>,
    buffers: Vec<(String, Data)>,
    /// Names of the numbers that were asked for.
    asked: Mutex<BTreeSet<String>>,
}

impl Problem {
    /// Of `numbers` (sizes and parameters; a later one of the same name wins) and the contents
    /// of all buffers before the launch, by name.
    pub fn new(numbers: Vec<(String, f64)>, buffers: Vec<(String, Data)>) -> Self {
        Self { numbers, buffers, asked: Mutex::default() }
    }

    /// The names of all numbers that were asked for so far, whether they were there or not: what is
    /// computed depends on no other.
    pub fn asked(&self) -> BTreeSet<String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The buffers again, as they were given.
    pub fn into_buffers(self) -> Vec<(String, Data)> {
        self.buffers
    }

    /// The parameter or size `name`.
    pub fn number(&self, name: &str) -> Result<f64> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
        self.numbers.iter().rev().find(|(n, _)| n == name).map(|&(_, value)| value).ok_or_else(
            || Error::Usage(format!("the reference needs a size or parameter `{name}`")),
        )
    }

    /// The size `name`.
    pub fn size(&self, name: &str) -> Result<usize> {
        let value = self.number(name)?;
        if value >= 0.0 && value.fract() == 0.0 {
            Ok(value as usize)
        } else {
            Err(Error::Usage(format!(
                "the reference needs a whole number as `{name}`, not {value}"
            )))
        }
    }

    /// The rows that are computed, of `all`: those of a chunk where the launch says so (`count`
    /// rows from `first` on). What lies outside is left as it is.
    pub fn rows(&self, all: usize) -> Range<usize> {
        match (self.size("first"), self.size("count")) {
            (Ok(first), Ok(count)) => first.min(all)..first.saturating_add(count).min(all),
            _ => 0..all,
        }
    }

    /// The buffer `name`.
    pub fn data(&self, name: &str) -> Result<&Data> {
        self.buffers
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, data)| data)
            .ok_or_else(|| Error::Usage(format!("the reference needs a buffer `{name}`")))
    }

    /// The buffer `name` of at least `len` `f32` scalars.
    pub fn f32(&self, name: &str, len: usize) -> Result<&[f32]> {
        match self.data(name)? {
            Data::F32(v) => long_enough(name, v, len),
            other => Err(wrong_type(name, "f32", other)),
        }
    }

    /// The buffer `name` of at least `len` `f64` scalars.
    pub fn f64(&self, name: &str, len: usize) -> Result<Vec<f64>> {
        match self.data(name)? {
            Data::Other(Scalar::F64, bytes) => {
                self.room(name, len)?;
                let mut numbers = vec![0.0; bytes.len() / size_of::<f64>()];
                let bytes = &bytes[..numbers.len() * size_of::<f64>()];
                bytemuck::cast_slice_mut(&mut numbers).copy_from_slice(bytes);
                Ok(numbers)
            }
            other => Err(wrong_type(name, "f64", other)),
        }
    }

    /// The buffer `name` of at least `len` `u32` scalars.
    pub fn u32(&self, name: &str, len: usize) -> Result<&[u32]> {
        match self.data(name)? {
            Data::U32(v) => long_enough(name, v, len),
            other => Err(wrong_type(name, "u32", other)),
        }
    }

    /// `len`, where the buffer `name` has room for so many scalars: a result is never longer
    /// than the buffer it belongs to.
    pub fn room(&self, name: &str, len: usize) -> Result<usize> {
        let has = self.data(name)?.len();
        if has < len { Err(too_short(name, has, len)) } else { Ok(len) }
    }
}

fn long_enough<'a, T>(name: &str, v: &'a [T], len: usize) -> Result<&'a [T]> {
    if v.len() < len { Err(too_short(name, v.len(), len)) } else { Ok(v) }
}

fn too_short(name: &str, has: usize, wanted: usize) -> Error {
    Error::Usage(format!("the reference needs {wanted} scalars in `{name}`, which has {has}"))
}

fn wrong_type(name: &str, wanted: &str, found: &Data) -> Error {
    Error::Usage(format!("the reference needs `{name}` as {wanted}, not {}", found.scalar().name()))
}

/// Problems for tests.
#[cfg(test)]
pub(crate) mod testing {
    use super::{Data, Problem};

    /// Of these numbers and buffers.
    pub fn problem(numbers: &[(&str, f64)], buffers: Vec<(&str, Data)>) -> Problem {
        let numbers = numbers.iter().map(|&(name, x)| (name.to_owned(), x)).collect();
        let named = |(name, data): (&str, Data)| (name.to_owned(), data);
        Problem::new(numbers, buffers.into_iter().map(named).collect())
    }
}
