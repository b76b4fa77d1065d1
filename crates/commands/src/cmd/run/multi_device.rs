//! Cases that are measured over several devices at once: who takes part.

use super::cases::Cases;
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::Record;
use gpubench_core::workload::{CaseKey, Skip};
use gpubench_device::physical_gpus;
use gpubench_experiments::plan::Case;
use gpubench_experiments::registry::several_devices;

/// A case over several devices of the run.
#[derive(Clone, Debug)]
pub struct MultiDeviceCase {
    /// The devices' numbers, in ascending order; records are of the first.
    pub members: Vec<usize>,
    /// Each member's variant of the case.
    pub cases: Vec<Case>,
}

impl MultiDeviceCase {
    /// The case.
    pub fn key(&self) -> &CaseKey {
        &self.cases[0].key
    }

    /// The first device.
    pub fn first(&self) -> usize {
        self.members[0]
    }
}

/// Takes such cases out of the devices' own. Of several views of one physical GPU only the first takes
/// part, and a case that is left with one device is skipped.
pub fn take(cases: &mut [Cases], devices: &[DeviceInfo]) -> Vec<MultiDeviceCase> {
    let gpus = physical_gpus(devices);
    let mut multi_device_cases: Vec<MultiDeviceCase> = vec![];
    for (device, of_device) in cases.iter_mut().enumerate() {
        let (multi_device, own): (Vec<Case>, Vec<Case>) =
            of_device.run.drain(..).partition(|case| several_devices(case.key.measure));
        of_device.run = own;
        for case in multi_device {
            let Some(multi_device_case) = multi_device_cases.iter_mut().find(|other| {
                // One process has to own them all.
                *other.key() == case.key && devices[other.first()].remote == devices[device].remote
            }) else {
                multi_device_cases
                    .push(MultiDeviceCase { members: vec![device], cases: vec![case] });
                continue;
            };
            match multi_device_case.members.iter().find(|&&member| gpus[member] == gpus[device]) {
                Some(&view) => {
                    let reason =
                        format!("it is the same physical GPU as {}", devices[view].label());
                    of_device.skipped.push(skipped(&case, device, reason));
                }
                None => {
                    multi_device_case.members.push(device);
                    multi_device_case.cases.push(case);
                }
            }
        }
    }
    let (several, single): (Vec<MultiDeviceCase>, Vec<MultiDeviceCase>) = multi_device_cases
        .into_iter()
        .partition(|multi_device_case| multi_device_case.members.len() > 1);
    for multi_device_case in single {
        let reason =
            "one device where two are needed: choose two or more with --device, in one run \
                      (without --per-device)"
                .to_owned();
        let record = skipped(&multi_device_case.cases[0], multi_device_case.first(), reason);
        cases[multi_device_case.first()].skipped.push(record);
    }
    several
}

fn skipped(case: &Case, device: usize, reason: String) -> Record {
    let (key, tags, family) = (case.key.clone(), case.tags.clone(), case.family.clone());
    Record::skipped(Skip { key, tags, family, reason: reason.into() }, device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::{Outcome, sample};
    use gpubench_core::units::Bytes;
    use gpubench_experiments::plan;
    use gpubench_experiments::plan::{Limits, Planned};

    const SUITE: &str = "\
version: 1
workloads:
  states: { measure: [transfer-states], verify: none }
  link: { measure: [transfer], verify: none }
";

    /// The cases of these devices, and who takes part in those over several.
    fn taken(devices: &[DeviceInfo]) -> (Vec<Cases>, Vec<MultiDeviceCase>) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("states.yaml");
        std::fs::write(&file, SUITE).unwrap();
        let suite = gpubench_experiments::load(&file.display().to_string()).unwrap();
        let limits = Limits {
            memory: None,
            seconds: 60.0,
            seed: 1,
            cores: 2,
            host_memory: Some(Bytes(8 << 30)),
        };
        let of = |device: &DeviceInfo| {
            let planned = plan(&suite, device, &limits).into_iter();
            let case = |planned| match planned {
                Planned::Case(case) => *case,
                Planned::Skipped(skip) => panic!("{}", skip.reason),
            };
            Cases { run: planned.map(case).collect(), skipped: vec![] }
        };
        let mut cases: Vec<Cases> = devices.iter().map(of).collect();
        let multi_device_cases = take(&mut cases, devices);
        (cases, multi_device_cases)
    }

    fn at(backend: &str, pci: &str) -> DeviceInfo {
        DeviceInfo { pci: Some(pci.into()), ..sample::device(backend) }
    }

    #[test]
    fn one_device_is_rejected_and_two_take_part() {
        let (cases, multi_device_cases) = taken(&[at("opencl", "0000:01:00.0")]);
        assert!(multi_device_cases.is_empty());
        let Outcome::Unsupported(why) = &cases[0].skipped[0].outcome else { panic!("skipped") };
        assert!(why.to_string().contains("one device where two are needed"), "{why}");
        let (cases, multi_device_cases) =
            taken(&[at("opencl", "0000:01:00.0"), at("opencl", "0000:02:00.0")]);
        assert_eq!(
            (multi_device_cases.len(), &multi_device_cases[0].members[..]),
            (1, &[0, 1][..])
        );
        assert!(cases.iter().all(|c| c.run.len() == 1 && c.skipped.is_empty()), "the link is left");
    }

    #[test]
    fn two_views_of_a_physical_gpu_are_one_device() {
        let (cases, multi_device_cases) = taken(&[
            at("opencl", "0000:01:00.0"),
            at("wgpu", "0000:01:00.0"),
            at("wgpu", "0000:02:00.0"),
        ]);
        assert_eq!(multi_device_cases[0].members, [0, 2]);
        let Outcome::Unsupported(why) = &cases[1].skipped[0].outcome else { panic!("skipped") };
        assert_eq!(why.to_string(), "it is the same physical GPU as opencl:0");
    }
}
