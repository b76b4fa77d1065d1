//! What `gpubench tune` tried, one line of JSON a try: it goes on from there, and `run --tuned` takes the best.

use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Constant, DeviceInfo};
use gpubench_core::hash::sha256_hex;
use gpubench_core::record::is_time;
use gpubench_core::text::read;
use gpubench_core::workload::Size;
use gpubench_experiments::plan::scope_of;
use gpubench_suite::{Kernel, KernelText, Suite, Variant, Workload};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The largest file of tries: 100 bytes a try would be half a million.
const LARGEST: u64 = 64 << 20;
/// The version of the lines.
const VERSION: u32 = 1;
/// Why tries of a workload at a size on a device are not used.
const OTHERWISE: &str = "it was tuned with another kernel, search or driver: tune it again";
/// How each line begins.
const START: &str = r#"{"version":"#;

/// A device as it called itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TunedDevice {
    /// The API.
    pub backend: String,
    /// Its name.
    pub name: String,
    /// Its driver.
    pub driver: String,
}

impl From<&DeviceInfo> for TunedDevice {
    fn from(device: &DeviceInfo) -> Self {
        let DeviceInfo { backend, name, driver, .. } = device.clone();
        Self { backend, name, driver }
    }
}

/// One variant tried on one device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// Version of the line.
    pub version: u32,
    /// Where.
    pub device: TunedDevice,
    /// Of which workload.
    pub workload: String,
    /// At which size.
    pub size: Size,
    /// SHA-256 of the kernel's text and of the compiler's options, without group and constants.
    pub kernel: String,
    /// Work-items per group along each dimension.
    pub group: [u32; 3],
    /// All constants of the kernel.
    pub constants: Vec<(String, Constant)>,
    /// What sets the variant apart: `16x16 WIDTH=4`.
    pub variant: String,
    /// `ok`, or how it failed.
    pub outcome: String,
    /// More about a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Seconds of one launch, where that was so slow that it was neither verified nor measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch: Option<f64>,
    /// The median of its times with its interval in seconds, where it ran and was right: low, median, high.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<[f64; 3]>,
    /// How many samples it is the median of.
    #[serde(default)]
    pub samples: usize,
}

impl Tried {
    /// A try without its result.
    pub fn new(device: &DeviceInfo, workload: &Workload, kernel: &Kernel, size: &Size) -> Self {
        Self {
            version: VERSION,
            device: device.into(),
            workload: workload.name.clone(),
            size: size.clone(),
            kernel: kernel_hash(kernel, device),
            group: kernel.group,
            constants: kernel.constants.clone(),
            variant: kernel.variant.clone(),
            ..Self::default()
        }
    }

    /// Whether it is of this kernel on this device with this driver at this size.
    pub fn is_of(&self, device: &DeviceInfo, workload: &Workload, size: &Size) -> bool {
        let kernel = || workload.kernel.as_ref().map(|kernel| kernel_hash(kernel, device));
        self.is_at(device, workload, size)
            && self.device.driver == device.driver
            && kernel().is_some_and(|hash| hash == self.kernel)
    }

    /// The same, whatever the kernel's text was then and whichever driver it was.
    fn is_at(&self, device: &DeviceInfo, workload: &Workload, size: &Size) -> bool {
        let same = |at: &TunedDevice| at.backend == device.backend && at.name == device.name;
        self.workload == workload.name && self.size == *size && same(&self.device)
    }

    /// Whether its times can have been measured.
    fn is_possible(&self) -> bool {
        let mut times = self.seconds.iter().flatten().chain(&self.launch);
        times.all(|seconds| is_time(*seconds)) && self.seconds.is_none_or(|times| times.is_sorted())
    }

    /// What was tried.
    pub fn as_variant(&self) -> Variant {
        Variant {
            group: self.group,
            constants: self.constants.clone(),
            label: self.variant.clone(),
        }
    }
}

/// What the device is given, whatever its group and constants, by its hash; empty where there is no text in its
/// language.
fn kernel_hash(kernel: &Kernel, device: &DeviceInfo) -> String {
    let hash = |text: &KernelText| {
        let mut identity = text.text.as_bytes().to_vec();
        // Without the size that a constant gives.
        identity.extend(kernel.settings(text, &[]).identity().unwrap_or_default());
        identity
            .extend(kernel.subgroup.iter().flat_map(|subgroup| subgroup.to_string().into_bytes()));
        sha256_hex(identity)
    };
    kernel.text(device.language).map_or_else(String::new, hash)
}

/// A file of tries.
#[derive(Debug)]
pub struct TunedFile {
    path: PathBuf,
    file: Option<File>,
    /// What is in it; of a variant that was tried again, the last line counts.
    pub tried: Vec<Tried>,
}

impl TunedFile {
    /// Reads `path`; with no such file, an empty one, which is made with the first line.
    ///
    /// # Errors
    /// `Usage` with the line where it holds something else.
    pub fn open(path: &Path) -> Result<Self> {
        let tried = if path.exists() { parse(path)? } else { vec![] };
        Ok(Self { path: path.to_owned(), file: None, tried })
    }

    /// As [`Self::open`] of a file that must be there.
    ///
    /// # Errors
    /// As [`Self::open`]; `Usage` where there is no try in it.
    pub fn existing(path: &Path) -> Result<Self> {
        let tried = parse(path)?;
        match tried.is_empty() {
            true => Err(Error::Usage(format!("{}: nothing was tuned in it", path.display()))),
            false => Ok(Self { path: path.to_owned(), file: None, tried }),
        }
    }

