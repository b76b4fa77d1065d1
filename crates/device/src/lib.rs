//! The seam to the hardware: one folder a device API, all behind two small traits.

mod backends;
pub mod browser;
mod child;
pub mod device_choice;
pub mod doctor;
pub mod freed_memory;
mod image_limits;
mod multi_device;
pub mod opencl;
mod parameter_blocks;
mod physical_gpus;
pub mod sensors;
pub mod sim;
#[cfg(feature = "testing")]
pub mod testing;
pub mod thread_placement;
mod timeline;
mod validation;
pub mod vulkan;
pub mod wgpu;

pub use backends::{all, by_name};
pub use child::ends_with_this_process;
pub use multi_device::{MultiDevice, Opened, Part, Remote, open_multi_device};
pub(crate) use physical_gpus::kind_rank;
pub use physical_gpus::physical_gpus;

use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{
    BufferId, BuildReport, DeviceInfo, KernelId, KernelSource, MemoryKind, Recording, Signature,
    Timeline,
};
use gpubench_core::units::Bytes;

/// A device API on this machine.
pub trait Backend {
    /// The name by which users select it.
    fn name(&self) -> &'static str;

    /// All its devices, in a stable order. An empty list where the API is not installed.
    fn devices(&self) -> Result<Vec<DeviceInfo>>;

    /// Opens the device with this position in [`Backend::devices`].
    fn open(&self, index: usize) -> Result<Box<dyn Device>>;

    /// What every entry point of `source` takes, as the compiler of the device with this position
    /// reports it.
    ///
    /// # Errors
    /// `Build` with the compiler's log, `Unsupported` where the API reports no arguments.
    fn signatures(&self, _: usize, _: &KernelSource) -> Result<Vec<Signature>> {
        Err(Error::Unsupported(format!("{} reports no arguments of kernels", self.name())))
    }

    /// The backend below, where this one's API is a layer above another: of a physical GPU that both see, runs
    /// measure the one below.
    fn layer_over(&self) -> Option<&'static str> {
        None
    }

    /// Beginnings of environment variables that change what its drivers do: runs record them.
    fn environment(&self) -> &'static [&'static str] {
        &[]
    }

    /// What may keep a device away.
    fn doctor(&self, _: &doctor::Machine<'_>) -> Vec<doctor::Finding> {
        vec![]
    }
}

/// The device at the position `index` of all that `backend` has.
///
/// # Errors
/// `Usage` where there is none.
fn nth<T>(backend: &str, all: impl IntoIterator<Item = T>, index: usize) -> Result<T> {
    let missing = || Error::Usage(format!("there is no {backend} device {index}"));
    all.into_iter().nth(index).ok_or_else(missing)
}

/// An open device. Whoever holds one may have to be killed: only the end of the process is
/// sure to free a device that hangs.
pub trait Device {
    /// What it says of itself.
    fn info(&self) -> &DeviceInfo;

    /// Compiles a kernel under the number `id`, replacing an earlier one.
    ///
    /// # Errors
    /// [`gpubench_core::error::Error::Build`] with the compiler's log, `Unsupported` when the device's
    /// limits do not allow the kernel.
    fn build(&mut self, id: KernelId, source: &KernelSource) -> Result<BuildReport>;

    /// Allocates a buffer under the number `id`, replacing an earlier one. `Device` memory is
    /// the device's; the host kinds are what `Upload` and `Download` copy from and to.
    fn alloc(&mut self, id: BufferId, bytes: Bytes, kind: MemoryKind) -> Result<()>;

    /// Fills a buffer (of any kind) from its beginning, and returns when it is done.
    fn write(&mut self, id: BufferId, data: &[u8]) -> Result<()>;

    /// Reads a whole buffer (of any kind).
    fn read(&mut self, id: BufferId) -> Result<Vec<u8>>;

    /// Whether a buffer (of any kind) holds these bytes and no others. A device that can tell without a copy of the
    /// whole buffer does.
    fn holds(&mut self, id: BufferId, bytes: &[u8]) -> Result<bool> {
        Ok(self.read(id)? == bytes)
    }

    /// Executes a recording and waits for its end.
    ///
    /// # Errors
    /// `Unsupported` where the device cannot do what is requested (more queues than it has); it
    /// never pretends.
    fn run(&mut self, recording: &Recording) -> Result<Timeline>;

    /// Frees all buffers, and all kernels but the lasting ones ([`KernelId::is_lasting`]).
    fn reset(&mut self);
}
