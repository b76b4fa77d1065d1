//! A run before it begins: its header, its cases on every device, its time, and the devices and folders that it needs.

use super::cases::{self, Filters, cases, count, seconds_each};
use super::estimate::{self, Estimate, Extent};
use super::multi_device::{self, MultiDeviceCase};
use super::rounds::Rounds;
use super::time_budget::TimeBudget;
use super::{Args, dry, is_file, machines};
use crate::cmd::found;
use crate::store::tuned::TunedFile;
use crate::store::{Scratch, now};
use crate::worker::{Remotes, host, version};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::{CoolDown, Header, METHOD, VERSION};
use gpubench_core::text::counted;
use gpubench_core::units;
use gpubench_core::workload::Verify;
use gpubench_device::device_choice::Selector;
use gpubench_experiments::Policy;
use gpubench_experiments::plan::Limits;
use gpubench_experiments::registry::RESUMABLE;
use gpubench_report::progress::say;
use gpubench_suite::Suite;
use std::path::Path;

/// What a run is made of, before any device is touched.
pub(super) struct Plan<'a> {
    pub args: &'a Args,
    pub suite: &'a Suite,
    pub header: Header,
    pub limits: Limits,
    pub cases: Vec<cases::Cases>,
    pub multi_device_cases: Vec<MultiDeviceCase>,
    /// Which devices are measured one after the other: each share at the same time as the others.
    pub shares: Vec<Vec<usize>>,
    /// A device's.
    pub time_budget: TimeBudget,
    pub rounds: Rounds,
    /// Of each share.
    pub estimates: Vec<Estimate>,
}

/// Seconds that a suite's time budget gives to each case that filters leave, at most.
const SECONDS_EACH: f64 = 5.0;

/// A device's time budget, if it has one, and over all rounds how many cases there are and how many are of a smallest size.
fn budget_of(
    args: &Args,
    suite: &Suite,
    filters: &Filters,
    header: &Header,
) -> (Option<f64>, (u64, u64)) {
    let rounds = u64::from(header.rounds);
    let (all, smallest) = count(suite, filters);
    // A suite's budget is for all of it.
    let some = if header.filters.is_empty() { f64::INFINITY } else { SECONDS_EACH * all as f64 };
    let own = suite.budget.total.map(|total| total.min(some));
    let total = args.budget.or(header.budget).or(own);
    (total, (all * rounds, smallest * rounds))
}

/// What a case may take on the host that leads the run.
fn limits_of(suite: &Suite, header: &Header, seconds_each: f64) -> Limits {
    Limits {
        memory: suite.budget.memory,
        // A launch that is made once is stopped by parts of it that take too long.
        seconds: if header.verify_only { f64::INFINITY } else { seconds_each },
        seed: header.seed,
        cores: header.host.cores,
        host_memory: header.host.known_memory(),
    }
}

impl<'a> Plan<'a> {
    pub(super) fn new(
        args: &'a Args,
        suite: &'a Suite,
        filters: &Filters,
        header: Header,
    ) -> Result<Self> {
        let (total, counts) = budget_of(args, suite, filters, &header);
        let limits = limits_of(suite, &header, seconds_each(total, counts));
        let tuned = args.tuned.as_deref().map(TunedFile::existing).transpose()?;
        let hash = tuned.as_ref().map(TunedFile::hash).transpose()?;
        let header = Header { tuned: hash, ..header };
        let devices = header.devices.iter().enumerate();
        let mut cases: Vec<_> = devices
            .map(|(i, d)| {
                let host = header.host_of(d);
                let (cores, host_memory) = (host.cores, host.known_memory());
                let limits = Limits { cores, host_memory, ..limits };
                on_device(suite, filters, (d, i), &limits, tuned.as_ref())
            })
            .collect();
        let multi_device_cases = multi_device::take(&mut cases, &header.devices);
        let max_seconds = suite.budget.case.unwrap_or(Policy::default().seconds);
        let time_budget = TimeBudget::new(total, max_seconds, counts.1);
        let rounds = Rounds {
            planned: header.rounds,
            may_follow: !header.exact_rounds && !header.verify_only,
        };
        let extent = Extent {
            total,
            rounds,
            max_seconds,
            verify_only: header.verify_only,
            cores: limits.cores,
            pause: header.cool_down.map_or(0.0, CoolDown::max_seconds),
        };
        let shares = match asks_another_device(suite) {
            true => vec![(0..header.devices.len()).collect()],
            false => machines::shares(&header.devices),
        };
        let estimate = |own: &Vec<usize>| {
            Estimate::new((&header.devices, own), &cases, &multi_device_cases, &extent)
        };
        let estimates = shares.iter().map(estimate).collect();
        Ok(Self {
            args,
            suite,
            header,
            limits,
            cases,
            multi_device_cases,
            shares,
            time_budget,
            rounds,
            estimates,
        })
    }

