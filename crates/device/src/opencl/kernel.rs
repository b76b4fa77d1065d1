//! Compiling a kernel, and what the compiler says of it.

use super::arguments;
use super::fixed_group;
use super::images;
use super::log;
use super::object::{self, Owned};
use super::options::options;
use super::programs::{Compiled, Programs};
use super::query::{Query, number};
use super::status::checked;
use super::subgroup_size;
use crate::image_limits::samplers;
use crate::validation;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{
    Argument, BuildReport, DeviceInfo, ImageOf, KernelSource, Language, Slice,
};
use gpubench_core::hash::from_hex;
use gpubench_core::units::Bytes;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, Device};
use opencl3::error_codes::{
    CL_BUILD_PROGRAM_FAILURE, CL_INVALID_ARG_SIZE, CL_INVALID_ARG_VALUE, CL_INVALID_KERNEL_NAME,
    ClError,
};
use opencl3::kernel as cl;
use opencl3::memory::Sampler;
use opencl3::program::{CL_PROGRAM_BUILD_LOG, Program, build_program, get_program_build_data};
use opencl3::types::{cl_device_id, cl_mem};
use std::ffi::{CString, c_void};
use std::ptr;
use std::rc::Rc;
use std::time::Instant;

/// A compiled kernel and the arguments it was last given.
pub(super) struct Kernel {
    pub(super) object: Owned<cl::Kernel>,
    /// Work-items per group.
    pub(super) group: [usize; 3],
    arguments: Vec<Argument>,
    /// The buffers that it reads from constant memory, and what the device has of one there.
    in_constant_memory: Vec<u32>,
    max_constant: Option<Bytes>,
    /// The images that it reads buffers as, by position, and their samplers.
    images: Vec<Option<ImageOf>>,
    samplers: Vec<Option<Owned<Sampler>>>,
    bindings: usize,
    params_bytes: usize,
    bound: Option<(Vec<Slice>, Vec<u8>)>,
}

impl Kernel {
    /// How many buffers it takes, and bytes of parameters.
    pub(super) fn takes(&self) -> (usize, usize) {
        (self.bindings, self.params_bytes)
    }

    /// Checks what a launch gives to be read from constant memory.
    ///
    /// # Errors
    /// `Unsupported` where the device has less there.
    pub(super) fn check_constant_memory(&self, buffers: &[Slice]) -> Result<()> {
        let given = self.in_constant_memory.iter().filter_map(|i| buffers.get(*i as usize));
        fits_constant_memory(given.map(|slice| slice.len), self.max_constant)
    }

    /// The slices of a launch that it reads as images.
    pub(super) fn images<'a>(
        &'a self,
        buffers: &'a [Slice],
    ) -> impl Iterator<Item = (&'a Slice, ImageOf)> {
        buffers.iter().zip(&self.images).filter_map(|(slice, kind)| Some((slice, (*kind)?)))
    }

    /// Forgets the arguments: the memory behind them has changed.
    pub(super) fn unbind(&mut self) {
        self.bound = None;
    }

    /// Sets the arguments of the next launch, unless they are those of the last one. `memory`
    /// finds the buffer behind a slice, or the image of it.
    pub(super) fn bind(
        &mut self,
        buffers: &[Slice],
        params: &[u8],
        memory: impl Fn(&Slice, Option<ImageOf>) -> Result<cl_mem>,
    ) -> Result<()> {
        if self.bound.as_ref().is_some_and(|(b, p)| b == buffers && p == params) {
            return Ok(());
        }
        self.bound = None;
        for (index, argument) in (0..).zip(&self.arguments) {
            let set = match argument {
                Argument::Buffer(i) => {
                    let i = *i as usize;
                    set_handle(&self.object, index, memory(&buffers[i], self.images[i])?)
                }
                Argument::Sampler(i) => match &self.samplers[*i as usize] {
                    Some(sampler) => set_handle(&self.object, index, sampler.get()),
                    None => Err(ClError(CL_INVALID_ARG_VALUE)),
                },
                _ => set_bytes(&self.object, index, *argument, params),
            };
            checked(&format!("setting argument {index}"), set)?;
        }
        self.bound = Some((buffers.to_vec(), params.to_vec()));
        Ok(())
    }
}

/// Whether buffers of `given` bytes fit a device that has `max` of one in constant memory.
fn fits_constant_memory(given: impl Iterator<Item = Bytes>, max: Option<Bytes>) -> Result<()> {
    match max.zip(given.max()) {
        Some((max, len)) if len > max => Err(Error::Unsupported(format!(
            "a buffer of {len} in constant memory; the device has {max} of one buffer there"
        ))),
        _ => Ok(()),
    }
}

