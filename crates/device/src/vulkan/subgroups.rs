//! Subgroups: what kernels do with them, and how many work-items they may be asked to have.

use super::facts::Physical;
use super::instance::Instance;
use ash::vk;
use std::ffi::CStr;

/// What a device says of its subgroups.
#[derive(Clone, Default)]
pub(super) struct Subgroups {
    /// Whether kernels have all operations that WGSL has.
    pub operations: bool,
    /// Fewest and most work-items.
    pub range: Option<[u32; 2]>,
    /// Most subgroups of a group that asks for their size, where it may.
    pub max_of_size: Option<u32>,
    /// Whether a kernel may ask that none is cut short.
    pub full: bool,
}

impl Subgroups {
    /// Asks a device.
    #[expect(unsafe_code, reason = "ash's queries are foreign functions")]
    pub fn of(instance: &Instance, physical: Physical<'_>, has: impl Fn(&CStr) -> bool) -> Self {
        let own: vk::PhysicalDeviceSubgroupProperties<'_> = physical.properties();
        let fixed = (own.subgroup_size > 0).then_some([own.subgroup_size; 2]);
        let operations = has_operations(&own);
        if !has(ash::ext::subgroup_size_control::NAME) {
            return Self { operations, range: fixed, ..Self::default() };
        }
        let sizes: vk::PhysicalDeviceSubgroupSizeControlProperties<'_> = physical.properties();
        let mut features = vk::PhysicalDeviceSubgroupSizeControlFeatures::default();
        let mut chain = vk::PhysicalDeviceFeatures2::default().push_next(&mut features);
        // SAFETY: the device is of Vulkan 1.1, and the chain holds only a structure of its extension.
        unsafe { instance.get_physical_device_features2(physical.handle, &mut chain) };
        let range = (sizes.min_subgroup_size > 0)
            .then_some([sizes.min_subgroup_size, sizes.max_subgroup_size]);
        let has_choice = features.subgroup_size_control != 0
            && sizes.required_subgroup_size_stages.contains(vk::ShaderStageFlags::COMPUTE);
        let max_of_size = has_choice.then_some(sizes.max_compute_workgroup_subgroups);
        let full = features.compute_full_subgroups != 0;
        Self { operations, range: range.or(fixed), max_of_size, full }
    }

    /// What is to be asked for with the device, where its extension is of use.
    pub fn features(&self) -> Option<vk::PhysicalDeviceSubgroupSizeControlFeatures<'static>> {
        let wanted = self.max_of_size.is_some() || self.full;
        wanted.then(|| {
            vk::PhysicalDeviceSubgroupSizeControlFeatures::default()
                .subgroup_size_control(self.max_of_size.is_some())
                .compute_full_subgroups(self.full)
        })
    }

    /// Whether groups of `work_items` run in subgroups of `size`; why not otherwise.
    ///
    /// # Errors
    /// What the device has instead.
    pub fn check(&self, size: u32, work_items: u64) -> Result<(), String> {
        let [smallest, largest] = self.range.unwrap_or([1, 1]);
        let has = size.is_power_of_two() && (smallest..=largest).contains(&size);
        if !has || smallest < largest && self.max_of_size.is_none() {
            return Err(format!(
                "subgroups of {size} work-items; the device has {smallest} to {largest}"
            ));
        }
        match self.max_of_size {
            Some(max) if work_items > u64::from(size) * u64::from(max) => Err(format!(
                "groups of {work_items} work-items in subgroups of {size}; the device has at most {max} of them in a group"
            )),
            _ => Ok(()),
        }
    }
}

fn has_operations(subgroup: &vk::PhysicalDeviceSubgroupProperties<'_>) -> bool {
    let needed = vk::SubgroupFeatureFlags::BASIC
        | vk::SubgroupFeatureFlags::VOTE
        | vk::SubgroupFeatureFlags::ARITHMETIC
        | vk::SubgroupFeatureFlags::BALLOT
        | vk::SubgroupFeatureFlags::SHUFFLE
        | vk::SubgroupFeatureFlags::SHUFFLE_RELATIVE
        | vk::SubgroupFeatureFlags::QUAD;
    subgroup.supported_stages.contains(vk::ShaderStageFlags::COMPUTE)
        && subgroup.supported_operations.contains(needed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_one_that_the_device_has_and_its_groups_are_no_larger_than_it_takes() {
        let device = |range, max_of_size| Subgroups { range, max_of_size, ..Subgroups::default() };
        let rdna = device(Some([32, 64]), Some(16));
        assert_eq!((rdna.check(32, 512), rdna.check(64, 1024)), (Ok(()), Ok(())));
        assert!(rdna.check(32, 513).unwrap_err().contains("at most 16"));
        assert!(rdna.check(16, 64).unwrap_err().contains("has 32 to 64"));
        let fixed = device(Some([32, 32]), None);
        assert_eq!(fixed.check(32, 1024), Ok(()));
        assert!(fixed.check(64, 64).is_err());
        assert!(device(Some([8, 32]), None).check(16, 64).is_err(), "it takes no request");
        assert!(device(Some([8, 32]), Some(64)).check(24, 64).is_err());
        assert!(device(None, None).check(4, 64).is_err());
    }
}
