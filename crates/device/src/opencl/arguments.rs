//! A kernel's own arguments, as its compiler knows them, against those that the suite gives it.

use super::kernel::set_bytes;
use super::query::number;
use gpubench_core::gpu::{Argument, KernelSource, ValueType, order_misfit, place_in_suite};
use opencl3::error_codes::CL_INVALID_ARG_SIZE;
use opencl3::kernel::{
    CL_KERNEL_ARG_ACCESS_NONE, CL_KERNEL_ARG_ACCESS_READ_WRITE, CL_KERNEL_ARG_ACCESS_WRITE_ONLY,
    CL_KERNEL_ARG_ADDRESS_CONSTANT, CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_LOCAL,
    CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_NUM_ARGS, Kernel,
};

/// What the compiler knows of an argument.
pub(super) struct Known {
    pub(super) name: String,
    pub(super) r#type: String,
    pub(super) address: u32,
    /// Of an image.
    pub(super) is_written: bool,
}

/// Holds the arguments of `source` against the kernel's: their number, whether each is a buffer, a
/// value of its type or local memory, and the names of buffers.
///
/// # Errors
/// What is wrong, as a compiler would say it: where the suite names the argument, else where the kernel
/// is declared.
pub(super) fn check(kernel: &Kernel, source: &KernelSource) -> Result<(), String> {
    let (arguments, declared) = (source.arguments(), declared(source));
    let known = all(kernel).unwrap_or_default();
    let wrong = |argument: usize, why: String| {
        let lists = both(source, &arguments, &known);
        let places = &source.settings.places;
        Err(match places.get(place_in_suite(&arguments, argument)).or(places.last()) {
            Some(place) => format!("{place}: error: {why}; declared at {declared}{lists}"),
            None => format!("{declared}: {why}{lists}"),
        })
    };
    if let Some(found) = count(kernel).filter(|found| *found as usize != arguments.len()) {
        let given = arguments.len();
        let why =
            format!("`{}` takes {found} arguments, and the suite gives {given}", source.entry);
        // The first that is too many, or the last before those that are missing.
        return wrong(found as usize, why);
    }
    for (i, (argument, known)) in arguments.iter().zip(&known).enumerate() {
        let is_image = matches!(argument, Argument::Buffer(i) if source.image(*i).is_some());
        if let Some(why) = misfit(*argument, is_image, known) {
            return wrong(
                i,
                format!("argument {i} of `{}`, `{}`, {why}", source.entry, known.name),
            );
        }
    }
    check_sizes(kernel, source, &arguments).or_else(|(i, why)| wrong(i, why))?;
    let is_buffer = |(argument, _): &(&Argument, _)| matches!(argument, Argument::Buffer(_));
    let names = arguments.iter().zip(&known).filter(is_buffer);
    let names: Vec<_> = names.map(|(_, known)| known.name.clone()).collect();
    match source.args.is_none().then(|| order_misfit(source, &names)).flatten() {
        Some(why) => Err(format!("{declared}: {why}: `args` maps them on purpose")),
        None => Ok(()),
    }
}

/// The kernel's file, and the line where its name first stands before a parenthesis.
fn declared(source: &KernelSource) -> String {
    let is_it = |line: &str| {
        line.split_once(&source.entry).is_some_and(|(_, rest)| rest.trim_start().starts_with('('))
    };
    let file = source.origin.file();
    match source.text.lines().position(is_it) {
        Some(line) => format!("{file}:{}", line + 1),
        None => file.to_owned(),
    }
}

fn count(kernel: &Kernel) -> Option<u32> {
    number(&kernel.get_data(CL_KERNEL_NUM_ARGS).ok()?).and_then(|count| u32::try_from(count).ok())
}

/// All that the compiler knows; `None` where the driver kept nothing.
pub(super) fn all(kernel: &Kernel) -> Option<Vec<Known>> {
    (0..count(kernel)?).map(|i| known(kernel, i)).collect()
}

