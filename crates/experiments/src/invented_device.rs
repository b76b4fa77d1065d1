//! A device for tests that builds and holds nothing: each run takes what a function says.

use gpubench_core::error::Result;
use gpubench_core::gpu::{
    BufferId, BuildReport, Clock, DeviceInfo, DeviceKind, KernelId, KernelSource, MemoryKind,
    Recording, StepTimes, Timeline,
};
use gpubench_core::record::sample;
use gpubench_core::units::Bytes;
use gpubench_device::Device;

/// What the run of a number takes.
type Times = dyn Fn(u32, &Recording) -> Timeline;

/// Such a device.
pub(crate) struct InventedDevice {
    info: DeviceInfo,
    times: Box<Times>,
    /// How many runs there have been.
    pub runs: u32,
}

impl InventedDevice {
    /// One whose runs, counted from 0, take what `times` says.
    pub fn new(kind: DeviceKind, times: impl Fn(u32, &Recording) -> Timeline + 'static) -> Self {
        let info = DeviceInfo { kind, ..sample::device("opencl") };
        Self { info, times: Box::new(times), runs: 0 }
    }
}

/// A timeline of so many seconds by the device's clock; without steps, by the host's.
pub(crate) fn timeline(steps: Vec<StepTimes>, wall: f64) -> Timeline {
    let (clock, dropped) = match steps.is_empty() {
        true => (Clock::Host, Some("zero".to_owned())),
        false => (Clock::Device, None),
    };
    Timeline { steps, clock, resolution: 1e-9, wall, dropped }
}

impl Device for InventedDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn build(&mut self, _: KernelId, _: &KernelSource) -> Result<BuildReport> {
        Ok(BuildReport::default())
    }

    fn alloc(&mut self, _: BufferId, _: Bytes, _: MemoryKind) -> Result<()> {
        Ok(())
    }

    fn write(&mut self, _: BufferId, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn read(&mut self, _: BufferId) -> Result<Vec<u8>> {
        Ok(vec![])
    }

    fn run(&mut self, recording: &Recording) -> Result<Timeline> {
        self.runs += 1;
        Ok((self.times)(self.runs - 1, recording))
    }

    fn reset(&mut self) {}
}
