//! SPIR-V files: which API they are for, and whether a module that is not translated fits its suite. A kernel's text is
//! a text, so that one in SPIR-V is kept as hexadecimal digits.

use super::misfit::{About, Misfit};
use super::subgroup::Subgroup;
use super::suggest::suggest;
use gpubench_core::gpu::{
    Argument, BindingKind, Constant, GroupSize, KernelSource, Language, SpirvBinding, SpirvEntry,
    SpirvModule,
};
use gpubench_core::hash::{from_hex, hex};

const SHADER: u32 = 1;
const KERNEL: u32 = 6;
/// Assembly of the device, or of the host where that is the device.
const ASSEMBLY: u32 = 5606;

/// A file in SPIR-V.
#[derive(Debug, PartialEq)]
pub(super) struct Spirv {
    /// Its digits.
    pub digits: String,
    /// The language of the API that it is for.
    pub language: Language,
    /// The optional features of a device that it needs.
    pub needs: Vec<&'static str>,
}

/// What a file is.
///
/// # Errors
/// Why it is for no API.
pub(super) fn read(file: &[u8]) -> Result<Spirv, String> {
    let capabilities = SpirvModule::read(file)?.capabilities;
    if capabilities.contains(&ASSEMBLY) {
        return Err("it holds assembly (the capability AsmINTEL)".to_owned());
    }
    let language = match (capabilities.contains(&SHADER), capabilities.contains(&KERNEL)) {
        (true, false) => Language::Wgsl,
        (false, true) => Language::Opencl,
        _ => {
            let why =
                "it declares neither the capability Shader (Vulkan) nor Kernel (OpenCL), or both";
            return Err(why.to_owned());
        }
    };
    let mut needs: Vec<_> = capabilities.into_iter().filter_map(feature).collect();
    needs.sort_unstable();
    needs.dedup();
    Ok(Spirv { digits: hex(file), language, needs })
}

/// The optional feature of a device that a capability stands for.
fn feature(capability: u32) -> Option<&'static str> {
    match capability {
        9 => Some("f16"),
        10 => Some("f64"),
        61..=68 => Some("subgroups"),
        _ => None,
    }
}

/// Every way in which a module that Vulkan gets as it is does not fit what the suite gives it.
pub(super) fn misfits(source: &KernelSource, subgroup: Option<&Subgroup>) -> Vec<Misfit> {
    let read = from_hex(&source.text).ok_or_else(|| "it is no SPIR-V".to_owned());
    let module = match read.and_then(|file| SpirvModule::read(&file)) {
        Ok(module) => module,
        Err(why) => return vec![Misfit::new(About::File, why, None)],
    };
    let file = source.origin.file();
    let Some(entry) = module.entries.iter().find(|entry| entry.name == source.entry) else {
        let names = module.entries.iter().map(|entry| entry.name.as_str());
        let message = format!("{file} has no entry point `{}`", source.entry);
        return vec![Misfit::new(About::Entry, message, suggest(&source.entry, names))];
    };
    let mut found = vec![];
    found.extend(version(&module, file));
    found.extend(group(entry, source));
    found.extend(places(&module, source));
    // What gives only the size of its subgroups is no constant of the module.
    let is_own = |name: &str| matches!(subgroup, Some(Subgroup::Constant(own)) if own == name);
    let constants = source.constants.iter().filter(|(name, _)| !is_own(name));
    found.extend(constants.flat_map(|one| misfitting(&module, one, file)));
    found
}

fn version(module: &SpirvModule, file: &str) -> Option<Misfit> {
    let [major, minor] = module.version;
    let [latest_major, latest_minor] = SpirvModule::LATEST;
    let message = format!(
        "{file} is SPIR-V {major}.{minor}, and devices are opened as Vulkan 1.1, which takes {latest_major}.{latest_minor}"
    );
    let help = "compile it for that, as by `glslangValidator --target-env vulkan1.1`";
    (module.version > SpirvModule::LATEST)
        .then(|| Misfit::new(About::File, message, Some(help.to_owned())))
}

fn group(entry: &SpirvEntry, source: &KernelSource) -> Option<Misfit> {
    let Some(sizes) = entry.group else {
        return Some(Misfit::new(
            About::File,
            "the module says of no work-group how large it is",
            None,
        ));
    };
    let mut fixed = sizes.into_iter().zip(source.group);
    let differs = |(size, wanted)| matches!(size, GroupSize::Fixed(is) if is != wanted);
    if !fixed.any(differs) {
        return None;
    }
    let sizes = sizes.map(|size| match size {
        GroupSize::Fixed(size) => size.to_string(),
        GroupSize::Constant(_) => "any".to_owned(),
    });
    let message = format!(
        "the module's work-group is {}, and {:?} here: write it as constants (`local_size_x_id`) to have it set",
        sizes.join(" x "),
        source.group
    );
    Some(Misfit::new(About::Group, message, None))
}

