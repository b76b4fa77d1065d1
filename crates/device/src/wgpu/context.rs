//! An open device. Every complaint of the API becomes a typed error; nothing panics.

use super::constant_memory::ConstantLimits;
use crate::image_limits::ImageLimits;
use ::wgpu::{
    Adapter, CommandBuffer, DeviceDescriptor, DeviceLostReason, ErrorFilter, Features, MemoryHints,
    PollType,
};
use gpubench_core::error::{Error, Result};
use gpubench_core::units::Bytes;
use std::sync::{Arc, Mutex, Once, PoisonError};

/// The exit code of a process whose device was lost where wgpu lets nobody handle it: it panics
/// when a device is lost while somebody waits for it, and a release build ends with any panic.
pub const EXIT_DEVICE_LOST: i32 = 75;

/// A device, its queue, and what went wrong with them.
pub(super) struct Context {
    pub device: ::wgpu::Device,
    pub queue: ::wgpu::Queue,
    trouble: Arc<Mutex<Trouble>>,
}

/// What callbacks of the API reported.
#[derive(Default)]
struct Trouble {
    lost: Option<String>,
    uncaptured: Option<String>,
}

impl Context {
    /// What the device allows of constant memory.
    pub fn constant_limits(&self) -> ConstantLimits {
        let limits = self.device.limits();
        ConstantLimits {
            max_bytes: Bytes(limits.max_uniform_buffer_binding_size),
            max_buffers: limits.max_uniform_buffers_per_shader_stage,
            alignment: limits.min_uniform_buffer_offset_alignment,
        }
    }

    /// What the device allows of images.
    pub fn image_limits(&self) -> ImageLimits {
        let limits = self.device.limits();
        ImageLimits {
            max_images: limits.max_sampled_textures_per_shader_stage,
            max_samplers: limits.max_samplers_per_shader_stage,
            max_side: limits.max_texture_dimension_2d,
            filters_f16: true,
            filters_f32: self.device.features().contains(Features::FLOAT32_FILTERABLE),
        }
    }

    /// Opens the device with all the limits and every feature that kernels can use.
    ///
    /// # Errors
    /// `Device` with the driver's reason.
    pub fn open(adapter: &Adapter) -> Result<Self> {
        let request = adapter.request_device(&DeviceDescriptor {
            label: None,
            required_features: adapter.features() & wanted(),
            // The defaults would allow 16 KiB of workgroup memory and 128 MiB bindings.
            required_limits: adapter.limits(),
            memory_hints: MemoryHints::Performance,
            ..Default::default()
        });
        let (device, queue) = pollster::block_on(request)
            .map_err(|error| Error::Device(format!("the device does not open: {error}")))?;
        let trouble = Arc::new(Mutex::new(Trouble::default()));
        let (on_error, on_loss) = (Arc::clone(&trouble), Arc::clone(&trouble));
        device.on_uncaptured_error(Arc::new(move |error| {
            lock(&on_error).uncaptured = Some(error.to_string());
        }));
        device.set_device_lost_callback(move |reason, message| {
            let text = format!("{message} ({reason:?})");
            if reason != DeviceLostReason::Destroyed {
                *lock(&LOSS) = Some(text.clone());
            }
            lock(&on_loss).lost = Some(text);
        });
        end_when_lost();
        Ok(Self { device, queue, trouble })
    }

    /// Does `work` and returns what the API says of it.
    ///
    /// # Errors
    /// `work`'s own; else `DeviceLost`, `OutOfMemory`, or `Device` with the API's text.
    pub fn scoped<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let memory = self.device.push_error_scope(ErrorFilter::OutOfMemory);
        let internal = self.device.push_error_scope(ErrorFilter::Internal);
        let validation = self.device.push_error_scope(ErrorFilter::Validation);
        let result = work();
        let complaints =
            [validation, internal, memory].map(|scope| pollster::block_on(scope.pop()));
        self.check_lost()?;
        let value = result?;
        match complaints.into_iter().flatten().next() {
            Some(error) => Err(typed(&error)),
            None => match lock(&self.trouble).uncaptured.take() {
                Some(text) => Err(Error::Device(text)),
                None => Ok(value),
            },
        }
    }

    /// Waits until the device has done everything submitted.
    ///
    /// # Errors
    /// `DeviceLost` when it will not.
    pub fn wait(&self) -> Result<()> {
        let polled = self.device.poll(PollType::wait_indefinitely());
        self.check_lost()?;
        polled.map(|_| ()).map_err(|error| Error::Device(error.to_string()))
    }

    /// Submits `commands` (and all pending writes), and waits for their end.
    ///
    /// # Errors
    /// As [`Self::wait`].
    pub fn submit(&self, commands: Option<CommandBuffer>) -> Result<()> {
        self.queue.submit(commands);
        self.wait()
    }

    fn check_lost(&self) -> Result<()> {
        match &lock(&self.trouble).lost {
            Some(text) => Err(Error::DeviceLost(text.clone())),
            None => Ok(()),
        }
    }
}

/// What a device said that was lost while this process used it.
static LOSS: Mutex<Option<String>> = Mutex::new(None);

/// From now on a panic after a device was lost ends the process with [`EXIT_DEVICE_LOST`].
fn end_when_lost() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if let Some(text) = &*lock(&LOSS) {
                eprintln!("{text}");
                std::process::exit(EXIT_DEVICE_LOST);
            }
            usual(panic);
        }));
    });
}

/// Seconds of one tick of the device's timestamps. Only an open queue knows, so the device is
/// opened for a moment.
pub(super) fn tick(adapter: &Adapter) -> Option<f64> {
    let (_device, queue) = pollster::block_on(adapter.request_device(&DeviceDescriptor {
        required_features: Features::TIMESTAMP_QUERY,
        required_limits: adapter.limits(),
        ..Default::default()
    }))
    .ok()?;
    Some(f64::from(queue.get_timestamp_period()) * 1e-9)
}

/// Features that are used where the adapter has them.
fn wanted() -> Features {
    Features::TIMESTAMP_QUERY
        | Features::TIMESTAMP_QUERY_INSIDE_ENCODERS
        | Features::TIMESTAMP_QUERY_INSIDE_PASSES
        | Features::MAPPABLE_PRIMARY_BUFFERS
        | Features::SUBGROUP
        | Features::SUBGROUP_BARRIER
        | Features::SHADER_F16
        | Features::SHADER_F64
        | Features::SHADER_I16
        | Features::SHADER_FLOAT32_ATOMIC
        | Features::SHADER_INT64
        | Features::SHADER_INT64_ATOMIC_ALL_OPS
        | Features::FLOAT32_FILTERABLE
}

fn typed(error: &::wgpu::Error) -> Error {
    match error {
        ::wgpu::Error::OutOfMemory { source } => Error::OutOfMemory(source.to_string()),
        other => Error::Device(other.to_string().trim().to_owned()),
    }
}

/// A poisoned lock still holds what a callback wrote before it panicked.
fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
