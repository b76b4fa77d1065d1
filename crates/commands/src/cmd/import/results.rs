//! What was read of other programs' files, as a run's header and records.

use crate::store::{Writer, is_copy, now, rounded};
use crate::worker::version;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Clock, DeviceInfo, DeviceKind, Language};
use gpubench_core::hash::sha256_hex;
use gpubench_core::record::{Footer, Header, Host, METHOD, Measured, Outcome, Record, VERSION};
use gpubench_core::text::{counted, read_bytes};
use gpubench_core::units::Bytes;
use gpubench_core::workload::{CaseKey, Kind, Size};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

/// The largest file that is read.
const LARGEST: u64 = 256 << 20;

/// A file of another program.
pub struct Source {
    /// What messages call it.
    pub file: String,
    /// Its text.
    pub text: String,
    /// The round that its cases are of.
    pub round: u32,
    /// The first sixteen digits of its SHA-256.
    pub hash: String,
}

impl Source {
    /// Reads `path`.
    ///
    /// # Errors
    /// `Usage` where it cannot be read or is no text.
    pub fn new(path: &Path, round: u32) -> Result<Self> {
        let file = path.display().to_string();
        let wrong = |why: String| Error::Usage(format!("{file}: {why}"));
        let bytes = read_bytes(path, LARGEST).map_err(wrong)?;
        let mut hash = sha256_hex(&bytes);
        hash.truncate(16);
        let text = String::from_utf8(bytes).map_err(|error| {
            wrong(format!("not UTF-8 text at byte {}", error.utf8_error().valid_up_to()))
        })?;
        Ok(Self { file, text, round, hash })
    }

    /// A mistake somewhere in it.
    pub fn wrong(&self, why: &str) -> Error {
        Error::Usage(format!("{}: {why}", self.file))
    }
}

/// One case of another program.
pub struct Case {
    /// The workload.
    pub workload: String,
    /// Its sizes.
    pub size: Size,
    /// The family that it is ranked in.
    pub family: String,
    /// Seconds, sample by sample; or why there are none.
    pub samples: Result<Vec<f64>, Outcome>,
    /// Operations of one launch; 0 where they are not known.
    pub flops: f64,
    /// Bytes of one launch; 0 where they are not known.
    pub bytes: f64,
    /// Who checked the result; `None` where nobody says that it was checked.
    pub against: Option<String>,
}

/// All that was read.
#[derive(Default)]
pub struct Results {
    /// What the files say that they are.
    sources: Vec<String>,
    devices: Vec<DeviceInfo>,
    /// With the place of its file in `sources`.
    records: Vec<(usize, Record)>,
}

/// A case of a device, and its samples.
type Row = (usize, CaseKey, Vec<String>);

impl Results {
    /// Adds a case of `device` from `source`, in the file's round.
    ///
    /// # Errors
    /// `Usage` where it cannot have been measured.
    pub fn push(&mut self, source: &Source, device: &DeviceInfo, case: Case) -> Result<()> {
        self.push_round(source, source.round, device, case).map_err(|why| source.wrong(&why))
    }

    /// Adds a case of a round that the file names.
    ///
    /// # Errors
    /// Why it cannot have been measured.
    pub fn push_round(
        &mut self,
        source: &Source,
        round: u32,
        device: &DeviceInfo,
        case: Case,
    ) -> Result<(), String> {
        let device = place(&mut self.devices, device.clone());
        let file = place(&mut self.sources, format!("{}, SHA-256 {}", source.file, source.hash));
        let record = record(case, device, round);
        if let Some(why) = record.validation_error() {
            return Err(format!("{}: {why}", record.key));
        }
        self.records.push((file, record));
        Ok(())
    }

    /// Leaves the rows that two files have to the first, where one [`is_copy`] of the other: they would count twice, as if
    /// measured twice with the same result. What was left out, a line a pair of files.
    pub fn leave_out_copies(&mut self) -> Vec<String> {
        let mut rows = vec![HashSet::new(); self.sources.len()];
        for (file, record) in &self.records {
            rows[*file].extend(row(record));
        }
        let (mut said, mut copies) = (vec![], vec![HashSet::new(); rows.len()]);
        for (later, first) in (0..rows.len()).flat_map(|at| (0..at).map(move |first| (at, first))) {
            let common: Vec<&Row> = rows[later].intersection(&rows[first]).collect();
            if is_copy(common.len(), [rows[later].len(), rows[first].len()]) {
                let [file, other] = [later, first].map(|at| &self.sources[at]);
                let cases = counted(common.len(), "case");
                said.push(format!("{file}: {cases} with the samples of {other}: counted once"));
                copies[later].extend(common);
            }
        }
        let is_first = |(file, record): &(usize, Record)| {
            row(record).is_none_or(|row| !copies[*file].contains(&row))
        };
        self.records.retain(is_first);
        said
    }