/// Arguments are where their positions are.
fn places(module: &SpirvModule, source: &KernelSource) -> Option<Misfit> {
    let arguments = source.arguments();
    if !source.settings.bindings.is_empty() {
        let message =
            "a module that is not translated has its arguments at `set = 0`, each at its position";
        return Some(Misfit::new(About::File, message, None));
    }
    let is_one = |bound: &SpirvBinding| {
        let argument = arguments.get(bound.binding as usize).filter(|_| bound.set == 0);
        match (bound.kind, argument) {
            (BindingKind::Storage, Some(Argument::Buffer(_))) => true,
            (BindingKind::Uniform, Some(argument)) => {
                argument.bytes().is_some() && !module.has_push_constants
            }
            _ => false,
        }
    };
    if let Some(SpirvBinding { set, binding, kind }) =
        module.bindings.iter().find(|bound| !is_one(bound))
    {
        let what = match kind {
            BindingKind::Storage => "a buffer",
            BindingKind::Uniform => "a uniform block",
            BindingKind::Other => "no buffer and no block",
        };
        let message = format!(
            "set {set}, binding {binding} of the module is {what}, and no such argument of the suite's"
        );
        return Some(Misfit::new(About::File, message, None));
    }
    let values: Vec<_> = arguments.iter().filter_map(|argument| argument.bytes()).collect();
    let pushes_all = matches!(values[..], [(0, _)]);
    (module.has_push_constants && !pushes_all).then(|| {
        let message = format!(
            "the module has push constants, and the suite gives {} blocks or values",
            values.len()
        );
        Misfit::new(About::Params, message, None)
    })
}

/// A constant of the suite that the module does not have, or whose type does not hold it.
fn misfitting(module: &SpirvModule, (name, value): &(String, Constant), file: &str) -> Vec<Misfit> {
    let has = |own: &str| module.constants.iter().any(|known| known.name == own);
    let mut wanted = value.of_module(name);
    // A module has the sizes of a product that it was not written for alone.
    match wanted.iter().any(|(own, _)| has(own)) {
        true => wanted.retain(|(own, _)| has(own)),
        false => wanted.truncate(1),
    }
    let misfit = |(own, number): (String, Option<f64>)| {
        let about = About::Constant(name.clone());
        let Some(known) = module.constants.iter().find(|known| known.name == own) else {
            let names: Vec<_> = module.constants.iter().map(|known| known.name.as_str()).collect();
            let message = format!("{file} has no constant `{own}` that a pipeline may set");
            return Some(Misfit::new(about, message, suggest(&own, names)));
        };
        let fits = number.is_some_and(|number| known.bytes(number).is_some());
        let message =
            format!("the constant `{name}` is {value}, which the module's type does not hold");
        (!fits).then(|| Misfit::new(about, message, None))
    };
    wanted.into_iter().filter_map(misfit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAGIC: u32 = 0x0723_0203;
    const OP_CAPABILITY: u32 = 17;

    fn module(capabilities: &[u32]) -> Vec<u8> {
        let mut words = vec![MAGIC, 0x0001_0300, 0, 1, 0];
        words.extend(capabilities.iter().flat_map(|&one| [2 << 16 | OP_CAPABILITY, one]));
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn a_capability_says_which_api_a_module_is_for_and_what_it_needs() {
        let shader = module(&[9, SHADER, 63, 61]);
        let found = read(&shader).unwrap();
        assert_eq!((from_hex(&found.digits), found.language), (Some(shader), Language::Wgsl));
        assert_eq!(found.needs, ["f16", "subgroups"]);
        let kernel = read(&module(&[4, KERNEL, 10])).unwrap();
        assert_eq!((kernel.language, kernel.needs), (Language::Opencl, vec!["f64"]));
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        let good = module(&[SHADER]);
        let swapped: Vec<u8> = good.chunks(4).flat_map(|word| word.iter().rev().copied()).collect();
        let mut empty = good.clone();
        empty.extend([0; 4]);
        for (file, why) in [
            (&module(&[])[..], "neither the capability Shader"),
            (&module(&[4]), "neither the capability Shader"),
            (&module(&[SHADER, KERNEL]), "or both"),
            (&module(&[KERNEL, ASSEMBLY]), "it holds assembly"),
            (b"#version 450", "no SPIR-V"),
            (b"", "no SPIR-V"),
            (&swapped, "big-endian"),
            (&good[..good.len() - 1], "it is cut: 27 bytes"),
            (&good[..good.len() - 4], "it is cut: 24 bytes"),
            (&good[..8], "it is cut"),
            (&empty, "its word 7 is no instruction"),
        ] {
            let said = read(file).unwrap_err();
            assert!(said.contains(why), "{why}: {said}");
        }
    }

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn capabilities_count_wherever_they_stand_and_may_be_long() {
        let header = [MAGIC, 0x0001_0300, 0, 1, 0];
        let memory_model = [3 << 16 | 14, 0, 1];
        let shader = [2 << 16 | OP_CAPABILITY, SHADER];
        let late = [2 << 16 | OP_CAPABILITY, KERNEL];
        let all = words(&[&header[..], &shader, &memory_model, &late].concat());
        assert!(read(&all).unwrap_err().contains("or both"));
        // A word of an instruction is no instruction, even where it looks like one.
        let long = [4 << 16 | OP_CAPABILITY, SHADER, 2 << 16 | OP_CAPABILITY, KERNEL];
        assert_eq!(
            read(&words(&[&header[..], &long].concat())).map(|found| found.language),
            Ok(Language::Wgsl)
        );
        let other = [2 << 16 | 18, SHADER];
        assert!(read(&words(&[&header[..], &other].concat())).unwrap_err().contains("neither"));
    }

    #[test]
    fn subgroups_have_eight_capabilities() {
        let needs = |capability| read(&module(&[SHADER, capability])).unwrap().needs;
        for capability in 61..=68 {
            assert_eq!(needs(capability), ["subgroups"], "{capability}");
        }
        assert_eq!(
            (needs(60), needs(69), needs(9), needs(10)),
            (vec![], vec![], vec!["f16"], vec!["f64"])
        );
    }
}
