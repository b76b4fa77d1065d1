//! What was read of other programs' files, as a run's header and records.

use crate::store::{Writer, now, rounded};
use crate::worker::version;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Clock, DeviceInfo, DeviceKind, Language};
use gpubench_core::hash::sha256_hex;
use gpubench_core::record::{
    Footer, Header, Host, Measured, Monitor, Outcome, Record, VERSION, Wall,
};
use gpubench_core::text::{counted, read_bytes};
use gpubench_core::units::Bytes;
use gpubench_core::workload::{CaseKey, Kind, Size};
use std::collections::{BTreeMap, HashMap};
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

/// A device as another program names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// The device.
    pub name: String,
    /// Its vendor; empty where it is not known.
    pub vendor: String,
    /// Its driver; empty where it is not known.
    pub driver: String,
    /// The API: `opencl`, `cuda`; `imported` where it is not known.
    pub api: String,
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
    devices: Vec<Named>,
    records: Vec<Record>,
    /// Of each case of a device its samples, and the files that they are from.
    known: HashMap<(usize, CaseKey, Vec<String>), Vec<String>>,
    /// How many cases of a file stand in another one, too.
    repeated: BTreeMap<[String; 2], usize>,
}

impl Results {
    /// Adds a case of `device` from `source`, in the file's round.
    ///
    /// # Errors
    /// `Usage` where it cannot have been measured.
    pub fn push(&mut self, source: &Source, device: &Named, case: Case) -> Result<()> {
        self.push_round(source, source.round, device, case)
    }

    /// Adds a case of a round that the file names.
    ///
    /// # Errors
    /// `Usage` where it cannot have been measured.
    pub fn push_round(
        &mut self,
        source: &Source,
        round: u32,
        device: &Named,
        case: Case,
    ) -> Result<()> {
        let known = self.devices.iter().position(|known| known == device);
        let device = known.unwrap_or_else(|| {
            self.devices.push(device.clone());
            self.devices.len() - 1
        });
        let of = format!("{}, SHA-256 {}", source.file, source.hash);
        if !self.sources.contains(&of) {
            self.sources.push(of);
        }
        let record = record(case, device, round);
        if let Some(why) = record.validation_error() {
            return Err(source.wrong(&format!("{}: {why}", record.key)));
        }
        if !self.is_known(source, &record) {
            self.records.push(record);
        }
        Ok(())
    }

    /// Whether another file has this case with the same samples. A table that was written again with more rows would count
    /// twice, as if measured twice with the same result. So would one in which another program wrote fewer digits. Two that
    /// are equal because they have few digits count once, too: the interval is wider then, not narrower.
    fn is_known(&mut self, source: &Source, record: &Record) -> bool {
        let Some(measured) = &record.measured else { return false };
        let samples = measured.samples.iter().map(|seconds| rounded(*seconds)).collect();
        let files = self.known.entry((record.device, record.key.clone(), samples)).or_default();
        if let Some(other) = files.iter().find(|file| **file != source.file) {
            let both = [source.file.clone(), other.clone()];
            *self.repeated.entry(both).or_default() += 1;
            return true;
        }
        files.push(source.file.clone());
        false
    }

    /// What was left to another file, a line a pair of files.
    pub fn repeated(&self) -> impl Iterator<Item = String> {
        self.repeated.iter().map(|([file, other], cases)| {
            let cases = counted(*cases, "case");
            format!("{file}: {cases} with the samples of {other}: counted once")
        })
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
        let header = Header {
            version: VERSION,
            gpubench: version(),
            started: started.clone(),
            suite: "imported".to_owned(),
            suite_hash: String::new(),
            seed: 0,
            rounds: self
                .records
                .iter()
                .map(|record| record.round.saturating_add(1))
                .max()
                .unwrap_or(1),
            exact_rounds: true,
            budget: None,
            verify_only: false,
            filters: vec![],
            in_turn: None,
            cool_down: None,
            imported: self.sources,
            host: Host { name: "imported".to_owned(), ..Host::default() },
            remotes: vec![],
            devices: (0..).zip(&self.devices).map(|(i, device)| info(device, i)).collect(),
        };
        let mut writer = Writer::create_at(path, &header)?;
        for record in &self.records {
            writer.append(record)?;
        }
        let records = self.records.len();
        let footer = Footer { ended: started, wall: 0.0, estimated: None, records: records as u64 };
        writer.finish(&footer)?;
        Ok((self.devices.len(), records))
    }

    fn each_once(&self) -> Result<()> {
        let mut seen = std::collections::HashSet::new();
        for Record { device, round, key, .. } in &self.records {
            if !seen.insert((device, round, key)) {
                let device = &self.devices[*device].name;
                return Err(Error::Usage(format!(
                    "{key} of {device} stands twice in one file: keep one, or name a column that tells them apart"
                )));
            }
        }
        Ok(())
    }
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
    Record {
        key: CaseKey { workload, size, measure: Kind::KERNEL, host_memory: None },
        tags: vec!["imported".to_owned()],
        family,
        ceiling: None,
        working_set: None,
        device,
        round,
        simulated: false,
        outcome,
        measured,
        detail: None,
        kernel: None,
        norms: None,
        against,
        flags: vec![],
        monitor: Monitor::default(),
        wall: Wall::default(),
    }
}

/// What is known of the device; of its limits nothing is.
fn info(device: &Named, index: usize) -> DeviceInfo {
    DeviceInfo {
        backend: device.api.clone(),
        remote: None,
        index,
        name: device.name.clone(),
        vendor: device.vendor.clone(),
        kind: DeviceKind::Imported,
        driver: device.driver.clone(),
        api: device.api.clone(),
        language: Language::Opencl,
        memory: None,
        cache: None,
        max_buffer: Bytes(0),
        max_binding: Bytes(0),
        max_storage_buffers: 0,
        compute_units: None,
        clock_hz: None,
        max_group_size: 0,
        max_group_dims: [0; 3],
        max_groups: [0; 3],
        local_memory: Bytes(0),
        queues: 0,
        timestamp_resolution: None,
        subgroup: None,
        offset_alignment: Bytes(1),
        host_memory: vec![],
        zero_copy: vec![],
        memory_types: vec![],
        pci: None,
        uuid: None,
        features: vec![],
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
        let (first, second) =
            (source("first.csv", ""), Source { round: 1, ..source("second.csv", "") });
        let device = Named { name: "A".into(), ..Named::default() };
        let other = Named { name: "B".into(), ..Named::default() };
        let mut all = Results::default();
        all.push(&first, &device, case(1e-3)).unwrap();
        // A file may say that two rounds took as long.
        all.push_round(&first, 7, &device, case(1e-3)).unwrap();
        all.push(&second, &device, case(1.000_000_000_000_1e-3)).unwrap();
        all.push(&second, &other, case(1e-3)).unwrap();
        all.push_round(&second, 2, &device, case(2e-3)).unwrap();
        let lines: Vec<String> = all.repeated().collect();
        let expected = "second.csv: 1 case with the samples of first.csv: counted once";
        assert_eq!(lines, [expected]);
        assert_eq!(all.records.len(), 4);
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
