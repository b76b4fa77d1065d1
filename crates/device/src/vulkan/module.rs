//! A module in SPIR-V that the driver gets as it is: what it declares is held against the device, and its constants are
//! set by name.

use super::abilities::Abilities;
use super::matrices::has_bf16;
use super::spirv::{Spirv, pushed_bytes};
use ash::vk;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{GroupSize, KernelSource, SpirvEntry, SpirvModule};
use gpubench_core::hash::from_hex;
use std::collections::BTreeMap;

/// The module of a kernel. That its arguments are the suite's was checked when that was loaded.
///
/// # Errors
/// `Unsupported` where the device lacks a capability, or gpubench does not ask for it; `Build` where the module is
/// none, or its group is another.
pub(super) fn given(
    source: &KernelSource,
    abilities: &Abilities,
    max_pushed: u32,
) -> Result<Spirv> {
    let failed = |log: String| Error::Build { kernel: crate::wgpu::name(source), log };
    let file = from_hex(&source.text).ok_or_else(|| failed("it is no SPIR-V".to_owned()))?;
    let module = SpirvModule::read(&file).map_err(failed)?;
    if let Some(capability) = module.capabilities.iter().find(|&&one| !has(abilities, one)) {
        return Err(Error::Unsupported(format!(
            "{} needs the SPIR-V capability {capability}, which the device lacks or gpubench does not ask for",
            source.origin.file()
        )));
    }
    if module.version > SpirvModule::LATEST {
        let [major, minor] = module.version;
        let why =
            format!("{} is SPIR-V {major}.{minor}: too late for Vulkan 1.1", source.origin.file());
        return Err(Error::Unsupported(why));
    }
    let pushed = if module.has_push_constants { pushed_bytes(&source.arguments()) } else { 0 };
    if pushed > max_pushed {
        return Err(Error::Unsupported(format!(
            "{pushed} bytes of push constants; the device takes {max_pushed}"
        )));
    }
    let entry = module.entries.iter().find(|entry| entry.name == source.entry);
    let entry = entry.ok_or_else(|| failed(format!("no entry point `{}`", source.entry)))?;
    let constants = constants(&module, entry, source).map_err(failed)?;
    let constants = constants.into_iter().collect();
    Ok(Spirv { pushed: module.has_push_constants, words: module.words, constants })
}

/// The values of the constants that are the group, and of the suite's, by their `SpecId`. What the module does not have
/// was found when the suite was loaded, or only says how many work-items its subgroups have.
///
/// # Errors
/// Where the module has another group, or one constant two values.
fn constants(
    module: &SpirvModule,
    entry: &SpirvEntry,
    source: &KernelSource,
) -> Result<BTreeMap<u32, Vec<u8>>, String> {
    let mut all = BTreeMap::new();
    for (id, size) in group(entry, source)? {
        put(&mut all, id, size.to_ne_bytes().to_vec())?;
    }
    for (name, value) in &source.constants {
        for (name, number) in value.of_module(name) {
            for known in module.constants.iter().filter(|known| known.name == name) {
                let number = number.and_then(|number| known.bytes(number));
                let why = || format!("the type of the module's `{name}` does not hold {value}");
                put(&mut all, known.id, number.ok_or_else(why)?)?;
            }
        }
    }
    Ok(all)
}

fn put(all: &mut BTreeMap<u32, Vec<u8>>, id: u32, value: Vec<u8>) -> Result<(), String> {
    match all.insert(id, value.clone()) {
        Some(other) if other != value => {
            Err(format!("the module's constant {id} has two values here"))
        }
        _ => Ok(()),
    }
}

/// The constants that are the group, with their values.
///
/// # Errors
/// Where the module has another.
fn group(entry: &SpirvEntry, source: &KernelSource) -> Result<Vec<(u32, u32)>, String> {
    let mut constants = vec![];
    let sizes =
        entry.group.ok_or_else(|| "the module says of no work-group how large it is".to_owned())?;
    for (size, wanted) in sizes.into_iter().zip(source.group) {
        match size {
            GroupSize::Constant(id) => constants.push((id, wanted)),
            GroupSize::Fixed(size) if size == wanted => {}
            GroupSize::Fixed(size) => {
                return Err(format!(
                    "the module's group has {size} work-items where the suite's has {wanted}"
                ));
            }
        }
    }
    Ok(constants)
}

/// Whether the device was opened with what a capability needs.
fn has(abilities: &Abilities, capability: u32) -> bool {
    match capability {
        // Matrix, Shader, ImageQuery.
        0 | 1 | 50 => true,
        9 => abilities.f16,
        // 16 bits in buffers.
        4433 | 4434 => abilities.f16 || abilities.int16,
        22 => abilities.int16,
        39 => abilities.int8,
        10 => abilities.f64,
        11 => abilities.int64,
        12 => abilities.int64_atomics,
        6033 => abilities.f32_atomics,
        // All but those of clusters, for which nobody asked the device.
        61..=66 | 68 => abilities.subgroups.operations,
        // Products of four packed bytes; others need Int8.
        6018 | 6019 => abilities.packed_dot,
        // Products of matrices, and the memory model that they need.
        6022 | 5345 => !abilities.matrices.is_empty(),
        // The type bf16, and matrices of it.
        5116 | 5118 => has_bf16(&abilities.matrices),
        _ => false,
    }
}

