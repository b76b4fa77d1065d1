//! What is to be run: the steps of a book on the devices of this machine, and what is left of each.

use crate::book::{Book, Capability, Place, Step};
use gpubench_core::hash::sha256_hex;
use gpubench_core::text::slug;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A device of the machine, as `gpubench devices --json` lists it.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
pub struct Device {
    /// As `--device` takes it.
    pub selector: String,
    /// Its name.
    pub name: String,
    /// `cpu`, `discrete` and the like.
    pub kind: String,
    /// Its driver.
    pub driver: String,
}

/// Where a job runs.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// On these devices of the machine.
    Real(Vec<Device>),
    /// On simulated ones.
    Simulated(String),
    /// On none.
    Host,
}

impl Target {
    /// In a word or some.
    pub fn label(&self) -> String {
        match self {
            Self::Real(devices) => {
                let selectors: Vec<&str> = devices.iter().map(|d| d.selector.as_str()).collect();
                selectors.join(" + ")
            }
            Self::Simulated(name) => format!("{name}, simulated"),
            Self::Host => "host".to_owned(),
        }
    }

    /// Whether it is hardware or a driver, not a simulation, that was measured.
    pub fn is_real(&self) -> bool {
        matches!(self, Self::Real(_))
    }
}

/// One command.
#[derive(Clone, Debug)]
pub struct Job {
    /// The capability that it shows.
    pub capability: String,
    /// The step.
    pub step: String,
    /// Where it runs.
    pub target: Target,
    /// Which try, from 1.
    pub attempt: u32,
    /// The words of the command, without the program.
    pub words: Vec<String>,
    /// Environment variables.
    pub environment: Vec<(String, String)>,
    /// Ranks of an MPI job.
    pub ranks: Option<u32>,
    /// Seconds after which it is ended.
    pub limit: u64,
    /// About how many seconds it takes.
    pub expected: u64,
    /// Where its output goes.
    pub folder: PathBuf,
}

/// What is left of a job, `done.json` in its folder.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Done {
    /// As [`Job::capability`].
    pub capability: String,
    /// As [`Job::step`].
    pub step: String,
    /// As [`Job::target`].
    pub target: Target,
    /// As [`Job::attempt`].
    pub attempt: u32,
    /// The command for people: without what names this machine's files.
    pub command: String,
    /// The machine's name.
    pub machine: String,
    /// The version that ran.
    pub gpubench: String,
    /// When it began, RFC 3339.
    pub started: String,
    /// Seconds that it took.
    pub seconds: f64,
    /// The load of the machine before it and after it.
    pub load: [f64; 2],
    /// Its exit status; none where it was ended.
    pub code: Option<i32>,
    /// The last that it said, where it failed.
    pub error: String,
}

/// How the jobs of a machine are made.
pub struct Plan<'a> {
    /// The devices of this machine.
    pub devices: &'a [Device],
    /// Factor of all time budgets.
    pub scale: f64,
    /// The machine's folder of results.
    pub folder: &'a Path,
    /// Whether only what needs this machine is run: what is simulated or computed is so anywhere.
    pub is_visit: bool,
}