    pub(super) fn describe(&self, devices: &[DeviceInfo]) -> String {
        dry::describe(devices, (&self.cases, &self.multi_device_cases), &self.outlook())
    }

    /// What will be done, and how long it takes.
    pub(super) fn outlook(&self) -> String {
        let runs =
            self.cases.iter().map(|c| c.run.len()).sum::<usize>() + self.multi_device_cases.len();
        let skipped: usize = self.cases.iter().map(|c| c.skipped.len()).sum();
        let rounds = counted(self.header.rounds as usize, "round");
        let time = self.time_budget.total().map(|total| (total, total));
        let mut devices = self.header.devices.iter();
        let more = match devices.any(|d| self.rounds.is_worth(self.rounds.planned, d.kind, time)) {
            true => " or more",
            false => "",
        };
        let each = match self.time_budget.total() {
            Some(total) if self.header.devices.len() > 1 => {
                format!(", at most {} a device", units::seconds(total))
            }
            _ => String::new(),
        };
        format!(
            "{} in {rounds}{more}, {skipped} skipped; estimated time: {}{each}",
            counted(runs, "case"),
            units::seconds(estimate::total(&self.estimates)),
        )
    }

    /// What will be done by two suites in turn besides each one's outlook: whoever waits, waits for both.
    pub(super) fn outlook_of_both(plans: &[Self]) -> Option<String> {
        let [new, old] = plans else { return None };
        let both = estimate::total(&new.estimates) + estimate::total(&old.estimates);
        Some(format!("both suites in turn; estimated time: {}", units::seconds(both)))
    }

    /// How cases are measured; what is shared among workers lies in `scratch`, states of cases on `disk`.
    pub(super) fn policy(&self, scratch: &Scratch, disk: Option<&Scratch>) -> Policy {
        Policy {
            target: self.suite.budget.target.unwrap_or(Policy::default().target),
            verify_only: self.header.verify_only,
            allowed_launch: self.args.longest_launch,
            process_memory: self.suite.budget.process,
            cache: Some(scratch.path().to_owned()),
            disk: disk.map(|disk| disk.path().to_owned()),
            ..Policy::default()
        }
    }

    /// A folder beside the results, where a case saves states to a file: what is measured is the disk
    /// that they lie on, which need not be that of temporary files. Where it takes no such folder (a network
    /// file system without locks), it is that of temporary files after all.
    pub(super) fn disk(&self) -> Result<Option<Scratch>> {
        let saves = |case: &gpubench_experiments::plan::Case| case.key.measure == RESUMABLE;
        if !self.cases.iter().flat_map(|cases| &cases.run).any(saves) {
            return Ok(None);
        }
        let output = &self.args.output;
        let folder = match is_file(output) {
            true => output.parent().filter(|folder| !folder.as_os_str().is_empty()),
            false => Some(output.as_path()),
        };
        let folder = folder.unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
        Ok(Scratch::next_to(folder).map(Some).unwrap_or_else(|error| {
            say(&format!("{error}: states are saved in the system's temporary folder instead"));
            None
        }))
    }

    /// The devices that may compute expected results: all of this machine, and of those that the run uses, where
    /// a case asks for another device's.
    pub(super) fn others(
        &self,
        devices: &[DeviceInfo],
        remotes: &Remotes,
    ) -> Result<Vec<DeviceInfo>> {
        if !asks_another_device(self.suite) {
            return Ok(vec![]);
        }
        let all = Selector::default();
        let (mut others, _) = found::list_here(&all)?;
        if !remotes.is_empty() {
            others.extend(found::list(&all, remotes)?);
        }
        for device in devices {
            if !others.iter().any(|other| other.is_at(device)) {
                others.push(device.clone());
            }
        }
        Ok(others)
    }
}

/// Whether a device of the run may be asked what another is to compute: it must not be measured meanwhile.
fn asks_another_device(suite: &Suite) -> bool {
    suite.workloads.iter().any(|workload| matches!(workload.verify, Verify::Device(_)))
}

/// The cases of a device, in the variants that were tuned for it.
fn on_device(
    suite: &Suite,
    filters: &Filters,
    (device, number): (&DeviceInfo, usize),
    limits: &Limits,
    tuned: Option<&TunedFile>,
) -> cases::Cases {
    let Some(tuned) = tuned else { return cases(suite, filters, device, number, limits) };
    let (suite, unused) = tuned.apply(suite, device);
    unused.iter().for_each(|why| say(why));
    cases(&suite, filters, device, number, limits)
}

