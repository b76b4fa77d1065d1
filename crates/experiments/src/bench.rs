//! What an experiment measures with.

use crate::{DeviceGroup, Measurement, Policy, Session, Stage, StageTimer};
use gpubench_core::error::Result;
use gpubench_core::record::Wall;
use gpubench_device::{Device, freed_memory};

/// What an experiment measures with: what is open, how long and how well, and where it goes.
pub struct Bench<'a, D = Session> {
    /// The open device, or a group of them.
    pub session: &'a mut D,
    /// How long and how well.
    pub policy: &'a Policy,
    /// What came of it so far.
    pub measurement: &'a mut Measurement,
    stage: &'a mut dyn FnMut(Stage),
}

/// What can be measured with.
pub trait Measurable {
    /// Frees what a case has left behind.
    fn reset(&mut self);
    /// Whether it may have been idle, so that waking it is worth the time.
    fn sleeps(&self) -> bool;
    /// Before times are taken: a device that was idle raises its clock.
    fn wake(&mut self);
    /// Whatever comes now, the device may be idle meanwhile.
    fn may_sleep(&mut self);
}

impl Measurable for Session {
    fn reset(&mut self) {
        self.device.reset();
    }

    fn sleeps(&self) -> bool {
        Session::sleeps(self)
    }

    fn wake(&mut self) {
        Session::wake(self);
    }

    fn may_sleep(&mut self) {
        self.is_awake = false;
    }
}

impl<D: Measurable> Bench<'_, D> {
    /// Reports what is about to be done. What the stages before have freed makes room for it, but where times are
    /// taken, a variant's first launches included: there the memory is as it is in every program. Where times are
    /// taken, the device is awake; waking it counts as launches.
    pub fn enter(&mut self, stage: Stage) {
        match stage {
            Stage::Measure if self.session.sleeps() => {
                (self.stage)(Stage::Launch);
                self.session.wake();
            }
            Stage::Measure => {}
            _ => self.session.may_sleep(),
        }
        (self.stage)(stage);
        if !matches!(stage, Stage::Launch | Stage::LaunchVariant(_) | Stage::Measure) {
            freed_memory::give_back();
        }
    }
}

impl<D> Bench<'_, D> {
    /// The same for a while.
    pub(crate) fn lend(&mut self) -> Bench<'_, D> {
        let Self { session, policy, measurement, stage } = self;
        Bench { session, policy, measurement, stage: &mut **stage }
    }

    /// The same for a while, with another policy.
    pub(crate) fn with_policy<'b>(&'b mut self, policy: &'b Policy) -> Bench<'b, D> {
        Bench { policy, ..self.lend() }
    }
}

impl Bench<'_> {
    /// The device.
    pub fn device(&mut self) -> &mut dyn Device {
        self.session.device.as_mut()
    }
}

impl Bench<'_, DeviceGroup> {
    /// The same for a while, on one member.
    pub(crate) fn member(&mut self, member: usize) -> Bench<'_> {
        let Bench { session, policy, measurement, stage } = self.lend();
        Bench { session: &mut session.members[member], policy, measurement, stage }
    }
}

/// What `run` measures on an idle `session`, and where the time went. Never fails: what went wrong
/// is the measurement's outcome.
pub(crate) fn measured<D: Measurable>(
    session: &mut D,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    run: impl FnOnce(&mut Bench<D>) -> Result<()>,
) -> Measurement {
    session.reset();
    let mut measurement = Measurement::default();
    let mut stage_timer = StageTimer::default();
    let stage: &mut dyn FnMut(Stage) = &mut |now| {
        stage_timer.enter(Some(now));
        stage(now);
    };
    let result = run(&mut Bench { session, policy, measurement: &mut measurement, stage });
    measurement.wall = Wall { busy: measurement.wall.busy, ..stage_timer.end() };
    session.reset();
    measurement.conclude(result)
}
