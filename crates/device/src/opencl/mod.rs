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
mod libraries;
mod log;
mod memory;
mod object;
mod options;
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

use super::{Backend, Device, nth};
use crate::doctor::{Finding, Machine};
use gpubench_core::error::Result;
use gpubench_core::gpu::{DeviceInfo, KernelSource, Signature};
pub use libraries::library_variable;

/// The OpenCL backend.
pub struct Opencl;

impl Backend for Opencl {
    fn name(&self) -> &'static str {
        "opencl"
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>> {
        Ok(info::all()?.into_iter().map(|found| found.info).collect())
    }

    fn open(&self, index: usize) -> Result<Box<dyn Device>> {
        let found = nth(self.name(), info::all()?, index)?;
        Ok(Box::new(device::OpenclDevice::open(found)?))
    }

    fn signatures(&self, index: usize, source: &KernelSource) -> Result<Vec<Signature>> {
        signatures::signatures(&nth(self.name(), info::all()?, index)?, source)
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
            libraries::LIBRARY,
            "POCL_",
            "ROCR_VISIBLE_DEVICES",
            "ZE_AFFINITY_MASK",
        ]
    }

    fn doctor(&self, machine: &Machine<'_>) -> Vec<Finding> {
        doctor::examine(machine)
    }
}