/// Compiles `source` for the device.
///
/// # Errors
/// `Unsupported` when the group does not fit the device or the kernel's use of it, `Build`
/// with the compiler's log otherwise.
pub(super) fn build(
    programs: &mut Programs,
    (context, device): (&Context, cl_device_id),
    info: &DeviceInfo,
    source: &KernelSource,
) -> Result<(Kernel, BuildReport)> {
    if source.language != Language::Opencl {
        return Err(Error::Unsupported("an OpenCL device takes OpenCL C, not WGSL".into()));
    }
    validation::group(source, info)?;
    images::check(device, info, source)?;
    let mut options = options(source, info)?;
    let subgroup = subgroup_size::asked(source, info)?;
    let begun = Instant::now();
    let place = (context, device);
    let Fitting { object, compiled, kept, attributes } =
        fitting(programs, place, source, (subgroup, &options))?;
    let seconds = if kept { compiled.seconds } else { begun.elapsed().as_secs_f64() };
    for attribute in attributes {
        options = format!("{options} with {attribute}");
    }
    let report = BuildReport {
        kept,
        options,
        log: compiled.log.clone(),
        ..report(&object, device, seconds)
    };
    check_resources(&object, device, info, source)?;
    let size = work_group_number(&object, device, subgroup_size::COMPILED);
    subgroup_size::check(size, source.settings.subgroup)?;
    arguments::check(&object, source).map_err(|log| build_error(source, log))?;
    let images = source.images();
    let kernel = Kernel {
        samplers: samplers(&images, |filter| images::sampler(context, filter))?,
        images,
        in_constant_memory: arguments::in_constant_memory(&object, &source.arguments()),
        max_constant: Query(Device::new(device))
            .number(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE)
            .map(Bytes),
        object,
        group: source.group.map(|n| n as usize),
        arguments: source.arguments(),
        bindings: source.bindings.len(),
        params_bytes: source.params_bytes as usize,
        bound: None,
    };
    Ok((kernel, report))
}

/// A kernel with the attributes that it was compiled with.
struct Fitting {
    object: Owned<cl::Kernel>,
    compiled: Rc<Compiled>,
    kept: bool,
    attributes: Vec<String>,
}

/// Compiles a kernel for the `subgroup` that it asks for; and for its group as well, where the driver runs none so large otherwise.
fn fitting(
    programs: &mut Programs,
    place: (&Context, cl_device_id),
    source: &KernelSource,
    (subgroup, options): (Option<String>, &str),
) -> Result<Fitting> {
    let asked = subgroup.as_deref();
    let with = asked.map(|one| fixed_group::with_attributes(source, &[Some(one)]));
    let first = with.as_ref().unwrap_or(source);
    let (compiled, kept) = programs.compiled(place, first, options)?;
    let object = entry(&compiled.program, source)?;
    if allowed_group(&object, place.1, source) < source.group_size()
        && let Some(fixed) = fixed_group::with_fixed_group(source, asked)
        && let Ok((again, was_kept)) = programs.compiled(place, &fixed, options)
        && let Ok(other) = entry(&again.program, source)
    {
        let group = format!("reqd_work_group_size({})", fixed_group::list(source));
        let attributes = std::iter::once(group).chain(subgroup).collect();
        return Ok(Fitting { object: other, compiled: again, kept: kept && was_kept, attributes });
    }
    Ok(Fitting { object, compiled, kept, attributes: subgroup.into_iter().collect() })
}

/// The program, and what its compiler said.
///
/// # Errors
/// `Build` with the compiler's log.
pub(super) fn compile(
    context: &Context,
    device: cl_device_id,
    source: &KernelSource,
    options: &str,
) -> Result<(Owned<Program>, String)> {
    let headers = source.settings.expanded.as_ref().map_or(&[][..], |expanded| &expanded.headers);
    let file = source.origin.file();
    // PoCL's compiler crashes over nothing.
    if source.text.trim().is_empty() {
        return Err(build_error(source, format!("{file}: there is no kernel in it")));
    }
    let program = match source.settings.spirv {
        true => {
            let bytes = from_hex(&source.text)
                .ok_or_else(|| build_error(source, "it is no SPIR-V".to_owned()))?;
            object::program_of_spirv(context, &bytes)?
        }
        false => object::program(context, source.opencl())?,
    };
    let options_c = c_string(options)?;
    // Not by `Program::build`: it asks for the kernels' names as well, in the time of the build,
    // and calls a build failed where it gets none.
    let built = build_program(program.get(), &[device], &options_c, None, ptr::null_mut());
    let log = get_program_build_data(program.get(), device, CL_PROGRAM_BUILD_LOG)
        .map(|bytes| log::clean(&bytes, file, headers))
        .unwrap_or_default();
    match built {
        Ok(()) => Ok((program, log)),
        Err(CL_BUILD_PROGRAM_FAILURE) => Err(build_error(source, log)),
        // Some drivers answer a syntax error with another code, but always with a log.
        Err(_) if !log.is_empty() => Err(build_error(source, log)),
        Err(code) => Err(super::status::error("compiling", code)),
    }
}

fn entry(program: &Program, source: &KernelSource) -> Result<Owned<cl::Kernel>> {
    match object::kernel(program, &c_string(&source.entry)?) {
        Err(ClError(CL_INVALID_KERNEL_NAME)) => {
            let file = source.origin.file();
            let found = match kernel_names(program) {
                Ok(none) if none.is_empty() => "; there is no kernel in it".into(),
                Ok(names) => format!("; there are: {}", names.join(", ")),
                Err(_) => String::new(),
            };
            let log = format!("{file}: no kernel called `{}`{found}", source.entry);
            Err(build_error(source, log))
        }
        kernel => checked("creating the kernel", kernel),
    }
}

