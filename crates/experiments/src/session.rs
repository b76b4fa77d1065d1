//! An open device with what was learnt about it on the way.

use super::drift_guard::RetryBudget;
use super::polling::Polling;
use super::reference_kernel::ReferenceKernel;
use super::reference_launch::Work;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{
    DeviceKind, HOST_RESOLUTION, KernelId, KernelSource, Language, Meaning, Op, Recording, Timeline,
};
use gpubench_device::{Device, sensors};
use std::time::Instant;

/// An open device.
pub struct Session {
    /// The device.
    pub device: Box<dyn Device>,
    /// Seconds, once it was tried.
    empty_launch: Option<Option<f64>>,
    /// Resolution of the clock that empty launches were read from, in seconds.
    resolution: f64,
    pub(super) reference_kernel: ReferenceKernel,
    memory_kernel: ReferenceKernel,
    /// Whether the threads of a driver that computes on the processor were placed.
    is_placed: bool,
    /// Whether the device was woken for the times that are taken now.
    pub(super) is_awake: bool,
    pub(super) retry_budget: RetryBudget,
    opened: Instant,
    /// The sensors of the device and of its host, where there are any.
    pub(super) polling: Option<Polling>,
}

/// Seconds of a launch, where an empty one cannot be measured: a batch must have some length.
const USUAL_LAUNCH: f64 = 10e-6;

/// The empty kernel is numbered apart from all of a case's.
const EMPTY: KernelId = KernelId(u32::MAX);

impl Session {
    /// Over an open device.
    pub fn new(device: Box<dyn Device>) -> Self {
        let info = device.info();
        let polling = Polling::new(sensors::of(info), sensors::of_host(info));
        Self {
            device,
            empty_launch: None,
            resolution: HOST_RESOLUTION,
            reference_kernel: ReferenceKernel::new(Work::Arithmetic),
            memory_kernel: ReferenceKernel::new(Work::Memory),
            is_placed: false,
            is_awake: false,
            retry_budget: RetryBudget::default(),
            opened: Instant::now(),
            polling,
        }
    }

    /// Before anything is timed in this process: keeps the threads of a driver that computes on the processor apart.
    /// Returns how many seconds that took.
    pub(super) fn place_threads(&mut self) -> f64 {
        let begun = Instant::now();
        if !self.is_placed && self.device.info().kind == DeviceKind::Cpu {
            self.reference_kernel.place_threads(self.device.as_mut());
        }
        self.is_placed = true;
        begun.elapsed().as_secs_f64()
    }

    /// Whether the device may have been idle, and waking it is worth its time.
    pub(super) fn sleeps(&self) -> bool {
        !self.is_awake && self.reference_kernel.may_wake(self.device.info().kind, self.age())
    }

    /// Wakes the device where it [`Session::sleeps`].
    pub(super) fn wake(&mut self) {
        if self.sleeps() {
            self.reference_kernel.wake(self.device.as_mut());
        }
        self.is_awake = true;
    }

    /// Launches of the reference kernel, as many as `count` says of the seconds of one.
    pub(super) fn blocking_kernel(
        &mut self,
        count: impl Fn(f64) -> Option<u32>,
    ) -> Result<Option<Recording>> {
        self.reference_kernel.launched(self.device.as_mut(), count)
    }

    /// Seconds of the reference kernel, where it keeps to its share of the time; else nothing is
    /// known of the device's speed now.
    pub(super) fn afford_reference_kernel(&mut self) -> Option<f64> {
        let affordable = self.reference_kernel.is_affordable(self.age());
        affordable.then(|| self.reference_kernel.run(self.device.as_mut())).flatten()
    }

    /// Seconds of the kernel that streams through memory, where it keeps to its share of the time. A simulated
    /// memory never changes its speed, and what runs between cases would change how they scatter.
    pub(super) fn afford_memory_kernel(&mut self) -> Option<f64> {
        let kind = self.device.info().kind;
        let affordable =
            kind != DeviceKind::Simulated && self.memory_kernel.is_affordable(self.age());
        affordable.then(|| self.memory_kernel.run(self.device.as_mut())).flatten()
    }

    /// Seconds since the device was opened; infinite for a simulated one, which computes the same
    /// however busy the host is.
    pub(super) fn age(&self) -> f64 {
        match self.device.info().kind {
            DeviceKind::Simulated => f64::INFINITY,
            _ => self.opened.elapsed().as_secs_f64(),
        }
    }

    /// Seconds that one launch of an empty kernel takes in a batch of many, measured once; `None` where it
    /// cannot be.
    pub fn empty_launch(&mut self) -> Option<f64> {
        if self.empty_launch.is_none() {
            let measured = self
                .measure_empty_launch()
                .inspect_err(|why| tracing::debug!(%why, "an empty launch cannot be measured"));
            self.empty_launch = Some(measured.ok());
        }
        self.empty_launch.flatten()
    }

    /// Operations of about `seconds` each in one sample: it lasts at least 100 × the clock's
    /// resolution and 20 × an empty launch, as far as `most` of them do.
    pub(super) fn batch(&mut self, seconds: f64, max_batch: u32) -> u32 {
        let empty_launch = self.empty_launch().unwrap_or(USUAL_LAUNCH);
        let resolution = self.device.info().timestamp_resolution.unwrap_or(self.resolution);
        let min_seconds = (100.0 * resolution).max(20.0 * empty_launch);
        (min_seconds / seconds.max(1e-9)).ceil().clamp(1.0, f64::from(max_batch)) as u32
    }

    fn measure_empty_launch(&mut self) -> Result<f64> {
        const BATCH: usize = 20;
        self.device.build(EMPTY, &empty_kernel(self.device.info().language))?;
        let op = Op::Dispatch { kernel: EMPTY, groups: [1; 3], buffers: vec![], params: vec![] };
        let recording = Recording::one_queue(vec![op; BATCH]);
        // The first run pays for what drivers put off until a kernel is first used.
        self.resolution = self.device.run(&recording)?.resolution;
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            best = best.min(span(&self.device.run(&recording)?));
        }
        match best.is_finite() && best > 0.0 {
            true => Ok(best / BATCH as f64),
            false => Err(Error::Device(format!("{best} s for {BATCH} of them"))),
        }
    }
}

/// Seconds from the first start to the last end where the device's clock reports them, else the host's wall time.
pub(super) fn span(timeline: &Timeline) -> f64 {
    let first = timeline.steps.iter().map(|s| s.started).fold(f64::INFINITY, f64::min);
    let last = timeline.steps.iter().map(|s| s.ended).fold(f64::NEG_INFINITY, f64::max);
    if timeline.steps.is_empty() { timeline.wall } else { last - first }
}

fn empty_kernel(language: Language) -> KernelSource {
    let text = match language {
        Language::Opencl => "kernel void empty(void) {}",
        Language::Wgsl => "@compute @workgroup_size(GROUP_X) fn empty() {}",
    };
    KernelSource {
        meaning: Some(Meaning { reference: "empty".into(), groups: 1, ..Meaning::default() }),
        ..KernelSource::new(language, "empty", text)
    }
}
