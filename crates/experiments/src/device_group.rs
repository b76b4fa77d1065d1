//! One measurement over several devices that begin at the same moment.

use crate::bench::{Measurable, measured};
use crate::plan::Case;
use crate::registry::known;
use crate::{Measurement, Policy, Session, Stage};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Clock, Recording};
use gpubench_core::record::Flag;
use gpubench_device::sim::SIM;
use gpubench_device::{Device, MultiDevice, Part};

/// Several open devices.
pub struct DeviceGroup {
    /// Each of them, for what it does alone.
    pub members: Vec<Session>,
    launcher: Box<dyn MultiDevice>,
    /// Whose timestamps were not used, and why.
    doubts: Vec<String>,
}

impl DeviceGroup {
    /// Over open devices and who starts them at the same moment.
    pub fn new(devices: Vec<Box<dyn Device>>, launcher: Box<dyn MultiDevice>) -> Self {
        let members = devices.into_iter().map(Session::new).collect();
        Self { members, launcher, doubts: vec![] }
    }

    /// Runs one recording a member, all begun at the same moment; an empty one leaves it idle.
    pub(super) fn run(&mut self, recordings: &[Recording]) -> Result<Vec<Part>> {
        let parts = self.launcher.run(recordings)?;
        for (member, part) in parts.iter().enumerate() {
            let Some(why) = &part.dropped else { continue };
            let name = &self.names()[member];
            let doubt = format!("{name}: {why}; its copies are timed as one, by the host");
            if !self.doubts.contains(&doubt) {
                self.doubts.push(doubt);
            }
        }
        Ok(parts)
    }

    /// `opencl:0` of each member, as records name them.
    pub(super) fn names(&self) -> Vec<String> {
        let name = |member: &Session| {
            let info = member.device.info();
            format!("{}:{}", info.backend, info.index)
        };
        self.members.iter().map(name).collect()
    }

    /// The clock of their common runs.
    pub(super) fn clock(&self) -> Clock {
        let simulated = |member: &Session| member.device.info().backend == SIM;
        if self.members.iter().all(simulated) { Clock::Simulated } else { Clock::Host }
    }
}

impl Measurable for DeviceGroup {
    fn reset(&mut self) {
        self.members.iter_mut().for_each(Measurable::reset);
    }

    fn sleeps(&self) -> bool {
        self.members.iter().any(Measurable::sleeps)
    }

    fn wake(&mut self) {
        self.members.iter_mut().for_each(Measurable::wake);
    }

    fn may_sleep(&mut self) {
        self.members.iter_mut().for_each(Measurable::may_sleep);
    }
}

/// Measures a case over all members, to each its own variant of it, reporting to `stage` what it is about
/// to do. Never fails: what went wrong is the measurement's outcome.
pub fn measure_multi_device(
    device_group: &mut DeviceGroup,
    cases: &[Case],
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
) -> Measurement {
    let mut placing = 0.0;
    if !policy.verify_only {
        stage(Stage::Prepare);
        placing = device_group.members.iter_mut().map(Session::place_threads).sum();
    }
    let mut measurement = measured(device_group, policy, stage, |bench| {
        let members = bench.session.members.len();
        match cases {
            [first, _, ..] if cases.len() == members => {
                (known(first.key.measure)?.run_on_group)(cases, bench)
            }
            _ => Err(Error::Unsupported(format!("{} cases for {members} devices", cases.len()))),
        }
    });
    measurement.wall.reference_kernel = placing;
    for doubt in device_group.doubts.drain(..) {
        measurement.flag(Flag::Timestamps(doubt));
    }
    measurement
}
