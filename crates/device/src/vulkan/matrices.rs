//! Which products of matrices the device's matrix units do.

use super::abilities::chained;
use super::bfloat16::{self, Bfloat16Features};
use super::facts::Physical;
use super::instance::Instance;
use super::subgroups::Subgroups;
use ash::vk;
use gpubench_core::gpu::{MatrixProduct, Scalar};
use std::collections::BTreeSet;
use std::ffi::CStr;

/// What kernels with such products need: the extensions, and of each its feature.
const NEEDED: [&CStr; 2] =
    [ash::khr::cooperative_matrix::NAME, ash::khr::vulkan_memory_model::NAME];

/// The extensions that these products need.
pub(super) fn needed(products: &BTreeSet<MatrixProduct>) -> Vec<&'static CStr> {
    let bf16 = has_bf16(products).then_some(bfloat16::NAME);
    if products.is_empty() { vec![] } else { NEEDED.into_iter().chain(bf16).collect() }
}

/// Whether any is of bf16.
pub(super) fn has_bf16(products: &BTreeSet<MatrixProduct>) -> bool {
    products.iter().any(|product| product.of(Scalar::Bf16))
}

/// Their features, for a question or a request.
#[derive(Default)]
pub(super) struct Features {
    matrices: vk::PhysicalDeviceCooperativeMatrixFeaturesKHR<'static>,
    model: vk::PhysicalDeviceVulkanMemoryModelFeatures<'static>,
    bf16: Bfloat16Features,
}

impl Features {
    /// All that is needed.
    pub fn all() -> Self {
        let none = Self::default();
        Self {
            matrices: none.matrices.cooperative_matrix(true),
            // Where the model is enabled, atomics of all kernels need its scope.
            model: none.model.vulkan_memory_model(true).vulkan_memory_model_device_scope(true),
            bf16: Bfloat16Features::of_matrices(),
        }
    }

    /// A chain that has them, too; those of bf16 where the device knows that.
    pub fn chained<'c>(
        &'c mut self,
        chain: vk::PhysicalDeviceFeatures2<'c>,
        knows_bf16: bool,
    ) -> vk::PhysicalDeviceFeatures2<'c> {
        let Self { matrices, model, bf16 } = self;
        chained(chain.push_next(matrices).push_next(model), knows_bf16, bf16)
    }

    fn are_there(&self) -> bool {
        let Self { matrices, model, .. } = self;
        let scope = model.vulkan_memory_model_device_scope;
        ![matrices.cooperative_matrix, model.vulkan_memory_model, scope].contains(&vk::FALSE)
    }
}

/// The products of a subgroup's matrices that compute kernels have, each of one type of factors and one of sums.
#[expect(unsafe_code, reason = "ash's queries are foreign functions")]
pub(super) fn of(
    instance: &Instance,
    physical: Physical<'_>,
    has: impl Fn(&CStr) -> bool,
    subgroups: &Subgroups,
) -> BTreeSet<MatrixProduct> {
    // Its pipelines say that no subgroup is cut short.
    if !NEEDED.into_iter().all(&has) || !subgroups.full {
        return BTreeSet::new();
    }
    let mut features = Features::default();
    let mut chain = features.chained(vk::PhysicalDeviceFeatures2::default(), has(bfloat16::NAME));
    // SAFETY: the device is of Vulkan 1.1, and the chain holds only structures of its extensions.
    unsafe { instance.get_physical_device_features2(physical.handle, &mut chain) };
    let limits: vk::PhysicalDeviceCooperativeMatrixPropertiesKHR<'_> = physical.properties();
    let stages = limits.cooperative_matrix_supported_stages;
    if !features.are_there() || !stages.contains(vk::ShaderStageFlags::COMPUTE) {
        return BTreeSet::new();
    }
    let mut products: BTreeSet<_> =
        instance.matrix_products(physical.handle, product).into_iter().collect();
    products.retain(|product| features.bf16.has_matrices() || !product.of(Scalar::Bf16));
    products
}

/// One of a device's list; `None` where a suite cannot say what it is.
fn product(of: &vk::CooperativeMatrixPropertiesKHR<'_>) -> Option<MatrixProduct> {
    let plain = of.scope == vk::ScopeKHR::SUBGROUP && of.saturating_accumulation == 0;
    if !plain || of.a_type != of.b_type || of.c_type != of.result_type {
        return None;
    }
    let shape = [of.m_size, of.n_size, of.k_size];
    Some(MatrixProduct { shape, factor: scalar(of.a_type)?, sum: scalar(of.c_type)? })
}

fn scalar(r#type: vk::ComponentTypeKHR) -> Option<Scalar> {
    Some(match r#type {
        vk::ComponentTypeKHR::FLOAT16 => Scalar::F16,
        vk::ComponentTypeKHR::FLOAT32 => Scalar::F32,
        vk::ComponentTypeKHR::FLOAT64 => Scalar::F64,
        vk::ComponentTypeKHR::SINT8 => Scalar::I8,
        vk::ComponentTypeKHR::SINT16 => Scalar::I16,
        vk::ComponentTypeKHR::SINT32 => Scalar::I32,
        vk::ComponentTypeKHR::SINT64 => Scalar::I64,
        vk::ComponentTypeKHR::UINT8 => Scalar::U8,
        vk::ComponentTypeKHR::UINT16 => Scalar::U16,
        vk::ComponentTypeKHR::UINT32 => Scalar::U32,
        vk::ComponentTypeKHR::UINT64 => Scalar::U64,
        bfloat16::COMPONENT => Scalar::Bf16,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_has_one_type_of_factors_and_one_of_sums_and_no_saturation() {
        let listed = vk::CooperativeMatrixPropertiesKHR::default()
            .m_size(16)
            .n_size(8)
            .k_size(32)
            .a_type(vk::ComponentTypeKHR::SINT8)
            .b_type(vk::ComponentTypeKHR::SINT8)
            .c_type(vk::ComponentTypeKHR::SINT32)
            .result_type(vk::ComponentTypeKHR::SINT32)
            .scope(vk::ScopeKHR::SUBGROUP);
        let name = |of| product(&of).map(|product| product.to_string());
        assert_eq!(name(listed).as_deref(), Some("matrix_16x8x32_i8_i32"));
        assert_eq!(name(listed.saturating_accumulation(true)), None);
        assert_eq!(name(listed.scope(vk::ScopeKHR::WORKGROUP)), None);
        assert_eq!(name(listed.b_type(vk::ComponentTypeKHR::UINT8)), None);
        assert_eq!(name(listed.result_type(vk::ComponentTypeKHR::FLOAT32)), None);
        let of = |new| name(listed.a_type(new).b_type(new));
        assert_eq!(of(bfloat16::COMPONENT).as_deref(), Some("matrix_16x8x32_bf16_i32"));
        // Types that later extensions add, such as those of 8 bits.
        assert_eq!(of(vk::ComponentTypeKHR::from_raw(1_000_491_002)), None);
    }
}
