//! The loader, an instance of Vulkan 1.1, and the devices that it lists.

use super::facts::Physical;
use super::status::checked;
use ash::{Entry, vk};
use gpubench_core::error::{Error, Result};
use std::ffi::CStr;
use std::ops::Deref;
use std::rc::Rc;

/// An instance, destroyed when the last that was made from it is gone.
pub(super) struct Instance {
    instance: ash::Instance,
    /// The loaded library: nothing may be called once it is gone.
    entry: Entry,
}

impl Deref for Instance {
    type Target = ash::Instance;

    fn deref(&self) -> &ash::Instance {
        &self.instance
    }
}

impl Drop for Instance {
    #[expect(unsafe_code, reason = "Vulkan call")]
    fn drop(&mut self) {
        // SAFETY: devices hold a reference to the instance, so none of them is left.
        unsafe { self.instance.destroy_instance(None) }
    }
}

impl Instance {
    /// An instance; `None` where no Vulkan is installed.
    ///
    /// # Errors
    /// `Unsupported` where the loader is older than Vulkan 1.1, else what it says.
    #[expect(unsafe_code, reason = "Vulkan calls")]
    pub fn load() -> Result<Option<Rc<Self>>> {
        // SAFETY: the system's Vulkan loader has no conditions on being loaded.
        let entry = match unsafe { Entry::load() } {
            Ok(entry) => entry,
            Err(error) => {
                tracing::debug!(%error, "no Vulkan loader");
                return Ok(None);
            }
        };
        // SAFETY: the entry is loaded; the call has no other conditions.
        let version = checked("asking for the loader's version", unsafe {
            entry.try_enumerate_instance_version()
        })?;
        new_enough(version.unwrap_or(vk::API_VERSION_1_0))?;
        let portability = ash::khr::portability_enumeration::NAME;
        // SAFETY: as above.
        let extensions = checked("listing instance extensions", unsafe {
            entry.enumerate_instance_extension_properties(None)
        })?;
        let has_portability = named(&extensions, portability);
        let application = vk::ApplicationInfo::default()
            .application_name(c"gpubench")
            .api_version(vk::API_VERSION_1_1);
        let names = [portability.as_ptr()];
        let mut create = vk::InstanceCreateInfo::default().application_info(&application);
        if has_portability {
            create = create
                .enabled_extension_names(&names)
                .flags(vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR);
        }
        // SAFETY: the structures live through the call.
        match unsafe { entry.create_instance(&create, None) } {
            Ok(instance) => Ok(Some(Rc::new(Self { instance, entry }))),
            // A loader without any driver that loads.
            Err(vk::Result::ERROR_INCOMPATIBLE_DRIVER) => Ok(None),
            Err(code) => Err(super::status::error("creating a Vulkan instance", code)),
        }
    }

    /// Every physical device, in the loader's order.
    #[expect(unsafe_code, reason = "Vulkan call")]
    pub fn physical(&self) -> Result<Vec<vk::PhysicalDevice>> {
        // SAFETY: the instance is alive.
        let listed = unsafe { self.instance.enumerate_physical_devices() };
        // What the loader answers where the drivers have no device.
        if listed == Err(vk::Result::ERROR_INITIALIZATION_FAILED) {
            return Ok(vec![]);
        }
        checked("listing Vulkan devices", listed)
    }

    /// Whether timestamps can be compared with the device's "now", for which its extension is there.
    #[expect(unsafe_code, reason = "Vulkan call")]
    pub fn has_device_clock(&self, handle: vk::PhysicalDevice) -> bool {
        let calibrated =
            ash::ext::calibrated_timestamps::Instance::new(&self.entry, &self.instance);
        // SAFETY: the instance is alive, the handle came from it, and the device has the extension.
        let domains = unsafe { calibrated.get_physical_device_calibrateable_time_domains(handle) };
        domains.is_ok_and(|domains| domains.contains(&vk::TimeDomainEXT::DEVICE))
    }

    /// What is to be `read` of each product of matrices that a device lists, for which its extension is there.
    #[expect(unsafe_code, reason = "Vulkan call")]
    pub fn matrix_products<T>(
        &self,
        handle: vk::PhysicalDevice,
        read: impl Fn(&vk::CooperativeMatrixPropertiesKHR<'_>) -> Option<T>,
    ) -> Vec<T> {
        let matrices = ash::khr::cooperative_matrix::Instance::new(&self.entry, &self.instance);
        // SAFETY: the instance is alive, the handle came from it, and the device has the extension.
        let listed = unsafe { matrices.get_physical_device_cooperative_matrix_properties(handle) };
        listed.unwrap_or_default().iter().filter_map(read).collect()
    }

    /// What is asked of a device.
    pub fn of(&self, handle: vk::PhysicalDevice) -> Physical<'_> {
        Physical { instance: &self.instance, handle }
    }
}

/// Vulkan 1.0's loader lacks what tells devices and their limits apart.
fn new_enough(version: u32) -> Result<()> {
    if version >= vk::API_VERSION_1_1 {
        return Ok(());
    }
    Err(Error::Unsupported(format!(
        "the Vulkan loader is of {}; gpubench needs 1.1: update the loader (libvulkan1)",
        super::facts::api(version)
    )))
}

/// Whether an extension is among those listed.
pub(super) fn named(extensions: &[vk::ExtensionProperties], name: &CStr) -> bool {
    extensions.iter().any(|extension| extension.extension_name_as_c_str() == Ok(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_loader_is_named() {
        assert!(new_enough(vk::API_VERSION_1_1).is_ok());
        let Err(Error::Unsupported(text)) = new_enough(vk::API_VERSION_1_0) else {
            panic!("1.0 is too old")
        };
        assert!(text.contains("Vulkan 1.0.0") && text.contains("1.1"), "{text}");
    }
}