impl Plan<'_> {
    /// All jobs of `book`: the first tries of all capabilities, then their second tries, so that the
    /// tries of one lie apart.
    pub fn jobs(&self, book: &Book, wanted: impl Fn(&Capability) -> bool) -> Vec<Job> {
        let capabilities: Vec<_> = book.capabilities.iter().filter(|one| wanted(one)).collect();
        let steps = || capabilities.iter().flat_map(|c| c.steps.iter().map(|step| (*c, step)));
        let tries = steps().map(|(_, step)| step.tries).max().unwrap_or(0);
        let mut jobs = vec![];
        for attempt in 1..=tries {
            for (capability, step) in steps().filter(|(_, step)| attempt <= step.tries) {
                for target in self.targets(capability, step) {
                    if self.is_visit && !target.is_real() && !capability.carried {
                        continue;
                    }
                    jobs.push(self.job(capability, step, target, attempt));
                }
            }
        }
        jobs
    }

    fn targets(&self, capability: &Capability, step: &Step) -> Vec<Target> {
        match &step.on {
            Place::Each => self.devices.iter().map(|d| Target::Real(vec![d.clone()])).collect(),
            Place::All | Place::Gather(_) if self.devices.is_empty() => vec![],
            Place::All | Place::Gather(_) => vec![Target::Real(self.devices.to_vec())],
            Place::Host => vec![Target::Host],
            Place::Sim(names) => names.iter().cloned().map(Target::Simulated).collect(),
            Place::After(input) => capability
                .step(input)
                .map(|input| self.targets(capability, input))
                .unwrap_or_default(),
        }
    }

    fn folder(&self, capability: &str, step: &str, target: &Target, attempt: u32) -> PathBuf {
        const LONGEST: usize = 120;
        let parts = [capability, step, &target.label(), &attempt.to_string()];
        let name = slug(&parts, usize::MAX);
        // What is cut off must not make two of one.
        let hash = &sha256_hex(&name)[..8];
        self.folder.join(match name.len() > LONGEST {
            true => format!("{}-{hash}", slug(&parts, LONGEST - hash.len() - 1)),
            false => name,
        })
    }

    /// The result file of another step.
    fn result(&self, capability: &str, step: &str, target: &Target, attempt: u32) -> String {
        let folder = self.folder(capability, step, target, attempt);
        folder.join("run.jsonl").display().to_string()
    }

    fn job(&self, capability: &Capability, step: &Step, target: Target, attempt: u32) -> Job {
        let folder = self.folder(&capability.name, &step.name, &target, attempt);
        let runs = |input: &str| match (&step.on, input.split_once('/')) {
            (Place::After(_), Some((other, input))) => {
                vec![self.result(other, input, &target, attempt)]
            }
            (Place::After(_), None) => {
                vec![self.result(&capability.name, input, &target, attempt)]
            }
            _ => {
                let targets = capability.step(input).map(|input| self.targets(capability, input));
                let of = |of: &Target| self.result(&capability.name, input, of, attempt);
                targets.unwrap_or_default().iter().map(of).collect()
            }
        };
        let mut budget = 0.0;
        let mut words: Vec<String> = vec![];
        for word in step.command.split_whitespace() {
            let seconds = word.parse::<f64>().ok();
            let input = word.strip_prefix("{runs:").and_then(|rest| rest.strip_suffix('}'));
            let input = input.or((word == "{runs}").then(|| step.on.input()).flatten());
            match (input, words.last().map(String::as_str), seconds) {
                (Some(input), _, _) => words.extend(runs(input)),
                (_, Some("--budget"), Some(seconds)) => {
                    budget = (seconds * self.scale).round().max(1.0);
                    words.push(budget.to_string());
                }
                _ => words.push(word.replace("{folder}", &folder.display().to_string())),
            }
        }
        let devices = self.devices_of(step, &target, &mut words);
        if words.first().is_some_and(|command| command == "run") {
            let output = folder.join("run.jsonl").display().to_string();
            let seed = attempt.to_string();
            words.splice(
                1..1,
                ["--quiet", "--format", "figures", "--seed", &seed, "--output", &output]
                    .map(str::to_owned),
            );
        }
        Job {
            capability: capability.name.clone(),
            step: step.name.clone(),
            target,
            attempt,
            words,
            environment: step.environment.clone().into_iter().collect(),
            ranks: step.ranks,
            limit: step.limit,
            expected: (budget * devices as f64 * 1.3) as u64 + 15,
            folder,
        }
    }

    /// Adds to `words` where the step runs; on how many devices that is.
    fn devices_of(&self, step: &Step, target: &Target, words: &mut Vec<String>) -> usize {
        match (&step.on, target) {
            (Place::Each, Target::Real(devices)) => {
                let selected = devices.iter().map(|device| device.selector.clone());
                words.extend(selected.flat_map(|device| ["--device".to_owned(), device]));
                1
            }
            (Place::All, _) => self.devices.len(),
            (Place::Sim(_), Target::Simulated(name)) => {
                words.extend(["--sim".to_owned(), name.clone()]);
                1
            }
            _ => 1,
        }
    }
}

