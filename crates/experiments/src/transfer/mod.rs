//! Copies of growing size, either way and both at once.

pub mod analysis;
pub mod data;
pub(crate) mod run;

use crate::engines::{Engines, both_ways, either};
use crate::experiment::{Experiment, Planning};
use crate::plan::{BufferPlan, Case, Limits, sweep_buffer};
use crate::{Measurement, Policy, Session, Stage};
use gpubench_core::error::Result;
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::reason::Reason;
use gpubench_core::workload::Kind;
use gpubench_suite::{Family, HostMemory, Needs};

/// Copies of growing size, either way and both at once.
pub struct Transfer;

impl Experiment for Transfer {
    const KIND: Kind = Kind::new("transfer");
    const ABOUT: &'static str = "Copies of growing size, either way and both at once.";
    const NEEDS: Needs = Needs::NOTHING;
    const FAMILY: Option<Family> = Some(Family::Transfer);
    const HOST_MEMORY: HostMemory = HostMemory::Listed;
    type Spec = ();
    type Plan = ();
    type Data = data::Transfer;

    fn buffers(device: &DeviceInfo, limits: &Limits) -> Option<Vec<BufferPlan>> {
        Some(vec![sweep_buffer(device, limits)])
    }

    fn plan(_: &(), _: &Case, _: &Planning) -> Result<(), Reason> {
        Ok(())
    }

    fn run(
        session: &mut Session,
        case: &Case,
        policy: &Policy,
        stage: &mut dyn FnMut(Stage),
        measurement: &mut Measurement,
    ) -> Result<()> {
        run::measure(session, case, policy, stage, measurement)
    }

    fn learn(raw: &Self::Data, engines: &mut Engines) {
        engines.both_ways = either(engines.both_ways, both_ways(raw));
    }
}
