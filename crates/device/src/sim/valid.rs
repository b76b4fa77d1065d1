//! What the values of a simulated GPU's description must be, alone and beside each other.

use super::description::{Memory, Price, Rates, Unit};
use gpubench_core::checked::checked;
use gpubench_core::class::Class;
use gpubench_core::gpu::MemoryKind;
use gpubench_core::record::{is_clock_rate, is_tick};
use gpubench_core::units::quoted;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

pub(super) fn some_text<'de, D: Deserializer<'de>>(d: D) -> Result<String, D::Error> {
    let text = String::deserialize(d)?;
    match text.trim().is_empty() {
        true => Err(D::Error::custom("a device needs a name")),
        false => Ok(text),
    }
}

/// No figure of a device is so far from one, upwards or downwards: sums of such figures are finite.
const FARTHEST: f64 = 1e100;

pub(super) fn within_reach(x: f64) -> bool {
    (1.0 / FARTHEST..=FARTHEST).contains(&x)
}

pub(super) fn positive<'de, D: Deserializer<'de>>(d: D) -> Result<f64, D::Error> {
    let why = |x| format!("{} is no positive number of a device", quoted(x));
    checked(f64::deserialize(d)?, within_reach, why)
}

/// A rate that results may have ([`is_clock_rate`]).
pub(super) fn clock_rate<'de, D: Deserializer<'de>>(d: D) -> Result<f64, D::Error> {
    let why = |hertz| format!("no device's clock runs at {} Hz", quoted(hertz));
    checked(positive(d)?, is_clock_rate, why)
}

/// Seconds that results may have as a device's tick ([`is_tick`]).
pub(super) fn tick<'de, D: Deserializer<'de>>(d: D) -> Result<f64, D::Error> {
    checked(positive(d)?, is_tick, |seconds| format!("no clock has ticks of {} s", quoted(seconds)))
}

pub(super) fn some_positive<'de, D: Deserializer<'de>>(d: D) -> Result<Option<f64>, D::Error> {
    positive(d).map(Some)
}

pub(super) fn not_negative<'de, D: Deserializer<'de>>(d: D) -> Result<f64, D::Error> {
    let why = |x| format!("{} is not zero or a positive number of a device", quoted(x));
    checked(f64::deserialize(d)?, |x| x == 0.0 || within_reach(x), why)
}

/// Times that scatter further are zero, or without an end.
pub(super) fn scatter<'de, D: Deserializer<'de>>(d: D) -> Result<f64, D::Error> {
    let why = |x| format!("times scatter by 0 to 1, not by {}", quoted(x));
    checked(f64::deserialize(d)?, |x| x == 0.0 || within_reach(x) && x <= 1.0, why)
}

pub(super) fn whole<'de, D: Deserializer<'de>, T: TryFrom<i64>>(d: D) -> Result<T, D::Error> {
    match i64::deserialize(d)? {
        n @ ..=0 => Err(D::Error::custom(format!("{n} is too small: at least 1 is needed"))),
        n => T::try_from(n).map_err(|_| D::Error::custom(format!("{n} is too large"))),
    }
}

pub(super) fn up_to_two<'de, D: Deserializer<'de>>(d: D) -> Result<u8, D::Error> {
    let why = |n| format!("{n} copy engines: 0, 1 or 2 can be simulated");
    checked(u8::deserialize(d)?, |n| n <= 2, why)
}

/// Features, among which double precision is not: how fast it is must be said.
pub(super) fn without_f64<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<String>, D::Error> {
    let features = Vec::<String>::deserialize(d)?;
    match features.iter().any(|feature| feature == "f64") {
        true => Err(D::Error::custom(
            "a device has `f64` where `compute` says its `f64_flops_per_cycle`",
        )),
        false => Ok(features),
    }
}

/// A part of a description whose values must fit each other.
pub(super) trait Consistent {
    /// What does not fit, if anything.
    fn flaw(&self) -> Option<String>;
}

pub(super) fn consistent<'de, D: Deserializer<'de>, T: Deserialize<'de> + Consistent>(
    d: D,
) -> Result<T, D::Error> {
    let value = T::deserialize(d)?;
    value.flaw().map_or(Ok(value), |flaw| Err(D::Error::custom(flaw)))
}

impl Consistent for Unit {
    fn flaw(&self) -> Option<String> {
        if self.group_threads > self.threads {
            return Some(format!(
                "a group of {} work-items does not fit a unit of {}",
                self.group_threads, self.threads
            ));
        }
        if self.group_local > self.local {
            return Some(format!(
                "a group's {} bytes of local memory do not fit a unit of {}",
                self.group_local, self.local
            ));
        }
        if self.local_piece > self.local {
            return Some(format!(
                "local memory of {} bytes cannot be handed out in pieces of {}",
                self.local, self.local_piece
            ));
        }
        self.max_groups.contains(&0).then(|| "`max_groups` of 0 would allow no dispatch".to_owned())
    }
}

impl Consistent for BTreeMap<Class, Price> {
    fn flaw(&self) -> Option<String> {
        let wrong = self.keys().find(|class| !class.is_priced())?;
        Some(format!("`{}` has no price of its own", wrong.name()))
    }
}

impl Consistent for BTreeMap<Class, f64> {
    fn flaw(&self) -> Option<String> {
        let (class, rate) = self.iter().find(|(_, rate)| !within_reach(**rate))?;
        let rate = quoted(*rate);
        Some(format!("{rate} instructions of `{}` a cycle is no positive number", class.name()))
    }
}

impl Consistent for Memory {
    fn flaw(&self) -> Option<String> {
        if self.caches.windows(2).any(|pair| pair[0].size >= pair[1].size) {
            return Some("caches come in the order of their sizes, the smallest first".to_owned());
        }
        let latencies = self.caches.iter().map(|cache| cache.latency).chain([self.latency]);
        if !latencies.is_sorted() {
            return Some("a cache is no slower than what is behind it".to_owned());
        }
        if !self.atomics.iter().flatten().all(|rate| within_reach(*rate)) {
            return Some(
                "atomic additions are a positive number a second, from 1e-100 to 1e100".to_owned(),
            );
        }
        (self.largest_buffer > self.size).then(|| {
            format!(
                "a buffer of {} bytes does not fit a memory of {}",
                self.largest_buffer, self.size
            )
        })
    }
}

impl Consistent for BTreeMap<MemoryKind, Rates> {
    fn flaw(&self) -> Option<String> {
        if let Some(kind) = self.keys().find(|kind| kind.is_for_kernels()) {
            let what = "is no kind of host memory: pageable, pinned or mapped";
            return Some(format!("`{}` {what}", kind.label()));
        }
        self.iter().find_map(|(kind, rates)| {
            let faster = rates.upload_bidirectional > rates.upload
                || rates.download_bidirectional > rates.download;
            faster.then(|| {
                format!("{kind:?} memory is faster in both directions together than alone")
            })
        })
    }
}
