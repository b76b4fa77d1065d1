//! Going on with a run that was cut short: only where nothing has changed since.

use super::cases::Cases;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{DeviceInfo, DeviceKind};
use gpubench_core::hash::sha256_hex;
use gpubench_core::reason::Reason;
use gpubench_core::record::{Header, METHOD, Outcome, Record};
use gpubench_device::device_choice::{Selector, choose};
use gpubench_device::sim::SIM;
use gpubench_experiments::plan::Case;
use gpubench_suite::Suite;

/// Today's devices in the order of the run's header.
///
/// # Errors
/// `Usage` naming what has changed: the suite, a device or its driver.
pub fn check(header: &Header, suite: &Suite, here: &[DeviceInfo]) -> Result<Vec<DeviceInfo>> {
    if header.in_turn.is_some() {
        return Err(rejected("it was measured in turn with another run, which has moved on"));
    }
    if header.method != METHOD {
        return Err(rejected(
            "another version of gpubench began it, which took times by other rules",
        ));
    }
    if header.suite_hash != suite.hash {
        return Err(other_suite(header, suite));
    }
    header.devices.iter().map(|then| same(then, here)).collect()
}

/// Why a run is not of this suite as it is asked for now.
fn other_suite(header: &Header, suite: &Suite) -> Error {
    if header.suite_hash == cold_hash(&suite.hash) {
        return option("its kernels were timed with cold caches; name --cold, too");
    }
    if suite.hash == cold_hash(&header.suite_hash) {
        return option("its kernels were timed without --cold; leave it out");
    }
    rejected(&match header.suite == suite.name {
        true => format!("suite `{}` has changed since", suite.name),
        false => format!("the run is of suite `{}`, not of `{}`", header.suite, suite.name),
    })
}

/// The hash of a suite, `hash`, whose kernels are timed with cold caches.
pub fn cold_hash(hash: &str) -> String {
    sha256_hex(format!("cold {hash}").as_bytes())
}

/// That the tuned variants of now, by the hash of their file's tries, are those of then.
///
/// # Errors
/// `Usage` saying what to name.
pub fn check_tuned(then: Option<&str>, now: Option<&str>) -> Result<()> {
    match (then, now) {
        (then, now) if then == now => Ok(()),
        (Some(_), None) => Err(option("it took tuned variants; name their file with --tuned, too")),
        (None, _) => Err(option("it took no tuned variants; leave --tuned out")),
        _ => Err(rejected("the file of tuned variants has changed since")),
    }
}

/// That the devices which `--sim` names are among those that the run measures.
///
/// # Errors
/// `Usage` naming one that is not, or that is none.
pub fn check_simulated(
    selector: &Selector,
    chosen: &[DeviceInfo],
    here: &[DeviceInfo],
) -> Result<()> {
    if selector.sim.is_none() {
        return Ok(());
    }
    let simulated: Vec<_> = here.iter().filter(|device| device.backend == SIM).cloned().collect();
    let named = Selector { sim: selector.sim.clone(), ..Selector::default() };
    if !chosen.iter().any(|device| device.backend == SIM) {
        return Err(rejected("the run measures no simulated device, and --sim asks for one"));
    }
    if !named.names_devices() {
        return Ok(());
    }
    let other =
        choose(&simulated, &named)?.into_iter().find(|named| !chosen.contains(&named.device));
    match other {
        Some(other) => Err(rejected(&format!(
            "the run does not measure {}, which --sim names",
            other.device.name
        ))),
        None => Ok(()),
    }
}

fn same(then: &DeviceInfo, here: &[DeviceInfo]) -> Result<DeviceInfo> {
    let alike = |d: &&DeviceInfo| {
        (&d.remote, &d.backend, &d.name) == (&then.remote, &then.backend, &then.name)
            && (&d.uuid, &d.pci) == (&then.uuid, &then.pci)
    };
    // Two equal GPUs without any address are distinguished by their position only.
    let now = here.iter().filter(alike).min_by_key(|d| d.index.abs_diff(then.index));
    match now {
        None => Err(rejected(&missing(then))),
        Some(now) if now.driver != then.driver => Err(rejected(&format!(
            "the driver of {} has changed from {} to {}",
            then.name, then.driver, now.driver
        ))),
        Some(now) => Ok(now.clone()),
    }
}

/// What there is to do about a device that is not here.
fn missing(then: &DeviceInfo) -> String {
    let name = &then.name;
    match &then.remote {
        // A command that a result file names is not run.
        Some(remote) => format!("{name} was in `{remote}`, to which no --on leads"),
        None if then.kind == DeviceKind::Simulated => {
            format!("{name} (simulated) is not shipped; name its description with --sim FILE.yaml")
        }
        None => format!("{name} ({}) is not here", then.backend),
    }
}

