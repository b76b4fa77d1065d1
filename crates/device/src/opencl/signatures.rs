//! What a program's kernels take, as the driver's compiler reports it.

use super::arguments::{self, Known};
use super::info::Found;
use super::kernel::{compile, kernel_names};
use super::object;
use super::options::options;
use super::status::checked;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{
    Access, Element, FormalArgument, KernelSource, Signature, Takes, ValueType,
};
use opencl3::kernel::{
    CL_KERNEL_ARG_ADDRESS_CONSTANT, CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_LOCAL,
    CL_KERNEL_ARG_TYPE_CONST, Kernel,
};
use std::ffi::CString;

/// The signature of every kernel in `source`, compiled for the device that was found.
///
/// # Errors
/// `Build` with the compiler's log, `Unsupported` where the driver keeps no names of arguments.
pub(super) fn signatures(found: &Found, source: &KernelSource) -> Result<Vec<Signature>> {
    let context = object::context(found.id)?;
    let (program, _) = compile(&context, found.id, source, &options(source, &found.info)?)?;
    let mut all = vec![];
    for name in kernel_names(&program)? {
        let entry =
            CString::new(name.as_str()).map_err(|_| Error::Usage("a name with a null".into()))?;
        let kernel = checked("creating the kernel", object::kernel(&program, &entry))?;
        let known = arguments::all(&kernel).ok_or_else(|| {
            Error::Unsupported("the driver keeps no names and types of arguments".into())
        })?;
        let arguments = (0..).zip(known);
        // A group that follows the suite's is no group of the text's.
        let fixed = kernel.get_compile_work_group_size(found.id).unwrap_or_default();
        let fixed = fixed.iter().map(|&n| u32::try_from(n).unwrap_or(0)).collect::<Vec<_>>();
        let fixed = <[u32; 3]>::try_from(fixed).ok().filter(|fixed| !fixed.contains(&0));
        all.push(Signature {
            entry: name,
            group: fixed.filter(|_| !source.text.contains("GROUP_X")),
            arguments: arguments.map(|(i, known)| formal(&kernel, i, known, source)).collect(),
            bindings: vec![],
        });
    }
    Ok(all)
}

fn formal(kernel: &Kernel, index: u32, known: Known, source: &KernelSource) -> FormalArgument {
    let Known { name, r#type, address, is_written } = known;
    let held = r#type.trim_end_matches('*').trim();
    let value = ValueType::from_opencl(held)
        .or_else(|| ValueType::from_opencl(&aliased(held, &source.text)?));
    let constant = kernel
        .get_arg_type_qualifier(index)
        .is_ok_and(|qualifier| qualifier & u64::from(CL_KERNEL_ARG_TYPE_CONST) != 0);
    let is_pointer = r#type.ends_with('*');
    let takes = match address {
        _ if r#type == "image2d_t" && !is_written => Takes::Image(None),
        _ if r#type == "sampler_t" => Takes::Sampler,
        CL_KERNEL_ARG_ADDRESS_LOCAL => Takes::Local,
        CL_KERNEL_ARG_ADDRESS_CONSTANT => {
            Takes::Buffer { element: value.and_then(element), access: Some(Access::Read) }
        }
        CL_KERNEL_ARG_ADDRESS_GLOBAL if is_pointer => Takes::Buffer {
            element: value.and_then(element),
            access: constant.then_some(Access::Read),
        },
        // Other images and pipes.
        CL_KERNEL_ARG_ADDRESS_GLOBAL => Takes::Unsupported,
        _ if r#type.ends_with("_t") && value.is_none() => Takes::Unsupported,
        _ => value.map_or(Takes::Block, Takes::Value),
    };
    FormalArgument { name, r#type, takes }
}

/// The element type of a buffer of such values; one of vectors of three lies as one of four.
fn element(value: ValueType) -> Option<Element> {
    let width = if value.width == 3 { 4 } else { value.width };
    Element::try_from(String::from(ValueType { width, ..value })).ok()
}

/// What `typedef … NAME;` says `name` stands for.
fn aliased(name: &str, text: &str) -> Option<String> {
    let of = |line: &str| {
        let inner = line.trim().strip_prefix("typedef ")?.split_once(';')?.0.trim().to_owned();
        let known = inner.strip_suffix(name)?.to_owned();
        known.ends_with(char::is_whitespace).then(|| known.trim().to_owned())
    };
    text.lines().find_map(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_for_a_type_is_followed() {
        let text = "#pragma once\ntypedef float DATA_TYPE;\ntypedef unsigned int word; // 32\n";
        assert_eq!(aliased("DATA_TYPE", text).as_deref(), Some("float"));
        assert_eq!(aliased("word", text).as_deref(), Some("unsigned int"));
        assert_eq!(aliased("TYPE", text), None);
        let three = ValueType::from_opencl("float3").unwrap();
        assert_eq!(element(three).map(String::from).as_deref(), Some("f32x4"));
    }
}