/// How a pipeline sets constants: where each lies among `bytes`.
pub(super) fn entries(constants: &[(u32, Vec<u8>)]) -> (Vec<vk::SpecializationMapEntry>, Vec<u8>) {
    let (mut entries, mut bytes) = (vec![], vec![]);
    for (id, value) in constants {
        entries.push(vk::SpecializationMapEntry {
            constant_id: *id,
            offset: bytes.len() as u32,
            size: value.len(),
        });
        bytes.extend(value);
    }
    (entries, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::{Constant, Language, Origin, Settings};
    use gpubench_core::hash::hex;

    /// Its text stands next to it.
    const SET: &[u8] = include_bytes!("../../../core/src/gpu/spirv/set.spv");

    fn source(file: &[u8], constants: &[(&str, Constant)]) -> KernelSource {
        KernelSource {
            origin: Origin::User("k.spv".into()),
            group: [32, 1, 1],
            constants: constants.iter().map(|(name, c)| ((*name).into(), c.clone())).collect(),
            params_bytes: 8,
            settings: Settings { spirv: true, ..Settings::default() },
            ..KernelSource::new(Language::Wgsl, "main", hex(file))
        }
    }

    fn set(file: &[u8], constants: &[(&str, Constant)]) -> Result<Spirv> {
        given(&source(file, constants), &Abilities::default(), 128)
    }

    #[test]
    fn a_group_and_constants_are_set_by_their_numbers() {
        let constants = [("OFFSET", Constant::Int(3)), ("LANES", Constant::Int(8))];
        let spirv = set(SET, &constants).unwrap();
        let wanted: [(u32, Vec<u8>); 2] =
            [(3, 3_u32.to_ne_bytes().to_vec()), (7, 32_u32.to_ne_bytes().to_vec())];
        assert!(spirv.pushed && spirv.constants == wanted, "{:?}", spirv.constants);
        let (entries, bytes) = entries(&spirv.constants);
        let places: Vec<_> = entries.iter().map(|e| (e.constant_id, e.offset, e.size)).collect();
        assert_eq!((&places[..], bytes.len()), (&[(3, 0, 4), (7, 4, 4)][..], 8));
    }

    #[test]
    fn what_a_device_does_not_take_is_unsupported_and_what_does_not_fit_fails_to_build() {
        let unsupported = |found| matches!(found, Err(Error::Unsupported(_)));
        let wrong = |found| matches!(found, Err(Error::Build { .. }));
        let late = [&SET[..4], &0x0001_0600_u32.to_le_bytes(), &SET[8..]].concat();
        assert!(unsupported(set(&late, &[])));
        let capability = (2_u32 << 16 | 17, 39_u32);
        let words = [capability.0.to_le_bytes(), capability.1.to_le_bytes()].concat();
        assert!(unsupported(set(&[&SET[..20], &words, &SET[20..]].concat(), &[])), "Int8");
        assert!(unsupported(given(&source(SET, &[]), &Abilities::default(), 4)), "pushed");
        assert!(wrong(set(SET, &[("OFFSET", Constant::Float(0.5))])));
        assert!(wrong(set(&SET[..SET.len() - 3], &[])));
        let other = KernelSource { entry: "other".into(), ..source(SET, &[]) };
        assert!(wrong(given(&other, &Abilities::default(), 128)));
    }

    #[test]
    fn a_constant_has_one_value_and_a_fixed_group_is_the_suites() {
        let mut all = BTreeMap::new();
        assert!(put(&mut all, 1, vec![1]).is_ok() && put(&mut all, 1, vec![1]).is_ok());
        assert!(put(&mut all, 1, vec![2]).is_err());
        let entry = |x| SpirvEntry {
            name: "main".into(),
            group: Some([x, GroupSize::Fixed(1), GroupSize::Fixed(1)]),
        };
        let source = source(SET, &[]);
        assert_eq!(group(&entry(GroupSize::Fixed(32)), &source), Ok(vec![]));
        assert_eq!(group(&entry(GroupSize::Constant(5)), &source), Ok(vec![(5, 32)]));
        assert!(group(&entry(GroupSize::Fixed(64)), &source).is_err());
        assert!(group(&SpirvEntry { name: "main".into(), group: None }, &source).is_err());
    }

    #[test]
    fn capabilities_are_those_that_the_device_was_opened_with() {
        let none = Abilities::default();
        assert!([0, 1, 50].iter().all(|&one| has(&none, one)));
        assert!(
            [9, 10, 11, 12, 61, 6019, 6022, 39, 5116, 5118].iter().all(|&one| !has(&none, one))
        );
        let mut some = Abilities::default();
        (some.f16, some.packed_dot) = (true, true);
        assert!([9, 4433, 6018].iter().all(|&one| has(&some, one)) && !has(&some, 10));
        let mut subgroups = Abilities::default();
        subgroups.subgroups.operations = true;
        assert!(has(&subgroups, 66) && has(&subgroups, 68) && !has(&subgroups, 67));
    }
}
