//! What a device can do beyond storage buffers, none of which is required; and the request for it.

use super::facts::Physical;
use super::instance::{Instance, named};
use super::matrices;
use super::status::checked;
use super::subgroups::Subgroups;
use ash::vk;
use gpubench_core::error::Result;
use gpubench_core::gpu::{MatrixProduct, SPIRV, SUBGROUP_SIZE, Scalar};
use naga::valid::Capabilities;
use std::collections::BTreeSet;
use std::ffi::CStr;

/// What is used where a device has it. Everything later than Vulkan 1.1 is used as the extension
/// that it was, which drivers keep.
#[derive(Clone, Default)]
pub(super) struct Abilities {
    extensions: Vec<vk::ExtensionProperties>,
    /// Waiting of queues for each other.
    pub timeline: bool,
    /// Queries reset by the host, so without a command.
    pub host_reset: bool,
    /// Timestamps of all queues, and of "now", on the device's one clock.
    pub calibrated: bool,
    /// What the compiler made of a kernel.
    pub statistics: bool,
    /// On what multiple of bytes the program's own memory can be the device's, where it can.
    pub host_pointers: Option<u64>,
    pub subgroups: Subgroups,
    pub f16: bool,
    pub f64: bool,
    /// Whole numbers of 8 bits in kernels, if not in buffers.
    pub int8: bool,
    pub int16: bool,
    pub int64: bool,
    /// Atomic operations on integers of 64 bits.
    pub int64_atomics: bool,
    /// Additions of `f32` to numbers in buffers, atomically.
    pub f32_atomics: bool,
    /// Zeroing a group's local memory before it begins.
    pub zeroed_local: bool,
    /// Dot products of four packed bytes in kernels.
    pub packed_dot: bool,
    /// Products of matrices in kernels.
    pub matrices: BTreeSet<MatrixProduct>,
}

impl Abilities {
    /// Asks a device.
    #[expect(unsafe_code, reason = "ash's queries are foreign functions")]
    pub fn of(instance: &Instance, physical: Physical<'_>) -> Result<Self> {
        // SAFETY: the instance is alive, and the handle came from it.
        let extensions = checked("listing device extensions", unsafe {
            instance.enumerate_device_extension_properties(physical.handle)
        })?;
        let has = |name: &CStr| named(&extensions, name);
        let mut timeline = vk::PhysicalDeviceTimelineSemaphoreFeatures::default();
        let mut reset = vk::PhysicalDeviceHostQueryResetFeatures::default();
        let mut statistics = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default();
        let mut half = vk::PhysicalDeviceShaderFloat16Int8Features::default();
        let mut half_storage = vk::PhysicalDevice16BitStorageFeatures::default();
        let mut zeroed = vk::PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures::default();
        let mut dot = vk::PhysicalDeviceShaderIntegerDotProductFeatures::default();
        let mut atomics = vk::PhysicalDeviceShaderAtomicInt64Features::default();
        let mut float_atomics = vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT::default();
        let mut chain = vk::PhysicalDeviceFeatures2::default().push_next(&mut half_storage);
        chain = chained(chain, has(ash::khr::timeline_semaphore::NAME), &mut timeline);
        chain = chained(chain, has(ash::ext::host_query_reset::NAME), &mut reset);
        chain =
            chained(chain, has(ash::khr::pipeline_executable_properties::NAME), &mut statistics);
        chain = chained(chain, has(ash::khr::shader_float16_int8::NAME), &mut half);
        chain = chained(chain, has(ash::khr::zero_initialize_workgroup_memory::NAME), &mut zeroed);
        chain = chained(chain, has(ash::khr::shader_integer_dot_product::NAME), &mut dot);
        chain = chained(chain, has(ash::khr::shader_atomic_int64::NAME), &mut atomics);
        chain = chained(chain, has(ash::ext::shader_atomic_float::NAME), &mut float_atomics);
        // SAFETY: the device is of Vulkan 1.1, and the chain holds only structures of its extensions.
        unsafe { instance.get_physical_device_features2(physical.handle, &mut chain) };
        let core = chain.features;
        let subgroups = Subgroups::of(instance, physical, has);
        let stores_16_bits = half_storage.storage_buffer16_bit_access != 0
            && half_storage.uniform_and_storage_buffer16_bit_access != 0;
        let f16 = half.shader_float16 != 0 && stores_16_bits;
        Ok(Self {
            timeline: timeline.timeline_semaphore != 0,
            host_reset: reset.host_query_reset != 0,
            calibrated: has(ash::ext::calibrated_timestamps::NAME),
            statistics: statistics.pipeline_executable_info != 0,
            host_pointers: host_pointers(instance, physical, has),
            f16,
            f64: core.shader_float64 != 0,
            int8: half.shader_int8 != 0,
            int16: core.shader_int16 != 0 && stores_16_bits,
            int64: core.shader_int64 != 0,
            // naga allows them in buffers and in local memory, or in neither.
            int64_atomics: core.shader_int64 != 0
                && atomics.shader_buffer_int64_atomics != 0
                && atomics.shader_shared_int64_atomics != 0,
            f32_atomics: float_atomics.shader_buffer_float32_atomics != 0
                && float_atomics.shader_buffer_float32_atomic_add != 0,
            zeroed_local: zeroed.shader_zero_initialize_workgroup_memory != 0,
            packed_dot: dot.shader_integer_dot_product != 0,
            matrices: matrices::of(instance, physical, has, &subgroups)
                .into_iter()
                .filter(|product| f16 || !product.of(Scalar::F16))
                .collect(),
            subgroups,
            extensions,
        })
    }

