//! The seam: what the rest of the program sees of a page.

use super::info::{Report, describe};
use super::link::Link;
use super::memory::Memory;
use super::message::{Compiled, PIECE, Ran, Request, arguments};
use crate::image_limits::ImageLimits;
use crate::{Device, timeline, vulkan, wgpu};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{
    BoundsChecks, BufferId, BuildReport, Clock, DeviceInfo, KernelId, KernelSource, MemoryKind,
    Recording, Timeline,
};
use gpubench_core::units::Bytes;
use naga::valid::Capabilities;
use serde::de::IgnoredAny;

/// Timestamps are in nanoseconds.
const TICK: f64 = 1e-9;

/// A page with a device of its own.
pub(super) struct BrowserDevice {
    info: DeviceInfo,
    constant_limits: wgpu::ConstantLimits,
    image_limits: ImageLimits,
    /// The step of the page's clock in seconds.
    clock_resolution: f64,
    memory: Memory,
    link: Link,
}

impl BrowserDevice {
    /// Has the page that is connected to the hub at `address` open a device.
    ///
    /// # Errors
    /// `DeviceLost` where no page is there, `Unsupported` where its browser has no WebGPU.
    pub fn open(address: &str) -> Result<Self> {
        let mut link = Link::connect(address)?;
        let (report, _): (Report, _) = link.ask(&Request::Open, &[])?;
        let (info, clock_resolution) = (describe(&report), report.clock_resolution);
        let constant_limits = report.limits.constant_memory();
        let (image_limits, memory) = (report.images(), Memory::default());
        Ok(Self { info, constant_limits, image_limits, clock_resolution, memory, link })
    }

    /// Asks for something that has no answer but that it was done.
    fn request(&mut self, request: &Request<'_>, payload: &[u8]) -> Result<()> {
        self.link.ask::<IgnoredAny>(request, payload).map(|_| ())
    }
}

impl Device for BrowserDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn build(&mut self, id: KernelId, source: &KernelSource) -> Result<BuildReport> {
        self.memory.forget(id);
        // What WebGPU has in no browser.
        let lacks = Capabilities::FLOAT64
            | Capabilities::SHADER_INT16
            | Capabilities::SHADER_FLOAT32_ATOMIC
            | Capabilities::SHADER_INT64
            | Capabilities::SHADER_INT64_ATOMIC_ALL_OPS
            | Capabilities::SHADER_INT64_ATOMIC_MIN_MAX;
        let capabilities = Capabilities::all().difference(lacks);
        let examined = wgpu::examine(source, &self.info, vulkan::validator(capabilities))?;
        examined.constant_memory.check(&wgpu::name(source), self.constant_limits)?;
        self.image_limits.check(&source.bindings)?;
        let request = Request::Build {
            kernel: id.0,
            file: source.origin.file(),
            code: &examined.text,
            entry: &source.entry,
            arguments: arguments(source, &examined.constant_memory),
        };
        let built: Result<(Compiled, _)> = self.link.ask(&request, &[]);
        let (Compiled { seconds, log }, _) = built.map_err(|error| match error {
            Error::Build { log, .. } => Error::Build { kernel: wgpu::name(source), log },
            other => other,
        })?;
        self.memory.built(id, source, examined.constant_memory);
        Ok(BuildReport {
            seconds,
            local_bytes: Some(examined.local.0),
            options: wgpu::options(BoundsChecks::On).to_owned(),
            bounds_checks: Some(BoundsChecks::On),
            log,
            ..BuildReport::default()
        })
    }

    fn alloc(&mut self, id: BufferId, bytes: Bytes, kind: MemoryKind) -> Result<()> {
        self.memory.alloc(&self.info, id, bytes, kind)?;
        self.request(&Request::Alloc { buffer: id.0, bytes: bytes.0, kind }, &[])
    }

    fn write(&mut self, id: BufferId, data: &[u8]) -> Result<()> {
        self.memory.check_filling(id, data.len())?;
        let mut offset = 0;
        for piece in data.chunks(PIECE) {
            self.request(&Request::Write { buffer: id.0, offset }, piece)?;
            offset += piece.len() as u64;
        }
        Ok(())
    }

    fn read(&mut self, id: BufferId) -> Result<Vec<u8>> {
        let mut data = wgpu::zeroed(self.memory.len(id)?)?;
        let mut offset = 0;
        for piece in data.chunks_mut(PIECE) {
            let len = piece.len() as u64;
            let request = Request::Read { buffer: id.0, offset, len };
            let (_, bytes): (IgnoredAny, _) = self.link.ask(&request, &[])?;
            if bytes.len() != piece.len() {
                let found = Bytes(bytes.len() as u64);
                return Err(Error::Device(format!("the page read {found}, not {}", Bytes(len))));
            }
            piece.copy_from_slice(&bytes);
            offset += len;
        }
        Ok(data)
    }

    fn run(&mut self, recording: &Recording) -> Result<Timeline> {
        let limits = (self.constant_limits.alignment, self.image_limits);
        self.memory.check(recording, &self.info, limits)?;
        let request = Request::Run { steps: &recording.steps };
        let (Ran { wall, timed }, ticks): (Ran, _) = self.link.ask(&request, &[])?;
        let ticks: Vec<u64> =
            ticks.as_chunks().0.iter().map(|tick| u64::from_le_bytes(*tick)).collect();
        let resolution = self.info.timestamp_resolution.filter(|_| timed);
        let stamps = match ticks.len() == 2 * recording.steps.len() {
            true => timeline::one_after_the_other(&ticks),
            false => Err("timestamps are missing".into()),
        };
        let mut found = timeline::of(stamps, TICK, resolution, wall);
        if found.clock == Clock::Host {
            // The host's side is the page, and browsers make its clock coarse.
            found.resolution = self.clock_resolution;
        }
        Ok(found)
    }

    fn reset(&mut self) {
        self.memory.reset();
        // A page that is gone shows in the next call.
        let _ = self.request(&Request::Reset { lasting: KernelId::LASTING }, &[]);
    }
}
