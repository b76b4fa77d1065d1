//! Records as [`Line`](super::Line) is written, read in one pass.
//!
//! A general parser asks of each key which one it is; here the next one is known, and a record takes half of
//! the instructions. Whatever a line has otherwise, such as another order, a space, an escape, a key that is not known here or
//! a flaw, is left to the general parser. It alone says what is wrong.

use super::{Built, ErrorNorms, Measured, Record, Wall};
use crate::gpu::BuildReport;
use crate::workload::CaseKey;
use serde::de::DeserializeOwned;
use sonic_number::{ParserNumber, parse_number};

/// The record in a line; `None` where the general parser must read it.
pub(super) fn record(line: &[u8]) -> Option<Record> {
    let mut plain = Plain(str::from_utf8(line).ok()?);
    let record = plain.record()?;
    plain.0.is_empty().then_some(record)
}

/// Room for the samples of most cases.
const SAMPLES: usize = 32;

/// The rest of a line.
struct Plain<'a>(&'a str);

impl<'a> Plain<'a> {
    fn record(&mut self) -> Option<Record> {
        self.skip(r#"{"record":{"key":"#)?;
        let record = Record {
            key: self.key()?,
            tags: self.after(r#","tags":"#, |p| p.list(2, Self::owned))?,
            family: self.after(r#","family":"#, Self::owned)?,
            ceiling: self.optional(r#","ceiling":"#, Self::value)?,
            working_set: self.optional(r#","working_set":"#, Self::whole)?,
            device: self.after(r#","device":"#, Self::whole)?,
            round: self.after(r#","round":"#, Self::whole)?,
            simulated: self.has(r#","simulated":true"#),
            outcome: self.after(r#","outcome":"#, Self::value)?,
            measured: self.optional(r#","measured":"#, Self::measured)?,
            detail: None,
            kernel: self.optional(r#","kernel":"#, Self::built)?,
            norms: self.optional(r#","norms":"#, Self::norms)?,
            against: self.optional(r#","against":"#, Self::owned)?,
            flags: self.optional(r#","flags":"#, Self::value)?.unwrap_or_default(),
            monitor: self.optional(r#","monitor":"#, Self::value)?.unwrap_or_default(),
            wall: self.after(r#","wall":"#, Self::wall)?,
        };
        self.skip("}}")?;
        Some(record)
    }

    fn key(&mut self) -> Option<CaseKey> {
        let size = |p: &mut Self| {
            let size = (p.after("[", Self::owned)?, p.after(",", Self::whole)?);
            p.skip("]")?;
            Some(size)
        };
        let key = CaseKey {
            workload: self.after(r#"{"workload":"#, Self::owned)?,
            size: self.after(r#","size":"#, |p| p.list(1, size))?,
            measure: self.after(r#","measure":"#, Self::value)?,
            host_memory: self.optional(r#","host_memory":"#, Self::value)?,
        };
        self.skip("}")?;
        Some(key)
    }

    fn measured(&mut self) -> Option<Measured> {
        let measured = Measured {
            samples: self.after(r#"{"samples":"#, |p| p.list(SAMPLES, Self::real))?,
            batch: self.after(r#","batch":"#, Self::whole)?,
            clock: self.after(r#","clock":"#, Self::value)?,
            resolution: self.after(r#","resolution":"#, Self::real)?,
            flops: self.after(r#","flops":"#, Self::real)?,
            bytes: self.after(r#","bytes":"#, Self::real)?,
            types: self.optional(r#","types":"#, Self::value)?.unwrap_or_default(),
            warmup: self.after(r#","warmup":"#, Self::real)?,
            dropped: self.after(r#","dropped":"#, Self::whole)?,
        };
        self.skip("}")?;
        Some(measured)
    }

    fn built(&mut self) -> Option<Built> {
        let built = Built {
            hash: self.after(r#"{"hash":"#, Self::owned)?,
            group: self.after(r#","group":"#, Self::three)?,
            groups: self.after(r#","groups":"#, Self::three)?,
            bounds_checks: self.after(r#","bounds_checks":"#, Self::value)?,
            variant: self.optional(r#","variant":"#, Self::owned)?.unwrap_or_default(),
            tried: self.optional(r#","tried":"#, Self::value)?.unwrap_or_default(),
            untried: self.optional(r#","untried":"#, Self::whole)?.unwrap_or_default(),
            untimed: self.optional(r#","untimed":"#, Self::value)?.unwrap_or_default(),
            report: self.after(r#","report":"#, Self::report)?,
        };
        self.skip("}")?;
        Some(built)
    }

    fn report(&mut self) -> Option<BuildReport> {
        let report = BuildReport {
            seconds: self.after(r#"{"seconds":"#, Self::real)?,
            first: self.optional(r#","first":"#, Self::value)?,
            kept: self.optional(r#","kept":"#, Self::value)?.unwrap_or_default(),
            private_bytes: self.after(r#","private_bytes":"#, Self::whole_or_null)?,
            local_bytes: self.after(r#","local_bytes":"#, Self::whole_or_null)?,
            subgroup: self.after(r#","subgroup":"#, Self::whole_or_null)?,
            bounds_checks: None,
            options: self.after(r#","options":"#, Self::owned)?,
            log: self.after(r#","log":"#, Self::owned)?,
        };
        self.skip("}")?;
        Some(report)
    }

    fn norms(&mut self) -> Option<ErrorNorms> {
        let norms = ErrorNorms {
            max_absolute: self.after(r#"{"max_absolute":"#, Self::real)?,
            max_relative: self.after(r#","max_relative":"#, Self::real)?,
            l2: self.after(r#","l2":"#, Self::real)?,
        };
        self.skip("}")?;
        Some(norms)
    }

    fn wall(&mut self) -> Option<Wall> {
        let wall = Wall {
            prepare: self.after(r#"{"prepare":"#, Self::real)?,
            build: self.after(r#","build":"#, Self::real)?,
            launch: self.after(r#","launch":"#, Self::real)?,
            verify: self.after(r#","verify":"#, Self::real)?,
            measure: self.after(r#","measure":"#, Self::real)?,
            busy: self.after(r#","busy":"#, Self::real)?,
            reference_kernel: self.after(r#","reference_kernel":"#, Self::real)?,
            discarded: self.after(r#","discarded":"#, Self::real)?,
            cool_down: self.optional(r#","cool_down":"#, Self::real)?.unwrap_or_default(),
        };
        self.skip("}")?;
        Some(wall)
    }

    /// Whether this is next; then it is passed over.
    fn has(&mut self, text: &str) -> bool {
        let rest = self.0.strip_prefix(text);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn skip(&mut self, text: &str) -> Option<()> {
        self.has(text).then_some(())
    }

    fn after<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.skip(key)?;
        read(self)
    }

    /// What stands behind a key that may be absent.
    fn optional<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<Option<T>> {
        if self.has(key) { read(self).map(Some) } else { Some(None) }
    }

    fn list<T>(&mut self, room: usize, item: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        self.skip("[")?;
        let mut items = Vec::with_capacity(room);
        while !self.has("]") {
            if !items.is_empty() {
                self.skip(",")?;
            }
            items.push(item(self)?);
        }
        Some(items)
    }

    fn three(&mut self) -> Option<[u32; 3]> {
        let three = [
            self.after("[", Self::whole)?,
            self.after(",", Self::whole)?,
            self.after(",", Self::whole)?,
        ];
        self.skip("]")?;
        Some(three)
    }

    /// A string without escapes.
    fn string(&mut self) -> Option<&'a str> {
        let text = self.0.strip_prefix('"')?;
        let bytes = text.as_bytes();
        let mut end = 0;
        while !matches!(bytes.get(end)?, b'"' | b'\\' | ..b' ') {
            end += 1;
        }
        self.0 = text[end..].strip_prefix('"')?;
        Some(&text[..end])
    }

    fn owned(&mut self) -> Option<String> {
        self.string().map(str::to_owned)
    }

    fn real(&mut self) -> Option<f64> {
        let is_negative = self.has("-");
        let size = match self.number()? {
            ParserNumber::Float(number) => number,
            ParserNumber::Unsigned(number) => number as f64,
            ParserNumber::Signed(_) => return None,
        };
        Some(if is_negative { -size } else { size })
    }

    /// A whole number that is not negative.
    fn whole<T: TryFrom<u64>>(&mut self) -> Option<T> {
        match self.number()? {
            ParserNumber::Unsigned(number) => number.try_into().ok(),
            _ => None,
        }
    }

    /// A number without a sign.
    fn number(&mut self) -> Option<ParserNumber> {
        let mut end = 0;
        let number = parse_number(self.0.as_bytes(), &mut end, false).ok()?;
        self.0 = self.0.get(end..)?;
        Some(number)
    }

    fn whole_or_null<T: TryFrom<u64>>(&mut self) -> Option<Option<T>> {
        if self.has("null") { Some(None) } else { self.whole().map(Some) }
    }

    /// Anything else, by the general parser.
    fn value<T: DeserializeOwned>(&mut self) -> Option<T> {
        let mut values = serde_json::Deserializer::from_slice(self.0.as_bytes()).into_iter();
        let value = values.next()?.ok()?;
        self.0 = self.0.get(values.byte_offset()..)?;
        Some(value)
    }
}

#[cfg(test)]
mod tests;