    /// Writes the run; how many devices and records it has.
    ///
    /// # Errors
    /// `Usage` where nothing was read, or a case was read twice; `Io`.
    pub fn write(self, path: &Path) -> Result<(usize, usize)> {
        if self.records.is_empty() {
            return Err(Error::Usage("nothing to import in these files".into()));
        }
        self.each_once()?;
        let started = now()?;
        let rounds: BTreeSet<u32> = self.records.iter().map(|(_, record)| record.round).collect();
        let header = Header {
            version: VERSION,
            method: METHOD,
            gpubench: version(),
            started: started.clone(),
            suite: "imported".to_owned(),
            rounds: u32::try_from(rounds.len()).unwrap_or(u32::MAX),
            exact_rounds: true,
            imported: self.sources,
            host: Host { name: "imported".to_owned(), ..Host::default() },
            devices: (0..).zip(self.devices).map(|(i, d)| DeviceInfo { index: i, ..d }).collect(),
            ..Header::default()
        };
        let mut writer = Writer::create_at(path, &header)?;
        for (_, record) in &self.records {
            writer.append(record)?;
        }
        let records = self.records.len();
        let footer = Footer { ended: started, wall: 0.0, estimated: None, records: records as u64 };
        writer.finish(&footer)?;
        Ok((header.devices.len(), records))
    }

    fn each_once(&self) -> Result<()> {
        let file = |source: &usize| {
            let source = &self.sources[*source];
            source.rsplit_once(", SHA-256 ").map_or(source.as_str(), |(file, _)| file)
        };
        let mut seen = HashMap::new();
        for (source, Record { device, round, key, .. }) in &self.records {
            if let Some(first) = seen.insert((device, round, key), source) {
                let device = &self.devices[*device].name;
                let place = match first == source {
                    true => "twice".to_owned(),
                    false => format!("in {}, too", file(first)),
                };
                return Err(Error::Usage(format!(
                    "{}: {key} of {device} stands {place}: keep one, or name a column that sets them apart",
                    file(source)
                )));
            }
        }
        Ok(())
    }
}

/// Where a list has it, at its end where it had not.
fn place<T: PartialEq>(known: &mut Vec<T>, new: T) -> usize {
    known.iter().position(|known| *known == new).unwrap_or_else(|| {
        known.push(new);
        known.len() - 1
    })
}

/// What sets a row apart from others, however many digits a program writes; `None` where nothing was measured.
fn row(record: &Record) -> Option<Row> {
    let samples = record.measured.as_ref()?.samples.iter().map(|seconds| rounded(*seconds));
    Some((record.device, record.key.clone(), samples.collect()))
}

fn record(case: Case, device: usize, round: u32) -> Record {
    let Case { workload, size, family, samples, flops, bytes, against } = case;
    let (samples, outcome) = match samples {
        Ok(samples) if against.is_some() => (Some(samples), Outcome::Ok),
        Ok(samples) => (Some(samples), Outcome::Unchecked),
        Err(outcome) => (None, outcome),
    };
    let measured = samples.map(|samples| Measured {
        flops,
        bytes,
        ..Measured::of(samples, Clock::Host, 1e-9)
    });
    let key = CaseKey { workload, size, measure: Kind::KERNEL, host_memory: None };
    let tags = vec!["imported".to_owned()];
    Record { round, measured, against, ..Record::of(key, tags, family, device, outcome) }
}

/// A device as another program names it, by the API with this name: `imported` where it is not known. Of its limits
/// nothing is.
pub fn device(name: String, api: &str) -> DeviceInfo {
    DeviceInfo {
        backend: api.to_owned(),
        name,
        kind: DeviceKind::Imported,
        api: api.to_owned(),
        language: Language::Opencl,
        offset_alignment: Bytes(1),
        ..DeviceInfo::default()
    }
}

#[cfg(test)]
mod tests {
    use super::sample::source;
    use super::*;

    fn case(seconds: f64) -> Case {
        Case {
            workload: "blur".into(),
            size: vec![],
            family: "compute".into(),
            samples: Ok(vec![seconds]),
            flops: 0.0,
            bytes: 0.0,
            against: None,
        }
    }

    #[test]
    fn a_table_that_was_written_again_with_more_rows_counts_once() {
        let file = |file: &str, round| Source { round, hash: file.into(), ..source(file, "") };
        let [first, again, other] =
            [("first", 0), ("again", 1), ("other", 2)].map(|(f, r)| file(f, r));
        let mut all = Results::default();
        let mut push = |file, round, name: &str, seconds| {
            all.push_round(file, round, &device(name.to_owned(), ""), case(seconds)).unwrap();
        };
        push(&first, 0, "A", 1e-3);
        push(&first, 0, "B", 5e-3);
        // A file may say that two rounds took as long.
        push(&first, 7, "A", 1e-3);
        push(&again, 1, "A", 1.000_000_000_000_1e-3);
        push(&again, 1, "B", 5e-3);
        push(&again, 1, "C", 2e-3);
        // Half of its rows are equal: by chance, where there are few digits.
        push(&other, 2, "A", 1e-3);
        push(&other, 2, "B", 6e-3);
        let expected =
            "again, SHA-256 again: 2 cases with the samples of first, SHA-256 first: counted once";
        assert_eq!(all.leave_out_copies(), [expected]);
        assert_eq!(all.records.len(), 6);
    }
}

#[cfg(test)]
pub mod sample {
    use super::*;
    use crate::store::read;

    /// A file with this text, of the first round.
    pub fn source(file: &str, text: &str) -> Source {
        Source { file: file.into(), text: text.into(), round: 0, hash: "00".into() }
    }

    /// What a reader of the written run finds.
    pub fn read_back(results: Results) -> (Header, Vec<Record>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        results.write(&path).unwrap();
        let run = read(&path).unwrap();
        assert!(run.warnings.is_empty() && run.footer.is_some());
        (run.header, run.records)
    }
}
