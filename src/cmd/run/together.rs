//! Cases that are measured over several devices at once: who takes part.

use super::cases::Cases;
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::Record;
use gpubench_core::workload::{CaseKey, Refusal};
use gpubench_device::cards;
use gpubench_plan::Case;
use gpubench_report::terminal::label;

/// A case over several devices of the run.
#[derive(Clone, Debug)]
pub struct Joint {
    /// The devices' numbers, in ascending order; records are of the first.
    pub members: Vec<usize>,
    /// Each member's form of the case.
    pub cases: Vec<Case>,
}

impl Joint {
    /// The case.
    pub fn key(&self) -> &CaseKey {
        &self.cases[0].key
    }

    /// The first device.
    pub fn first(&self) -> usize {
        self.members[0]
    }
}

/// Takes such cases out of the devices' own. Of several views of one card only the first takes
/// part, and a case that is left with one device is refused.
pub fn take(cases: &mut [Cases], devices: &[DeviceInfo]) -> Vec<Joint> {
    let cards = cards(devices);
    let mut joints: Vec<Joint> = vec![];
    for (device, of_device) in cases.iter_mut().enumerate() {
        let (together, own): (Vec<Case>, Vec<Case>) =
            of_device.run.drain(..).partition(|case| case.key.measure.is_together());
        of_device.run = own;
        for case in together {
            let Some(joint) = joints.iter_mut().find(|joint| *joint.key() == case.key) else {
                joints.push(Joint { members: vec![device], cases: vec![case] });
                continue;
            };
            match joint.members.iter().find(|&&member| cards[member] == cards[device]) {
                Some(&view) => {
                    let reason = format!("it is the same card as {}", label(&devices[view]));
                    of_device.refused.push(refused(&case, device, reason));
                }
                None => {
                    joint.members.push(device);
                    joint.cases.push(case);
                }
            }
        }
    }
    let (several, alone): (Vec<Joint>, Vec<Joint>) =
        joints.into_iter().partition(|joint| joint.members.len() > 1);
    for joint in alone {
        let reason =
            "one device where two are needed: choose two or more with --device, in one run \
                      (without --per-device)"
                .to_owned();
        let record = refused(&joint.cases[0], joint.first(), reason);
        cases[joint.first()].refused.push(record);
    }
    several
}

fn refused(case: &Case, device: usize, reason: String) -> Record {
    let (key, tags, family) = (case.key.clone(), case.tags.clone(), case.family.clone());
    Record::refused(Refusal { key, tags, family, reason }, device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::{Outcome, sample};
    use gpubench_core::units::Bytes;
    use gpubench_plan::{Limits, Planned, plan};

    const SUITE: &str = "\
version: 1
workloads:
  states: { measure: [transfer-states], verify: none }
  link: { measure: [transfer], verify: none }
";

    /// The cases of these devices, and who takes part in those over several.
    fn taken(devices: &[DeviceInfo]) -> (Vec<Cases>, Vec<Joint>) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("states.yaml");
        std::fs::write(&file, SUITE).unwrap();
        let suite = gpubench_suite::load(&file.display().to_string(), &[]).unwrap();
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
                Planned::Refused(refusal) => panic!("{}", refusal.reason),
            };
            Cases { run: planned.map(case).collect(), refused: vec![] }
        };
        let mut cases: Vec<Cases> = devices.iter().map(of).collect();
        let joints = take(&mut cases, devices);
        (cases, joints)
    }

    fn at(backend: &str, pci: &str) -> DeviceInfo {
        DeviceInfo { pci: Some(pci.into()), ..sample::device(backend) }
    }

    #[test]
    fn one_device_is_refused_and_two_take_part() {
        let (cases, joints) = taken(&[at("opencl", "0000:01:00.0")]);
        assert!(joints.is_empty());
        let Outcome::Unsupported(why) = &cases[0].refused[0].outcome else { panic!("refused") };
        assert!(why.contains("one device where two are needed"), "{why}");
        let (cases, joints) = taken(&[at("opencl", "0000:01:00.0"), at("opencl", "0000:02:00.0")]);
        assert_eq!((joints.len(), &joints[0].members[..]), (1, &[0, 1][..]));
        assert!(cases.iter().all(|c| c.run.len() == 1 && c.refused.is_empty()), "the link is left");
    }

    #[test]
    fn two_views_of_a_card_are_one_device() {
        let (cases, joints) = taken(&[
            at("opencl", "0000:01:00.0"),
            at("wgpu", "0000:01:00.0"),
            at("wgpu", "0000:02:00.0"),
        ]);
        assert_eq!(joints[0].members, [0, 2]);
        let Outcome::Unsupported(why) = &cases[1].refused[0].outcome else { panic!("refused") };
        assert_eq!(why, "it is the same card as opencl:0");
    }
}
