//! OpenCL devices. The OpenCL library is loaded when the first device is requested: gpubench
//! starts where there is none.
//!
//! `object` owns OpenCL's handles; `query` and `info` describe devices; `memory` and `kernel`
//! hold what a device was given; `run` executes recordings, `transfer` what they move, and
//! `timeline` reads the clock.

mod arguments;
mod clblast;
mod device;
mod device_buffer;
mod doctor;
mod fixed_group;
mod images;
mod info;
mod kernel;
mod log;
mod memory;
mod object;
mod pages;
mod parts;
mod prepare;
mod programs;
mod query;
mod run;
mod signatures;
mod status;
mod subgroup_size;
mod transfer;
mod turned;

use super::{Backend, Device};
use crate::doctor::{Finding, Machine};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{DeviceInfo, KernelSource, Signature};

/// The variable that names OpenCL libraries, separated by semicolons.
const LIBRARY: &str = "OPENCL_DYLIB_PATH";

/// The OpenCL backend.
pub struct Opencl;

/// The variable and value by which a process that is to use OpenCL finds a vendor's own library too, where there is no
/// loader of drivers: phones and boards have it in such folders. `None` where the user has set it.
pub fn library_variable() -> Option<(&'static str, String)> {
    if !cfg!(unix) || cfg!(target_os = "macos") || std::env::var_os(LIBRARY).is_some() {
        return None;
    }
    let lib = if cfg!(target_pointer_width = "64") { "lib64" } else { "lib" };
    const OWN: [&str; 4] =
        ["libOpenCL.so", "egl/libGLES_mali.so", "libPVROCL.so", "libOpenCL_adreno.so"];
    let own = |folder: &str| OWN.map(|file| format!("{folder}/{lib}/{file}"));
    let loaders = ["libOpenCL.so.1", "libOpenCL.so"].map(str::to_owned);
    let all = loaders.into_iter().chain(["/vendor", "/system/vendor"].into_iter().flat_map(own));
    Some((LIBRARY, all.collect::<Vec<_>>().join(";")))
}

impl Backend for Opencl {
    fn name(&self) -> &'static str {
        "opencl"
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>> {
        Ok(info::all()?.into_iter().map(|found| found.info).collect())
    }

    fn open(&self, index: usize) -> Result<Box<dyn Device>> {
        match info::all()?.into_iter().nth(index) {
            Some(found) => Ok(Box::new(device::OpenclDevice::open(found)?)),
            None => Err(Error::Usage(format!("there is no opencl device {index}"))),
        }
    }

    fn signatures(&self, index: usize, source: &KernelSource) -> Result<Vec<Signature>> {
        match info::all()?.into_iter().nth(index) {
            Some(found) => signatures::signatures(&found, source),
            None => Err(Error::Usage(format!("there is no opencl device {index}"))),
        }
    }

    fn environment(&self) -> &'static [&'static str] {
        &[
            "CUDA_VISIBLE_DEVICES",
            "GALLIUM_",
            "GPU_",
            "HIP_VISIBLE_DEVICES",
            "LP_",
            "MESA_",
            "OCL_ICD",
            "OPENCL_DYLIB_PATH",
            "POCL_",
            "ROCR_VISIBLE_DEVICES",
            "ZE_AFFINITY_MASK",
        ]
    }

    fn doctor(&self, machine: &Machine<'_>) -> Vec<Finding> {
        doctor::examine(machine)
    }
}