fn known(kernel: &Kernel, i: u32) -> Option<Known> {
    let name = kernel.get_arg_name(i).ok().filter(|name| !name.is_empty())?;
    let r#type = kernel.get_arg_type_name(i).ok()?;
    let access = kernel.get_arg_access_qualifier(i).unwrap_or(CL_KERNEL_ARG_ACCESS_NONE);
    let is_written = [CL_KERNEL_ARG_ACCESS_WRITE_ONLY, CL_KERNEL_ARG_ACCESS_READ_WRITE];
    let is_written = is_written.contains(&access);
    let address = kernel.get_arg_address_qualifier(i).ok()?;
    Some(Known { name, r#type, address, is_written })
}

/// The buffers that a kernel reads from constant memory, as far as the compiler says so.
pub(super) fn in_constant_memory(kernel: &Kernel, arguments: &[Argument]) -> Vec<u32> {
    let known = all(kernel).unwrap_or_default();
    let constant = |(argument, known): (&Argument, Known)| match argument {
        Argument::Buffer(i) if known.address == CL_KERNEL_ARG_ADDRESS_CONSTANT => Some(*i),
        _ => None,
    };
    arguments.iter().zip(known).filter_map(constant).collect()
}

/// Why `argument`, a buffer that the kernel reads as an image or anything else, does not meet what the kernel takes in
/// its place.
fn misfit(argument: Argument, is_image: bool, known: &Known) -> Option<String> {
    let is = &known.r#type;
    let takes = match known.address {
        CL_KERNEL_ARG_ADDRESS_GLOBAL | CL_KERNEL_ARG_ADDRESS_CONSTANT => "a buffer",
        CL_KERNEL_ARG_ADDRESS_LOCAL => "local memory",
        CL_KERNEL_ARG_ADDRESS_PRIVATE => "a value",
        _ => return None,
    };
    let takes = match is.as_str() {
        "image2d_t" if known.is_written => "an image to write",
        "image2d_t" => "an image",
        "sampler_t" => "a sampler",
        _ => takes,
    };
    let (given, text) = match argument {
        Argument::Buffer(_) if is_image => ("an image", "an image".to_owned()),
        Argument::Sampler(_) => ("a sampler", "the sampler of an image".to_owned()),
        Argument::Buffer(_) => ("a buffer", "a buffer".to_owned()),
        Argument::Local(_) => ("local memory", "local memory".to_owned()),
        Argument::Block(_) => ("a value", "the parameter block".to_owned()),
        Argument::Value { r#type, .. } => ("a value", format!("a value `{}`", r#type.opencl())),
    };
    if given != takes {
        return Some(format!("is {takes} (`{is}`), and the suite gives {text}"));
    }
    let Argument::Value { r#type, .. } = argument else { return None };
    // Another spelling is the author's type: only its size can be checked.
    let plain = ValueType::from_opencl(is)?;
    (plain != r#type).then(|| format!("is `{is}`, and the suite gives {text}"))
}

/// The driver itself refuses an argument of another size: which, and why.
fn check_sizes(
    kernel: &Kernel,
    source: &KernelSource,
    arguments: &[Argument],
) -> Result<(), (usize, String)> {
    let zeros = vec![0_u8; source.params_bytes as usize];
    for (i, argument) in (0..).zip(arguments) {
        let Some((_, len)) = argument.bytes() else { continue };
        match set_bytes(kernel, i, *argument, &zeros) {
            Err(error) if error.0 == CL_INVALID_ARG_SIZE => {
                let entry = &source.entry;
                let why = format!(
                    "argument {i} of `{entry}` does not have the {len} bytes of the suite's"
                );
                return Err((i as usize, why));
            }
            Err(error) => return Err((i as usize, format!("setting argument {i}: {error}"))),
            Ok(()) => {}
        }
    }
    Ok(())
}

/// The two lists, for a message.
fn both(source: &KernelSource, arguments: &[Argument], known: &[Known]) -> String {
    let ours = arguments.iter().map(|argument| match argument {
        Argument::Buffer(i) => {
            source.bindings.get(*i as usize).map_or_else(String::new, |b| b.name.clone())
        }
        Argument::Block(bytes) => format!("a parameter block of {bytes} bytes"),
        Argument::Value { r#type, .. } => r#type.opencl(),
        Argument::Local(bytes) => format!("{bytes} bytes of local memory"),
        Argument::Sampler(_) => "a sampler".to_owned(),
    });
    let ours: Vec<_> = ours.collect();
    let theirs: Vec<_> = known.iter().map(|k| format!("{} {}", k.r#type, k.name)).collect();
    let theirs = if theirs.is_empty() { "not known".to_owned() } else { theirs.join(", ") };
    format!("\n  the suite gives: {}\n  the kernel takes: {theirs}", ours.join(", "))
}
