//! The registry of backends: a line each.

#[cfg(feature = "testing")]
use super::testing;
use super::{Backend, browser, opencl, sim, vulkan, wgpu};

/// Every backend of this build that is asked for devices where none is named, in the order in which results
/// are shown. Shared queues, the simulated devices and browsers are requested by name.
pub fn all() -> Vec<Box<dyn Backend>> {
    vec![Box::new(opencl::Opencl), Box::new(vulkan::Vulkan::default()), Box::new(wgpu::Wgpu)]
}

/// The backend called `name`, the simulated one (with the shipped devices) included, and in tests the
/// faulty one.
pub fn by_name(name: &str) -> Option<Box<dyn Backend>> {
    known().into_iter().find(|backend| backend.name() == name)
}

/// Every backend of this build.
pub(crate) fn known() -> Vec<Box<dyn Backend>> {
    let mut known = all();
    known.push(Box::new(vulkan::Vulkan { share_queues: true, ..Default::default() }));
    known.push(Box::new(sim::Sim::default()));
    known.push(Box::new(browser::Browser::from_env()));
    #[cfg(feature = "testing")]
    known.extend(testing::Faulty::from_env().map(|faulty| Box::new(faulty) as Box<dyn Backend>));
    known
}