/// The header of a run that begins now.
pub(super) fn new_header(
    args: &Args,
    suite: &Suite,
    devices: &[DeviceInfo],
    remotes: &Remotes,
) -> Result<Header> {
    Ok(Header {
        version: VERSION,
        method: METHOD,
        gpubench: version(),
        started: now()?,
        suite: suite.name.clone(),
        suite_hash: suite.hash.clone(),
        seed: args.seed.unwrap_or_else(any_seed),
        rounds: args.rounds.unwrap_or(match args.verify {
            // The second time the same would be checked.
            true => 1,
            false => suite.budget.rounds.unwrap_or(3),
        }),
        exact_rounds: args.rounds.is_some(),
        budget: args.budget,
        cool_down: args.cool_down,
        in_turn: None,
        verify_only: args.verify,
        tuned: None,
        filters: args.filter.clone(),
        imported: vec![],
        host: host(),
        remotes: remotes.hosts(devices),
        devices: devices.to_vec(),
    })
}

/// A new seed of 32 bits, which survive every reader of JSON.
pub(super) fn any_seed() -> u64 {
    use std::hash::BuildHasher;
    std::hash::RandomState::new().hash_one(std::process::id()) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use gpubench_core::gpu::DeviceKind;
    use gpubench_core::record::sample::device;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn args(line: &[&str]) -> Args {
        Line::parse_from([&["run"], line].concat()).args
    }

    /// Seconds of each device, and its rounds.
    fn extent(args: &Args, header: Header) -> (Option<f64>, Rounds) {
        let suite = gpubench_experiments::load("quick").unwrap();
        let plan = Plan::new(args, &suite, &Filters::default(), header).unwrap();
        (plan.time_budget.total(), plan.rounds)
    }

    /// The suite of `benches/ci.sh`: 34.4 s in the mean of thirty runs, 23.8 to 45.3 s, on PoCL 3.1 and two cores of an
    /// AMD EPYC (docs/results/2026-11-24-verdicts.md).
    #[test]
    fn a_suite_without_a_budget_is_estimated_to_take_what_it_took() {
        let place = tempfile::tempdir().unwrap();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/slower");
        for (from, to) in
            [("suite.yaml", "suite.yaml"), ("work.cl", "work.cl"), ("work.cl", "one.cl")]
                .into_iter()
                .chain([("work.wgsl", "work.wgsl"), ("work.wgsl", "one.wgsl")])
        {
            std::fs::copy(folder.join(from), place.path().join(to)).unwrap();
        }
        let suite = place.path().join("suite.yaml");
        let suite = gpubench_experiments::load(suite.to_str().unwrap()).unwrap();
        let cpu = DeviceInfo {
            kind: DeviceKind::Cpu,
            compute_units: Some(2),
            clock_hz: Some(2.596e9),
            ..device("opencl")
        };
        let args = args(&["--rounds", "5"]);
        let header = new_header(&args, &suite, &[cpu], &Remotes::default()).unwrap();
        let plan = Plan::new(&args, &suite, &Filters::default(), header).unwrap();
        assert_eq!(plan.cases[0].run.len(), 10);
        let (took, estimated) = (34.4, estimate::total(&plan.estimates));
        assert!((0.85..1.15).contains(&(estimated / took)), "{estimated} s of {took} s");
    }

    #[test]
    fn a_resumed_run_keeps_the_rounds_and_the_budget_that_were_set() {
        let suite = gpubench_experiments::load("quick").unwrap();
        let begun = |line: &[&str]| {
            let args = args(line);
            let header =
                new_header(&args, &suite, &[device("opencl")], &Remotes::default()).unwrap();
            (extent(&args, header.clone()), serde_json::to_string(&header).unwrap())
        };
        let resumed = |header: &str, more: &[&str]| {
            extent(&args(more), serde_json::from_str(header).unwrap())
        };
        for line in [&[][..], &["--rounds", "2"], &["--budget", "31"], &["--verify"]] {
            let (then, header) = begun(line);
            assert_eq!(resumed(&header, &["--resume", "a.jsonl"]), then, "{line:?}");
        }
        let (_, header) = begun(&["--rounds", "2", "--budget", "31"]);
        let exact = Rounds { planned: 2, may_follow: false };
        assert_eq!(resumed(&header, &[]), (Some(31.0), exact));
        assert_eq!(resumed(&header, &["--budget", "60"]).0, Some(60.0), "set anew");
    }

    #[test]
    fn a_file_that_does_not_say_what_was_set_is_resumed_with_the_suites() {
        let suite = gpubench_experiments::load("quick").unwrap();
        let header = new_header(
            &args(&["--rounds", "2", "--budget", "31"]),
            &suite,
            &[],
            &Remotes::default(),
        )
        .unwrap();
        let mut header = serde_json::to_value(header).unwrap();
        let fields = header.as_object_mut().unwrap();
        assert!(fields.remove("exact_rounds").is_some() && fields.remove("budget").is_some());
        let found = extent(&args(&[]), serde_json::from_value(header).unwrap());
        assert_eq!(found, (suite.budget.total, Rounds { planned: 2, may_follow: true }));
    }
}