/// The kernels of a compiled text.
pub(super) fn kernel_names(program: &Program) -> Result<Vec<String>> {
    // Of a text without kernels PoCL leaves the names as the memory was.
    if checked("counting the kernels", program.get_num_kernels())? == 0 {
        return Ok(vec![]);
    }
    let names = checked("listing the kernels", program.get_kernel_names())?;
    let names = names.split(';').map(str::trim).filter(|name| !name.is_empty());
    Ok(names.map(str::to_owned).collect())
}

pub(super) fn build_error(source: &KernelSource, log: String) -> Error {
    Error::Build { kernel: format!("{} ({})", source.entry, source.origin.file()), log }
}

fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::Usage(format!("{text:?} contains a null character")))
}

fn work_group_number(kernel: &cl::Kernel, device: cl_device_id, what: u32) -> Option<u64> {
    number(&kernel.get_work_group_data(device, what).ok()?)
}

fn report(kernel: &cl::Kernel, device: cl_device_id, seconds: f64) -> BuildReport {
    let number = |what| work_group_number(kernel, device, what);
    BuildReport {
        seconds,
        private_bytes: number(cl::CL_KERNEL_PRIVATE_MEM_SIZE),
        local_bytes: number(cl::CL_KERNEL_LOCAL_MEM_SIZE),
        ..BuildReport::default()
    }
}

/// The largest group that the driver runs of a kernel: smaller than the device's, where it uses many registers, or
/// where the compiler expected a smaller one. Of one that it was compiled for, launching it says more: NVIDIA's driver
/// answers 256 for every kernel.
fn allowed_group(kernel: &cl::Kernel, device: cl_device_id, source: &KernelSource) -> u64 {
    if fixed_group::of(kernel, device) == source.group.map(|n| n as usize) {
        return u64::MAX;
    }
    work_group_number(kernel, device, cl::CL_KERNEL_WORK_GROUP_SIZE).unwrap_or(u64::MAX)
}

/// A kernel that uses many registers or much local memory allows smaller groups than the device.
fn check_resources(
    kernel: &cl::Kernel,
    device: cl_device_id,
    info: &DeviceInfo,
    source: &KernelSource,
) -> Result<()> {
    let max_group_size = allowed_group(kernel, device, source);
    if max_group_size < source.group_size() {
        return Err(Error::Unsupported(format!(
            "the driver runs at most {max_group_size} work-items of this kernel in a group, not {}: it needs too many registers",
            source.group_size()
        )));
    }
    let local = work_group_number(kernel, device, cl::CL_KERNEL_LOCAL_MEM_SIZE).map(Bytes);
    if let Some(local) = local
        && local > info.local_memory
    {
        return Err(Error::Unsupported(format!(
            "the kernel needs {local} of local memory; the device has {}",
            info.local_memory
        )));
    }
    fixed_group::check(kernel, device, source)
}

#[expect(unsafe_code, reason = "OpenCL call")]
fn set_handle(kernel: &cl::Kernel, index: u32, handle: *mut c_void) -> Result<(), ClError> {
    // SAFETY: OpenCL copies the handle; an index or a size that is not the argument's is refused.
    unsafe { kernel.set_arg(index, &handle) }
}

/// Sets an argument that is no buffer. Not by `Kernel::set_arg`, which takes a type whose size is known
/// when compiling.
#[expect(unsafe_code, reason = "OpenCL call")]
pub(super) fn set_bytes(
    kernel: &cl::Kernel,
    index: u32,
    argument: Argument,
    params: &[u8],
) -> Result<(), ClError> {
    let (len, start) = match (argument, argument.bytes()) {
        // OpenCL allocates local memory itself: it is told how much.
        (Argument::Local(bytes), _) => (bytes as usize, ptr::null()),
        (_, Some((first, len))) => {
            let bytes = params.get(first..first + len).ok_or(ClError(CL_INVALID_ARG_SIZE))?;
            (len, bytes.as_ptr())
        }
        (_, None) => return Err(ClError(CL_INVALID_ARG_VALUE)),
    };
    // SAFETY: `start` is null or the first of `len` readable bytes, which OpenCL copies; an index or a
    // size that is not the argument's is refused.
    unsafe { cl::set_kernel_arg(kernel.get(), index, len, start.cast()) }.map_err(ClError)
}

#[test]
fn a_buffer_in_constant_memory_is_as_long_as_the_device_allows() {
    let fits = |given: &[u64], max: Option<u64>| {
        fits_constant_memory(given.iter().map(|&len| Bytes(len)), max.map(Bytes))
    };
    assert!(fits(&[64, 65_536], Some(65_536)).is_ok() && fits(&[], Some(0)).is_ok());
    assert!(fits(&[1 << 30], None).is_ok(), "the driver does not say");
    let why = fits(&[64, 65_540], Some(65_536)).map_err(|error| error.to_string());
    assert!(why.unwrap_err().contains("the device has 64.0 KiB of one buffer there"));
}
