//! Simulated GPUs of one host that run at the same time, on one simulated clock.

use super::events::simulate_multi_device;
use super::{Machine, SimDevice};
use crate::{Device, MultiDevice, Opened, Part};
use gpubench_core::error::Result;
use gpubench_core::gpu::{
    BufferId, BuildReport, DeviceInfo, KernelId, KernelSource, MemoryKind, Recording, Timeline,
};
use gpubench_core::units::Bytes;
use std::cell::RefCell;
use std::rc::Rc;

/// A simulated GPU that its owner and the machine hold.
struct Member {
    info: DeviceInfo,
    device: Rc<RefCell<SimDevice>>,
}

/// The machine that runs them all.
struct Running {
    devices: Vec<Rc<RefCell<SimDevice>>>,
    machine: Machine,
}

/// `devices` on one host, whose switches number them in this order.
pub(super) fn open(devices: Vec<SimDevice>, machine: Machine) -> Opened {
    let devices: Vec<_> = devices.into_iter().map(|d| Rc::new(RefCell::new(d))).collect();
    let members = devices.iter().map(|device| -> Box<dyn Device> {
        let info = device.borrow().info().clone();
        Box::new(Member { info, device: Rc::clone(device) })
    });
    (members.collect(), Box::new(Running { devices: devices.clone(), machine }))
}

impl MultiDevice for Running {
    fn run(&mut self, recordings: &[Recording]) -> Result<Vec<Part>> {
        let devices = self.devices.iter().zip(recordings);
        let jobs = devices
            .map(|(device, recording)| device.borrow_mut().prepare(recording))
            .collect::<Result<Vec<_>>>()?;
        let gpus: Vec<_> = self.devices.iter().map(|d| d.borrow().gpu.clone()).collect();
        let pairs: Vec<_> = gpus.iter().zip(&jobs).map(|(gpu, jobs)| (gpu, &jobs[..])).collect();
        let times = simulate_multi_device(&pairs, &|doing| self.machine.limits(doing));
        let parts = self.devices.iter().zip(recordings).zip(&times);
        parts
            .map(|((device, recording), times)| {
                let Timeline { steps, wall, dropped, .. } =
                    device.borrow_mut().conclude(recording, times)?;
                Ok(Part { begun: 0.0, ended: wall, steps, dropped })
            })
            .collect()
    }
}

impl Device for Member {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn build(&mut self, id: KernelId, source: &KernelSource) -> Result<BuildReport> {
        self.device.borrow_mut().build(id, source)
    }

    fn alloc(&mut self, id: BufferId, bytes: Bytes, kind: MemoryKind) -> Result<()> {
        self.device.borrow_mut().alloc(id, bytes, kind)
    }

    fn write(&mut self, id: BufferId, data: &[u8]) -> Result<()> {
        self.device.borrow_mut().write(id, data)
    }

    fn read(&mut self, id: BufferId) -> Result<Vec<u8>> {
        self.device.borrow_mut().read(id)
    }

    fn run(&mut self, recording: &Recording) -> Result<Timeline> {
        self.device.borrow_mut().run(recording)
    }

    fn reset(&mut self) {
        self.device.borrow_mut().reset();
    }
}
