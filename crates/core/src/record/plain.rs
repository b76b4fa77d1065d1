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
mod tests {
    use super::super::sample::{key, record as sample};
    use super::super::{CooledDown, Flag, Line, Outcome};
    use super::*;
    use crate::gpu::{BoundsChecks, MemoryKind, Scalar};
    use crate::workload::{Ceiling, Kind};

    /// A record that has everything but a detail.
    fn full() -> Record {
        let mut full = sample(key("größe/32x4", 7), 1.234_567_890_123_456_7e-5);
        full.key.size.push(("m".into(), i64::MAX));
        full.key.host_memory = Some(MemoryKind::Pinned);
        full.key.measure = Kind::new("upload");
        full.tags = vec!["a".into(), "ceiling".into()];
        full.ceiling = Some(Ceiling::Bandwidth);
        full.working_set = Some(u64::MAX);
        full.simulated = true;
        full.outcome = Outcome::Timeout("a \"word\"".into());
        let measured = full.measured.as_mut().unwrap();
        measured.types = vec![(Scalar::F64, 1.0)];
        measured.samples.extend([0.0, 5e-324, 1e300, 1.7e-6]);
        full.kernel = Some(Built {
            hash: "00ff".into(),
            group: [64, 1, 1],
            groups: [u32::MAX, 1, 1],
            bounds_checks: BoundsChecks::Off,
            variant: "x=1".into(),
            tried: vec![("x=1".into(), Some(1e-3)), ("x=2".into(), None)],
            untried: 3,
            untimed: vec![("x=2".into(), "its group is too large".into())],
            report: BuildReport {
                seconds: 0.5,
                first: Some(true),
                local_bytes: Some(0),
                options: "-D A=1".into(),
                ..BuildReport::default()
            },
        });
        full.norms = Some(ErrorNorms { max_absolute: 1.0, max_relative: 0.5, l2: -0.0 });
        full.against = Some("reference".into());
        full.flags = vec![Flag::Cache, Flag::Throttled("heat".into())];
        full.monitor.began = Some(1e-4);
        full.monitor.cool_down = Some(CooledDown { seconds: 1.0, celsius: None });
        full.wall.cool_down = 1.0;
        full
    }

    fn written(record: &Record) -> String {
        serde_json::to_string(&Line::Record(Box::new(record.clone()))).unwrap()
    }

    #[test]
    fn what_is_written_is_read_without_the_general_parser() {
        for known in [sample(key("a", 1), 1e-3), full()] {
            assert_eq!(record(written(&known).as_bytes()).as_ref(), Some(&known));
        }
    }

    #[test]
    fn what_deviates_is_left_to_the_general_parser() {
        let plain = written(&full());
        for (from, to) in [
            ("\"round\":0", "\"round\":00"),
            ("\"round\":0", "\"round\":-0"),
            ("\"round\":0", "\"round\":0.0"),
            ("\"round\":0", "\"round\":4294967296"),
            ("\"round\":0", "\"round\": 0"),
            ("\"round\":0", "\"round\":0,\"round\":0"),
            ("\"round\":0", "\"round\":null"),
            ("\"round\":0,", ""),
            ("\"round\":0", "\"round\":0,\"new\":0"),
            ("1e-9", "1e-"),
            ("1e-9", "1.e-9"),
            ("1e-9", "1e999"),
            ("1e-9", "+1e-9"),
            ("1e-9", "inf"),
            ("[64,1,1]", "[64,1]"),
            ("[64,1,1]", "[64,1,1,]"),
            ("-D A=1", "-D\\tA=1"),
            ("-D A=1", "-D\tA=1"),
            ("\"throttled\"", "\"unheard-of\""),
            ("}}", "}} "),
            ("}}", "}"),
        ] {
            let odd = plain.replacen(from, to, 1);
            let odd =
                if from == "}}" { format!("{}{to}", plain.trim_end_matches("}}")) } else { odd };
            assert!(odd != plain && record(odd.as_bytes()).is_none(), "{from} as {to}");
        }
        assert!(record(b"").is_none() && record(b"{\"record\":{\"key\":\xff").is_none());
    }