    /// Whether the device has an extension.
    pub fn has(&self, name: &CStr) -> bool {
        named(&self.extensions, name)
    }

    /// The extensions to ask for: those whose use is known here, and the one that a driver
    /// without all of Vulkan wants named.
    pub fn wanted(&self) -> Vec<&'static CStr> {
        let table = [
            (ash::khr::timeline_semaphore::NAME, self.timeline),
            (ash::ext::host_query_reset::NAME, self.host_reset),
            (ash::ext::calibrated_timestamps::NAME, self.calibrated),
            (ash::khr::pipeline_executable_properties::NAME, self.statistics),
            (ash::khr::shader_float16_int8::NAME, self.f16 || self.int8),
            (ash::khr::zero_initialize_workgroup_memory::NAME, self.zeroed_local),
            (ash::khr::shader_integer_dot_product::NAME, self.packed_dot),
            (ash::khr::shader_atomic_int64::NAME, self.int64_atomics),
            (ash::ext::shader_atomic_float::NAME, self.f32_atomics),
            (ash::ext::subgroup_size_control::NAME, self.subgroups.features().is_some()),
            (ash::ext::external_memory_host::NAME, self.host_pointers.is_some()),
            (ash::khr::portability_subset::NAME, self.has(ash::khr::portability_subset::NAME)),
        ];
        let used = table.into_iter().filter(|&(_, used)| used).map(|(name, _)| name);
        used.chain(matrices::needed(&self.matrices)).collect()
    }

    /// What naga's validator allows in kernels.
    pub fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::IMMEDIATES;
        capabilities.set(
            Capabilities::SUBGROUP | Capabilities::SUBGROUP_BARRIER,
            self.subgroups.operations,
        );
        capabilities.set(Capabilities::SHADER_FLOAT16, self.f16);
        capabilities.set(Capabilities::FLOAT64, self.f64);
        capabilities.set(Capabilities::SHADER_INT16, self.int16);
        capabilities.set(Capabilities::SHADER_INT64, self.int64);
        capabilities.set(Capabilities::SHADER_INT64_ATOMIC_ALL_OPS, self.int64_atomics);
        capabilities.set(Capabilities::SHADER_FLOAT32_ATOMIC, self.f32_atomics);
        capabilities.set(Capabilities::COOPERATIVE_MATRIX, !self.matrices.is_empty());
        capabilities
    }

    /// The names that suites use.
    pub fn names(&self) -> Vec<String> {
        let table = [
            ("f16", self.f16),
            ("f64", self.f64),
            ("f32_atomics", self.f32_atomics),
            ("i64_atomics", self.int64_atomics),
            ("subgroups", self.subgroups.operations),
            (SPIRV, true),
            (SUBGROUP_SIZE, self.subgroups.max_of_size.is_some()),
        ];
        let known = table.into_iter().filter(|&(_, has)| has).map(|(name, _)| name.to_owned());
        known.chain(self.matrices.iter().map(MatrixProduct::to_string)).collect()
    }
}

/// The chain with a structure more, where that is wanted.
pub(super) fn chained<'a, T: vk::ExtendsPhysicalDeviceFeatures2>(
    chain: vk::PhysicalDeviceFeatures2<'a>,
    is_wanted: bool,
    feature: &'a mut T,
) -> vk::PhysicalDeviceFeatures2<'a> {
    if is_wanted { chain.push_next(feature) } else { chain }
}

/// On what multiple of bytes storage buffers can be imported from the program's own memory, where they can.
#[expect(unsafe_code, reason = "ash's queries are foreign functions")]
fn host_pointers(
    instance: &Instance,
    physical: Physical<'_>,
    has: impl Fn(&CStr) -> bool,
) -> Option<u64> {
    if !has(ash::ext::external_memory_host::NAME) {
        return None;
    }
    let request = vk::PhysicalDeviceExternalBufferInfo::default()
        .usage(super::buffer::usage())
        .handle_type(super::imported::HANDLE);
    let mut buffers = vk::ExternalBufferProperties::default();
    // SAFETY: the instance is alive and of Vulkan 1.1, and the handle came from it.
    unsafe {
        instance.get_physical_device_external_buffer_properties(
            physical.handle,
            &request,
            &mut buffers,
        );
    }
    let features = buffers.external_memory_properties.external_memory_features;
    let host: vk::PhysicalDeviceExternalMemoryHostPropertiesEXT<'_> = physical.properties();
    let alignment = host.min_imported_host_pointer_alignment;
    let usable = features.contains(vk::ExternalMemoryFeatureFlags::IMPORTABLE)
        && alignment.is_power_of_two();
    usable.then_some(alignment)
}
