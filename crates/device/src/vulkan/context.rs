//! An open device and its queues: everything else is made from it and holds it.

use super::abilities::{Abilities, chained};
use super::info::Found;
use super::instance::Instance;
use super::matrices::{Features, has_bf16};
use super::status::checked;
use super::topology::{DeviceQueue, Topology};
use crate::image_limits::ImageLimits;
use crate::wgpu::ConstantLimits;
use ash::vk;
use gpubench_core::error::Result;
use gpubench_core::gpu::DeviceKind;
use gpubench_core::units::Bytes;
use std::ops::Deref;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A device, destroyed when the last that was made from it is gone.
pub(super) struct Context {
    pub device: ash::Device,
    pub abilities: Abilities,
    pub topology: Topology,
    pub memory: vk::PhysicalDeviceMemoryProperties,
    pub limits: vk::PhysicalDeviceLimits,
    pub timeline: ash::khr::timeline_semaphore::Device,
    pub host_reset: ash::ext::host_query_reset::Device,
    pub calibrated: ash::ext::calibrated_timestamps::Device,
    pub statistics: ash::khr::pipeline_executable_properties::Device,
    pub host_memory: ash::ext::external_memory_host::Device,
    /// One for each queue of the topology.
    queues: Vec<vk::Queue>,
    families: Vec<u32>,
    /// How long the host polls for the end before it has the driver wake it. Where the device may be the processor, polling
    /// would take the time from what it waits for.
    polling: Duration,
    instance: Rc<Instance>,
    handle: vk::PhysicalDevice,
}

impl Drop for Context {
    #[expect(unsafe_code, reason = "Vulkan calls")]
    fn drop(&mut self) {
        // SAFETY: whatever was made from the device holds it, so nothing of it is left.
        unsafe {
            let _ = self.device.device_wait_idle();
            self.device.destroy_device(None);
        }
    }
}

/// To be woken takes tens of microseconds, which is below half a percent of what takes longer than this.
const POLLING: Duration = Duration::from_millis(10);

fn polling(kind: DeviceKind) -> Duration {
    match kind {
        DeviceKind::Discrete | DeviceKind::Integrated => POLLING,
        _ => Duration::ZERO,
    }
}

/// Whether something happens within `polling`, asked over and over.
fn is_soon(polling: Duration, mut has_ended: impl FnMut() -> Result<bool>) -> Result<bool> {
    let began = Instant::now();
    while began.elapsed() < polling {
        if has_ended()? {
            return Ok(true);
        }
        std::hint::spin_loop();
    }
    Ok(false)
}

#[test]
fn what_ends_soon_is_polled_until_then_and_what_does_not_is_left() {
    let mut asked = 0;
    let third = || {
        asked += 1;
        Ok(asked == 3)
    };
    assert!(is_soon(Duration::from_secs(60), third).unwrap());
    assert_eq!(asked, 3);
    assert!(!is_soon(Duration::from_micros(1), || Ok(false)).unwrap());
    assert!(!is_soon(Duration::ZERO, || panic!("not asked")).unwrap());
    assert_eq!([DeviceKind::Cpu, DeviceKind::Discrete].map(polling), [Duration::ZERO, POLLING]);
}

impl Context {
    /// What the device allows of constant memory.
    pub fn constant_limits(&self) -> ConstantLimits {
        let limits = &self.limits;
        ConstantLimits {
            max_bytes: Bytes(limits.max_uniform_buffer_range.into()),
            max_buffers: limits.max_per_stage_descriptor_uniform_buffers,
            alignment: limits.min_uniform_buffer_offset_alignment.max(1) as u32,
        }
    }

    /// Opens a device with all its queues and what it can do of what is used here.
    #[expect(unsafe_code, reason = "Vulkan calls")]
    pub fn open(found: Found) -> Result<(Rc<Self>, gpubench_core::gpu::DeviceInfo)> {
        let Found { instance, handle, topology, abilities, info } = found;
        let device = create(&instance, handle, &topology, &abilities)?;
        let physical = instance.of(handle);
        // SAFETY: the instance is alive, and the handle came from it.
        let limits = unsafe { instance.get_physical_device_properties(handle) }.limits;
        // SAFETY: the queues were requested with the device.
        let queue =
            |queue: &DeviceQueue| unsafe { device.get_device_queue(queue.family, queue.index) };
        let context = Self {
            queues: topology.queues.iter().map(queue).collect(),
            families: topology.families(),
            memory: physical.memory(),
            limits,
            // Of an extension that was not asked for the functions are missing, and never called.
            timeline: ash::khr::timeline_semaphore::Device::new(&instance, &device),
            host_reset: ash::ext::host_query_reset::Device::new(&instance, &device),
            calibrated: ash::ext::calibrated_timestamps::Device::new(&instance, &device),
            statistics: ash::khr::pipeline_executable_properties::Device::new(&instance, &device),
            host_memory: ash::ext::external_memory_host::Device::new(&instance, &device),
            device,
            abilities,
            topology,
            polling: polling(info.kind),
            instance,
            handle,
        };
        Ok((Rc::new(context), info))
    }