/// Cases that were found too long on a device, each with the reason: they stay skipped.
pub fn too_long(records: &[Record], cases: &[Cases]) -> Vec<(usize, Case, Reason)> {
    let found = |record: &Record| {
        let Outcome::Skipped(why @ Reason::OverBudget { .. }) = &record.outcome else {
            return None;
        };
        let of_device = cases.get(record.device)?;
        let case = of_device.run.iter().find(|case| case.key == record.key)?;
        Some((record.device, case.clone(), why.clone()))
    };
    records.iter().filter_map(found).collect()
}

/// An option is missing or too many: the same run goes on with the right ones.
fn option(what: &str) -> Error {
    Error::Usage(format!("cannot resume: {what}"))
}

fn rejected(what: &str) -> Error {
    Error::Usage(format!("cannot resume: {what}; start a new run"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::sample;
    use gpubench_core::workload::CaseKey;
    use gpubench_experiments::plan;

    #[test]
    fn a_run_of_other_rules_is_not_gone_on_with() {
        let suite = gpubench_experiments::load("quick").unwrap();
        let of = |method| {
            let header =
                Header { method, suite_hash: suite.hash.clone(), ..sample::header(vec![]) };
            check(&header, &suite, &[])
        };
        assert!(of(METHOD).is_ok());
        let Err(Error::Usage(why)) = of(METHOD - 1) else {
            panic!("it was begun by an older gpubench")
        };
        assert!(why.contains("other rules"), "{why}");
    }

    #[test]
    fn what_was_too_long_is_known_again() {
        let [small, large] = [10, 20].map(|n| plan::sample::case("memory", "copy", n));
        let why = Reason::OverBudget {
            what: "one launch".into(),
            needed: 3.0,
            available: 1.0,
            option: None,
        };
        let record = |key: &CaseKey, outcome| Record {
            outcome,
            device: 1,
            ..sample::record(key.clone(), 1.0)
        };
        let records = [
            record(&small.key, Outcome::Ok),
            record(&large.key, Outcome::Skipped(why.clone())),
            record(&small.key, Outcome::Skipped("the time budget is used up".into())),
            record(&sample::key("left out by now", 1), Outcome::Skipped(why.clone())),
        ];
        let cases = [vec![], vec![small, large.clone()]];
        let cases = cases.map(|run| Cases { run, skipped: vec![] });
        assert_eq!(too_long(&records, &cases), [(1, large, why)]);
    }

    fn suite(name: &str, hash: &str) -> Suite {
        Suite {
            name: name.into(),
            hash: hash.into(),
            budget: Default::default(),
            layers: false,
            workloads: vec![],
        }
    }

    #[test]
    fn what_has_changed_is_named() {
        let header = sample::header(vec![sample::device("sim")]);
        let here = [sample::device("opencl"), sample::device("sim")];
        let devices = check(&header, &suite("sample", "00ff"), &here).unwrap();
        assert_eq!(devices, header.devices);
        let rejection = |suite: &Suite, here: &[DeviceInfo]| {
            check(&header, suite, here).unwrap_err().to_string()
        };
        assert!(rejection(&suite("sample", "11"), &here).contains("`sample` has changed"));
        assert!(
            rejection(&suite("quick", "11"), &here).contains("of suite `sample`, not of `quick`")
        );
        assert!(rejection(&suite("sample", "00ff"), &here[..1]).contains("is not here"));
        let [cold, warm] = [suite("sample", &cold_hash("00ff")), suite("sample", "00ff")];
        assert!(rejection(&cold, &here).ends_with("timed without --cold; leave it out"));
        let of_cold = Header { suite_hash: cold.hash, ..header.clone() };
        let named = check(&of_cold, &warm, &here).unwrap_err().to_string();
        assert!(named.ends_with("timed with cold caches; name --cold, too"), "{named}");
        let mut updated = here[1].clone();
        updated.driver = "2.0".into();
        assert!(rejection(&suite("sample", "00ff"), &[updated]).contains("from 1.0 to 2.0"));
    }

    #[test]
    fn a_run_goes_on_with_the_variants_that_it_began_with() {
        let of = |then, now| check_tuned(then, now).map_err(|error| error.to_string());
        assert!(of(None, None).is_ok() && of(Some("aa"), Some("aa")).is_ok());
        let says = |found: Result<(), String>, what: &str| {
            let message = found.unwrap_err();
            assert!(message.contains(what), "{message}");
        };
        says(of(Some("aa"), None), "name their file with --tuned");
        says(of(None, Some("aa")), "leave --tuned out");
        says(of(Some("aa"), Some("bb")), "has changed since; start a new run");
    }
}
