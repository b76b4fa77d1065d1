//! One measurement over several devices that begin at the same moment.

use super::{Finding, Policy, Session, Stage, Watch, split, transfer_states};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Clock, Recording};
use gpubench_core::record::{Flag, Wall};
use gpubench_core::workload::Measure;
use gpubench_device::sim::SIM;
use gpubench_device::{Device, Part, Together};
use gpubench_plan::Case;

/// Several open devices.
pub struct Team {
    /// Each of them, for what it does alone.
    pub members: Vec<Session>,
    together: Box<dyn Together>,
    /// Whose timestamps were not used, and why.
    doubts: Vec<String>,
}

impl Team {
    /// Over open devices and who starts them at the same moment.
    pub fn new(devices: Vec<Box<dyn Device>>, together: Box<dyn Together>) -> Self {
        let members = devices.into_iter().map(Session::new).collect();
        Self { members, together, doubts: vec![] }
    }

    /// Runs one recording a member, all begun at the same moment; an empty one leaves it idle.
    pub(super) fn run(&mut self, recordings: &[Recording]) -> Result<Vec<Part>> {
        let parts = self.together.run(recordings)?;
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

    /// The clock of what they do together.
    pub(super) fn clock(&self) -> Clock {
        let simulated = |member: &Session| member.device.info().backend == SIM;
        if self.members.iter().all(simulated) { Clock::Simulated } else { Clock::Host }
    }

    fn reset(&mut self) {
        self.members.iter_mut().for_each(|member| member.device.reset());
    }
}

/// Measures a case over all members, to each its own form of it, telling `stage` what it is about
/// to do. Never fails: what went wrong is the finding's outcome.
pub fn measure_together(
    team: &mut Team,
    cases: &[Case],
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
) -> Finding {
    team.reset();
    let mut finding = Finding::default();
    let mut watch = Watch::default();
    let stage: &mut dyn FnMut(Stage) = &mut |now| {
        watch.enter(Some(now));
        stage(now);
    };
    let result = match cases.first().map(|case| case.key.measure) {
        _ if cases.len() != team.members.len() || cases.len() < 2 => Err(Error::Unsupported(
            format!("{} cases for {} devices", cases.len(), team.members.len()),
        )),
        Some(Measure::TransferStates) => {
            transfer_states::measure(team, cases, policy, stage, &mut finding)
        }
        Some(Measure::Split) => split::measure(team, cases, policy, stage, &mut finding),
        _ => Err(Error::Unsupported("it is measured on one device at a time".into())),
    };
    finding.wall = Wall { busy: finding.wall.busy, ..watch.end() };
    team.reset();
    for doubt in team.doubts.drain(..) {
        finding.flag(Flag::Timestamps(doubt));
    }
    finding.conclude(result)
}