    #[test]
    fn a_number_is_the_same_to_both() {
        let mut state = 1_u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let mut known = sample(key("a", 1), 1.0);
            let number = f64::from_bits(state).abs();
            if number.is_finite() {
                known.measured.as_mut().unwrap().samples = vec![number];
                assert_eq!(record(written(&known).as_bytes()), Some(known));
            }
        }
        for digits in [
            "123456789012345678901234567890",
            "0.1e1",
            "1E+2",
            "2.00000000000000011102230246251565404",
        ] {
            let line =
                written(&sample(key("a", 1), 1.0)).replacen("[1.0", &format!("[{digits}"), 1);
            let general: Line = serde_json::from_str(&line).unwrap();
            let plain = record(line.as_bytes()).unwrap();
            assert_eq!(general, Line::Record(Box::new(plain)), "{digits}");
        }
    }

    /// `full`, with these of its optional fields, this text in its names and these numbers.
    fn varied(there: u16, text: &str, samples: Vec<f64>, whole: u64) -> Record {
        let mut record = full();
        let keep = |place: u32| there >> place & 1 == 1;
        record.key.workload = text.to_owned();
        record.key.size.retain(|_| keep(0));
        record.key.host_memory = record.key.host_memory.filter(|_| keep(1));
        record.tags.retain(|_| keep(2));
        record.ceiling = record.ceiling.filter(|_| keep(3));
        record.working_set = keep(4).then_some(whole);
        record.simulated = keep(5);
        if keep(6) {
            record.outcome = Outcome::Ok;
        }
        record.measured = record.measured.filter(|_| keep(7)).map(|m| Measured { samples, ..m });
        record.kernel = record.kernel.filter(|_| keep(8));
        if let Some(kernel) = &mut record.kernel {
            kernel.tried.retain(|_| keep(9));
            kernel.untimed.retain(|_| keep(9));
            (kernel.report.log, kernel.report.private_bytes) = (text.into(), Some(whole));
            kernel.report.kept = keep(15);
        }
        record.norms = record.norms.filter(|_| keep(10));
        record.against = record.against.filter(|_| keep(11));
        record.flags.retain(|_| keep(12));
        record.monitor.began = record.monitor.began.filter(|_| keep(13));
        record.wall.cool_down *= f64::from(there >> 14 & 1);
        record
    }

    proptest::proptest! {
        /// What is written is read here unless its text has escapes, and however it is spoiled, what is read
        /// here the general parser reads alike.
        #[test]
        fn both_read_the_same_record(
            there: u16,
            text in "[a-zß\"\\\\\n ]{0,12}",
            samples in proptest::collection::vec(proptest::num::f64::NORMAL | proptest::num::f64::ZERO, 0..8),
            whole: u64,
            edits in proptest::collection::vec((0..3_u8, proptest::prelude::any::<proptest::sample::Index>(), 0..29_usize), 0..3),
        ) {
            let known = varied(there, &text, samples, whole);
            let mut line = written(&known).into_bytes();
            let escaped = text.contains(['"', '\\', '\n']);
            proptest::prop_assert_eq!(record(&line), (!escaped).then_some(known));
            for (edit, place, with) in edits {
                let (at, with) = (place.index(line.len()), b"0123456789+-.eE\"\\,:[]{}nul \xffa"[with]);
                match edit {
                    0 => line[at] = with,
                    1 => line.insert(at, with),
                    _ => drop(line.remove(at)),
                }
            }
            if let Some(read) = record(&line) {
                let general: Line = serde_json::from_slice(&line).expect("the general parser reads it too");
                proptest::prop_assert_eq!(general, Line::Record(Box::new(read)));
            }
        }
    }
}