impl Job {
    /// Whether it was run, with or without success.
    pub fn is_done(&self) -> bool {
        self.folder.join("done.json").exists()
    }

    /// The command for people: without what names files of this machine.
    pub fn command(&self) -> String {
        let mut shown: Vec<String> = vec![];
        let mut words = self.words.iter().peekable();
        while let Some(word) = words.next() {
            if matches!(word.as_str(), "--quiet" | "--format" | "--output") {
                if word != "--quiet" {
                    words.next();
                }
                continue;
            }
            shown.push(match word.contains("run.jsonl") {
                true => "RUN".to_owned(),
                false => word.replace(&self.folder.display().to_string(), "FOLDER"),
            });
        }
        let variables = self.environment.iter().map(|(name, value)| format!("{name}={value} "));
        let ranks = self.ranks.map_or_else(String::new, |ranks| format!("mpirun -n {ranks} "));
        format!("{}{ranks}gpubench {}", variables.collect::<String>(), shown.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book() -> Book {
        serde_json::from_value(serde_json::json!({ "version": 1, "capabilities": [{
            "name": "a", "title": "A", "question": "?",
            "steps": [
                { "name": "run", "on": "each", "tries": 2, "command": "run quick --budget 20" },
                { "name": "sim", "on": { "sim": ["k40c"] }, "command": "run quick" },
                { "name": "fit", "on": { "after": "run" }, "tries": 2, "command": "fit {runs} --json" },
                { "name": "rank", "on": { "gather": "run" }, "command": "rank {runs} --with {runs:sim}" },
            ]
        }]}))
        .unwrap()
    }

    fn devices() -> Vec<Device> {
        let device = |selector: &str| Device { selector: selector.into(), ..Device::default() };
        vec![device("opencl:0"), device("wgpu:0")]
    }

    #[test]
    fn tries_of_one_step_lie_apart_and_inputs_are_their_own() {
        let devices = devices();
        let plan =
            Plan { devices: &devices, scale: 0.5, folder: Path::new("out"), is_visit: false };
        let jobs = plan.jobs(&book(), |_| true);
        let names: Vec<_> = jobs.iter().map(|job| (job.step.as_str(), job.attempt)).collect();
        let first = [("run", 1), ("run", 1), ("sim", 1), ("fit", 1), ("fit", 1), ("rank", 1)];
        assert_eq!(names[..6], first);
        assert_eq!(names[6..], [("run", 2), ("run", 2), ("fit", 2), ("fit", 2)]);
        let command = jobs[0].words.join(" ");
        assert!(command.ends_with("quick --budget 10 --device opencl:0"), "{command}");
        assert!(jobs[2].words.join(" ").ends_with("--sim k40c"));
        assert_eq!(jobs[9].words[1], format!("{}/run.jsonl", jobs[7].folder.display()));
        assert_eq!(jobs[5].words.len(), 5, "both results, and one simulated");
        assert_eq!(jobs[0].command(), "gpubench run --seed 1 quick --budget 10 --device opencl:0");
        assert_eq!(jobs[9].command(), "gpubench fit RUN --json");
    }

    #[test]
    fn without_devices_only_the_others_are_left() {
        let plan = Plan { devices: &[], scale: 1.0, folder: Path::new("out"), is_visit: false };
        let jobs = plan.jobs(&book(), |_| true);
        assert_eq!(jobs.len(), 1);
        assert_eq!(jobs[0].target, Target::Simulated("k40c".into()));
        assert!(Plan { is_visit: true, ..plan }.jobs(&book(), |_| true).is_empty());
    }
}