    /// What the device allows of images; what it filters is known by format.
    pub fn image_limits(&self) -> ImageLimits {
        let limits = &self.limits;
        ImageLimits {
            max_images: limits
                .max_per_stage_descriptor_sampled_images
                .min(limits.max_descriptor_set_sampled_images),
            max_samplers: limits
                .max_per_stage_descriptor_samplers
                .min(limits.max_descriptor_set_samplers),
            max_side: limits.max_image_dimension2_d,
            filters_f16: true,
            filters_f32: true,
        }
    }

    /// What the device does with images of such a format.
    #[expect(unsafe_code, reason = "Vulkan call")]
    pub fn image_features(&self, format: vk::Format) -> vk::FormatFeatureFlags {
        // SAFETY: the instance is alive, and the handle came from it.
        let of =
            unsafe { self.instance.get_physical_device_format_properties(self.handle, format) };
        of.optimal_tiling_features
    }

    /// Submits to one of the topology's queues.
    #[expect(unsafe_code, reason = "Vulkan call")]
    pub fn submit(&self, queue: usize, submits: &[vk::SubmitInfo<'_>]) -> Result<()> {
        // SAFETY: one thread uses the device; the command buffers and semaphores are kept until
        // the queue is idle.
        let submitted =
            unsafe { self.device.queue_submit(self.queues[queue], submits, vk::Fence::null()) };
        checked("submitting", submitted)
    }

    /// Waits until one of the topology's queues has done everything.
    #[expect(unsafe_code, reason = "Vulkan call")]
    pub fn wait(&self, queue: usize) -> Result<()> {
        // SAFETY: one thread uses the device.
        checked("waiting", unsafe { self.device.queue_wait_idle(self.queues[queue]) })
    }

    /// Waits until each of these semaphores has its value.
    #[expect(unsafe_code, reason = "Vulkan calls")]
    pub fn wait_for(&self, semaphores: &[vk::Semaphore], values: &[u64]) -> Result<()> {
        let has_ended = || {
            for (&semaphore, &value) in semaphores.iter().zip(values) {
                // SAFETY: the caller's semaphores are alive.
                let reached = unsafe { self.timeline.get_semaphore_counter_value(semaphore) };
                if checked("waiting", reached)? < value {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        if is_soon(self.polling, has_ended)? {
            return Ok(());
        }
        let wait = vk::SemaphoreWaitInfo::default().semaphores(semaphores).values(values);
        // SAFETY: the semaphores are alive, and what signals them was submitted.
        checked("waiting", unsafe { self.timeline.wait_semaphores(&wait, u64::MAX) })
    }

    /// Waits until nothing runs; what is wrong then shows in the next call.
    #[expect(unsafe_code, reason = "Vulkan call")]
    pub fn settle(&self) {
        // SAFETY: one thread uses the device.
        let _ = unsafe { self.device.device_wait_idle() };
    }

    /// The sharing of buffers: concurrent between all families, where there are several, so that no
    /// ownership has to change hands.
    pub fn shared(&self) -> (vk::SharingMode, &[u32]) {
        match self.families.len() {
            1 => (vk::SharingMode::EXCLUSIVE, &[]),
            _ => (vk::SharingMode::CONCURRENT, &self.families),
        }
    }

    /// The memory type that `wanted` says, of those in `allowed`: one that has all flags of the first
    /// of `wanted` that any has, and the fewest of `avoided`.
    pub fn memory_type(
        &self,
        allowed: u32,
        wanted: &[vk::MemoryPropertyFlags],
        avoided: vk::MemoryPropertyFlags,
    ) -> Option<u32> {
        // Memory for other devices, or lazily allocated, is never meant.
        let odd = vk::MemoryPropertyFlags::LAZILY_ALLOCATED
            | vk::MemoryPropertyFlags::PROTECTED
            | vk::MemoryPropertyFlags::DEVICE_COHERENT_AMD
            | vk::MemoryPropertyFlags::DEVICE_UNCACHED_AMD;
        wanted.iter().find_map(|wanted| {
            (0..)
                .zip(self.memory.memory_types_as_slice())
                .filter(|(index, _)| allowed & (1 << index) != 0)
                .map(|(index, kind)| (index, kind.property_flags))
                .filter(|(_, flags)| flags.contains(*wanted) && !flags.intersects(odd))
                .min_by_key(|(_, flags)| (*flags & avoided).as_raw().count_ones())
                .map(|(index, _)| index)
        })
    }
}

#[expect(unsafe_code, reason = "Vulkan call")]
fn create(
    instance: &Instance,
    handle: vk::PhysicalDevice,
    topology: &Topology,
    abilities: &Abilities,
) -> Result<ash::Device> {
    let families = queues_by_family(topology);
    let priorities = priorities(&families);
    let queues: Vec<_> = families.iter().zip(&priorities).map(queues_of_family).collect();
    let names: Vec<_> = abilities.wanted().into_iter().map(|name| name.as_ptr()).collect();
    let core = core_features(abilities);
    let mut half_storage = vk::PhysicalDevice16BitStorageFeatures::default()
        .storage_buffer16_bit_access(abilities.f16 || abilities.int16)
        .uniform_and_storage_buffer16_bit_access(abilities.f16 || abilities.int16);
    let mut half = vk::PhysicalDeviceShaderFloat16Int8Features::default()
        .shader_float16(abilities.f16)
        .shader_int8(abilities.int8);
    let mut timeline =
        vk::PhysicalDeviceTimelineSemaphoreFeatures::default().timeline_semaphore(true);
    let mut reset = vk::PhysicalDeviceHostQueryResetFeatures::default().host_query_reset(true);
    let mut statistics = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default()
        .pipeline_executable_info(true);
    let mut zeroed = vk::PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures::default()
        .shader_zero_initialize_workgroup_memory(true);
    let mut dot = vk::PhysicalDeviceShaderIntegerDotProductFeatures::default()
        .shader_integer_dot_product(true);
    let mut atomics = vk::PhysicalDeviceShaderAtomicInt64Features::default()
        .shader_buffer_int64_atomics(true)
        .shader_shared_int64_atomics(true);
    let mut float_atomics = vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT::default()
        .shader_buffer_float32_atomics(true)
        .shader_buffer_float32_atomic_add(true);
    let mut subgroups = abilities.subgroups.features();
    let mut matrices = Features::all();
    let mut features =
        vk::PhysicalDeviceFeatures2::default().features(core).push_next(&mut half_storage);
    features = chained(features, abilities.f16 || abilities.int8, &mut half);
    features = chained(features, abilities.timeline, &mut timeline);
    features = chained(features, abilities.host_reset, &mut reset);
    features = chained(features, abilities.statistics, &mut statistics);
    features = chained(features, abilities.zeroed_local, &mut zeroed);
    features = chained(features, abilities.packed_dot, &mut dot);
    features = chained(features, abilities.int64_atomics, &mut atomics);
    features = chained(features, abilities.f32_atomics, &mut float_atomics);
    if let Some(subgroups) = &mut subgroups {
        features = features.push_next(subgroups);
    }
    if !abilities.matrices.is_empty() {
        features = matrices.chained(features, has_bf16(&abilities.matrices));
    }
    let request = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&names)
        .push_next(&mut features);
    // SAFETY: the handle came from the instance; the structures live through the call.
    checked("opening the device", unsafe { instance.create_device(handle, &request, None) })
}

fn core_features(abilities: &Abilities) -> vk::PhysicalDeviceFeatures {
    let none = vk::PhysicalDeviceFeatures::default();
    none.shader_float64(abilities.f64).shader_int16(abilities.int16).shader_int64(abilities.int64)
}

/// Of each family its queues' priorities, which are all the same.
fn priorities(families: &[(u32, u32)]) -> Vec<Vec<f32>> {
    families.iter().map(|(_, count)| vec![1.0; *count as usize]).collect()
}

/// What asks for a family's queues, as many as there are priorities.
fn queues_of_family<'a>(
    ((family, _), priorities): (&(u32, u32), &'a Vec<f32>),
) -> vk::DeviceQueueCreateInfo<'a> {
    vk::DeviceQueueCreateInfo::default().queue_family_index(*family).queue_priorities(priorities)
}

/// Each family with how many of its queues a topology takes. Queues of a topology may be one queue of the device.
fn queues_by_family(topology: &Topology) -> Vec<(u32, u32)> {
    let queues_of = |family| {
        let of = topology.queues.iter().filter(|queue| queue.family == family);
        of.map(|queue| queue.index + 1).max().unwrap_or(1)
    };
    topology.families().into_iter().map(|family| (family, queues_of(family))).collect()
}

/// How a Vulkan object is destroyed.
type Destroy<T> = unsafe fn(&ash::Device, T, Option<&vk::AllocationCallbacks<'_>>);

/// A Vulkan object, destroyed when it is dropped, and before its device.
pub(super) struct Owned<T: Copy> {
    context: Rc<Context>,
    handle: T,
    destroy: Destroy<T>,
}

impl<T: Copy> Owned<T> {
    /// Takes over what was just made; `destroy` is the device's function for its type.
    pub fn new(context: &Rc<Context>, handle: T, destroy: Destroy<T>) -> Self {
        Self { context: Rc::clone(context), handle, destroy }
    }
}

impl<T: Copy> Deref for Owned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.handle
    }
}

impl<T: Copy> Drop for Owned<T> {
    #[expect(unsafe_code, reason = "destroys what was made")]
    fn drop(&mut self) {
        // SAFETY: the object is its owner's alone; whoever drops it has waited for what uses it.
        unsafe { (self.destroy)(&self.context.device, self.handle, None) }
    }
}