    /// SHA-256 of its tries, of which a run takes the fastest.
    ///
    /// # Errors
    /// `Io` where they cannot be written as text.
    pub fn hash(&self) -> Result<String> {
        let text = serde_json::to_string(&self.tried);
        Ok(sha256_hex(text.map_err(|error| Error::io(&self.path, error.into()))?))
    }

    /// Appends a try: it is in the file before the next one begins.
    ///
    /// # Errors
    /// `Io` where it cannot be written.
    pub fn append(&mut self, tried: Tried) -> Result<()> {
        let io = |error| Error::io(&self.path, error);
        let text = serde_json::to_string(&tried).map_err(|error| io(error.into()))?;
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let file =
                    OpenOptions::new().create(true).append(true).open(&self.path).map_err(io)?;
                let file = self.file.insert(file);
                end_last_line(&self.path, file).map_err(io)?;
                file
            }
        };
        file.write_all(format!("{text}\n").as_bytes()).map_err(io)?;
        self.tried.push(tried);
        Ok(())
    }

    /// The fastest variant that is known of a workload at a size on a device; `Err` with the reason where
    /// what is known is not of this kernel.
    ///
    /// # Errors
    /// Why what is there cannot be used.
    pub fn best(
        &self,
        device: &DeviceInfo,
        workload: &Workload,
        size: &Size,
    ) -> Result<Option<&Tried>, String> {
        let at = || self.tried.iter().filter(|tried| tried.is_at(device, workload, size));
        if at().next().is_none() {
            return Ok(None);
        }
        let kernel = workload.kernel.as_ref();
        let Some((kernel, search)) = kernel.and_then(|k| Some((k, k.search.as_ref()?))) else {
            return Err("here its kernel has no `search:`".to_owned());
        };
        let allowed = search.variants(kernel, &scope_of(workload, size)?)?;
        let is_of = |tried: &&Tried| {
            tried.is_of(device, workload, size) && allowed.contains(&tried.as_variant())
        };
        let mut last: Vec<&Tried> = vec![];
        for tried in at().filter(is_of) {
            last.retain(|known| known.as_variant() != tried.as_variant());
            last.push(tried);
        }
        let median = |tried: &&Tried| tried.seconds.map(|[_, median, _]| median);
        let ran = last.iter().filter_map(|tried| Some((median(tried)?, *tried)));
        match ran.min_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((_, best)) => Ok(Some(best)),
            None if last.is_empty() => Err(OTHERWISE.to_owned()),
            None => Ok(None),
        }
    }

    /// `suite` with the variants that are known to be the fastest on `device`, and what could not be used.
    /// Workloads keep their names; one that was tuned is there once for each of its sizes.
    pub fn apply(&self, suite: &Suite, device: &DeviceInfo) -> (Suite, Vec<String>) {
        let (mut workloads, mut unused) = (vec![], vec![]);
        for workload in &suite.workloads {
            let Some(kernel) = &workload.kernel else {
                workloads.push(workload.clone());
                continue;
            };
            let mut tuned = false;
            let mut each: Vec<Workload> = vec![];
            for size in &workload.sizes {
                let mut at_size = Workload { sizes: vec![size.clone()], ..workload.clone() };
                match self.best(device, workload, size) {
                    Ok(Some(best)) => {
                        tuned = true;
                        at_size.kernel = Some(kernel.in_variant(&best.as_variant()));
                    }
                    Ok(None) => {}
                    Err(why) => unused.push(format!("{} {}: {why}", device.label(), workload.name)),
                }
                each.push(at_size);
            }
            if tuned { workloads.extend(each) } else { workloads.push(workload.clone()) }
        }
        unused.dedup();
        (Suite { workloads, ..suite.clone() }, unused)
    }
}

/// A last line that is whole gets the end that it lacks; what a killed search left of one goes.
fn end_last_line(path: &Path, file: &mut File) -> std::io::Result<()> {
    let Ok(text) = read(path, LARGEST) else { return Ok(()) };
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let last = &text[whole..];
    if serde_json::from_str::<Tried>(last).is_ok() {
        return file.write_all(b"\n");
    }
    if last.is_empty() { Ok(()) } else { file.set_len(whole as u64) }
}

/// Whether it is the beginning of a try's line, and not of somebody else's file.
fn is_begun(line: &str) -> bool {
    line.starts_with(START) || START.starts_with(line)
}

fn parse(path: &Path) -> Result<Vec<Tried>> {
    let wrong = |why: String| Error::Usage(format!("{}: {why}", path.display()));
    let text = read(path, LARGEST).map_err(wrong)?;
    let mut tried = vec![];
    let lines: Vec<&str> = text.lines().collect();
    for (number, line) in (1..).zip(&lines) {
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str::<Tried>(line) {
            Ok(one) if one.version == VERSION && one.is_possible() => tried.push(one),
            Ok(one) if one.version == VERSION => {
                return Err(wrong(format!("line {number} has times that no clock reads")));
            }
            Ok(one) => {
                let why = format!(
                    "line {number} is of version {}, this gpubench knows {VERSION}",
                    one.version
                );
                return Err(wrong(why));
            }
            // A search that was killed may have left half a line.
            Err(_) if number == lines.len() && !text.ends_with('\n') && is_begun(line) => {}
            Err(error) => {
                return Err(wrong(format!("line {number} is no try of `gpubench tune`: {error}")));
            }
        }
    }
    Ok(tried)
}

#[cfg(test)]
mod tests;
