//! From WGSL to SPIR-V, through naga; a lone parameter block becomes push constants.

use super::{bindings, layout};
use gpubench_core::gpu::{Argument, BoundsChecks, KernelSource, SpirvModule};
use naga::back::spv::{self, ZeroInitializeWorkgroupMemoryMode};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ModuleInfo, SubgroupOperationSet, ValidationFlags, Validator};
use naga::{AddressSpace, Module, ResourceBinding, ShaderStage};

/// The instruction that declares `CooperativeMatrixKHR`.
const COOPERATIVE_MATRIX: [u32; 2] = [2 << 16 | 17, 6022];

/// What kernels may ask for that was examined for the device, all but dot products of four packed bytes, in place of
/// which naga multiplies and adds.
const WITHOUT_PACKED_DOT: [spv::Capability; 20] = [
    spv::Capability::AtomicFloat32AddEXT,
    spv::Capability::CooperativeMatrixKHR,
    spv::Capability::Float16,
    spv::Capability::Float64,
    spv::Capability::GroupNonUniform,
    spv::Capability::GroupNonUniformArithmetic,
    spv::Capability::GroupNonUniformBallot,
    spv::Capability::GroupNonUniformQuad,
    spv::Capability::GroupNonUniformShuffle,
    spv::Capability::GroupNonUniformShuffleRelative,
    spv::Capability::GroupNonUniformVote,
    spv::Capability::ImageQuery,
    spv::Capability::Int16,
    spv::Capability::Int64,
    spv::Capability::Int64Atomics,
    spv::Capability::Linkage,
    spv::Capability::Shader,
    spv::Capability::StorageBuffer16BitAccess,
    spv::Capability::UniformAndStorageBuffer16BitAccess,
    spv::Capability::VulkanMemoryModel,
];

/// A kernel as the driver takes it.
pub(super) struct Spirv {
    pub words: Vec<u32>,
    /// Whether its parameters are push constants, not a uniform buffer.
    pub pushed: bool,
    /// Constants that the pipeline sets, by their `SpecId`.
    pub constants: Vec<(u32, Vec<u8>)>,
}

impl Spirv {
    /// Whether it multiplies matrices, for which all its subgroups must be full.
    pub fn has_matrices(&self) -> bool {
        self.words.windows(2).any(|pair| pair == COOPERATIVE_MATRIX)
    }
}

/// What a device takes.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub capabilities: Capabilities,
    /// Most bytes of push constants.
    pub max_pushed: u32,
    /// Whether it zeroes local memory itself. Else the first work-item does, while its group waits: a kernel over tiles
    /// of 4 KiB took 90 times as long on lavapipe.
    pub zeroed_local: bool,
    /// Whether it has dot products of four packed bytes.
    pub packed_dot: bool,
}

/// A validator for what a device can do.
pub(crate) fn validator(capabilities: Capabilities) -> Validator {
    let mut validator = Validator::new(ValidationFlags::all(), capabilities);
    validator.subgroup_stages(naga::valid::ShaderStages::COMPUTE);
    validator.subgroup_operations(SubgroupOperationSet::all());
    validator
}

/// Compiles a kernel whose `text` (with its constants) was examined.
///
/// # Errors
/// What naga says.
pub(super) fn compile(source: &KernelSource, text: &str, target: Target) -> Result<Spirv, String> {
    let module = naga::front::wgsl::parse_str(text).map_err(|error| error.emit_to_string(text))?;
    let validate = |module: &Module| {
        let valid = validator(target.capabilities).validate(module);
        valid.map_err(|error| error.emit_to_string(text))
    };
    let info = validate(&module)?;
    bindings::check(&module, &info, source)?;
    if let Some(pushed) = pushed(&module, source, target.max_pushed)
        && let Ok(info) = validate(&pushed)
    {
        let words = write(source, &pushed, &info, target)?;
        return Ok(Spirv { words, pushed: true, constants: vec![] });
    }
    let words = write(source, &module, &info, target)?;
    Ok(Spirv { words, pushed: false, constants: vec![] })
}

/// The module with its parameters as push constants, where it has one block of them that fits.
fn pushed(module: &Module, source: &KernelSource, max_pushed: u32) -> Option<Module> {
    let arguments = source.arguments();
    let mut blocks = (0..).zip(&arguments).filter_map(|(binding, argument)| {
        let (first, len) = argument.bytes()?;
        Some((binding, first, len))
    });
    let (binding, first, len) = blocks.next()?;
    if blocks.next().is_some() || first != 0 || len.next_multiple_of(4) > max_pushed as usize {
        return None;
    }
    let place = Some(ResourceBinding { group: 0, binding });
    let mut module = module.clone();
    let (_, variable) = module
        .global_variables
        .iter_mut()
        .find(|(_, v)| v.binding == place && v.space == AddressSpace::Uniform)?;
    variable.space = AddressSpace::Immediate;
    variable.binding = None;
    Some(module)
}

fn write(
    source: &KernelSource,
    module: &Module,
    info: &ModuleInfo,
    target: Target,
) -> Result<Vec<u32>, String> {
    let checked = source.bounds_checks() == BoundsChecks::On;
    let policy = if checked { BoundsCheckPolicy::Restrict } else { BoundsCheckPolicy::Unchecked };
    let options = spv::Options {
        lang_version: SpirvModule::LATEST.into(),
        flags: spv::WriterFlags::empty(),
        // Without a map, bindings are those of the text.
        fake_missing_bindings: true,
        bounds_check_policies: BoundsCheckPolicies {
            index: policy,
            buffer: policy,
            image_load: policy,
            binding_array: policy,
        },
        zero_initialize_workgroup_memory: match (checked, target.zeroed_local) {
            (false, _) => ZeroInitializeWorkgroupMemoryMode::None,
            (true, true) => ZeroInitializeWorkgroupMemoryMode::Native,
            (true, false) => ZeroInitializeWorkgroupMemoryMode::Polyfill,
        },
        force_loop_bounding: checked,
        emit_int_div_checks: checked,
        capabilities: (!target.packed_dot).then(|| WITHOUT_PACKED_DOT.into_iter().collect()),
        // Compute kernels have none of either, and the capability would have to be requested.
        use_storage_input_output_16: false,
        ..spv::Options::default()
    };
    let pipeline = spv::PipelineOptions {
        shader_stage: ShaderStage::Compute,
        entry_point: source.entry.clone(),
    };
    let words = spv::write_vec(module, info, &options, Some(&pipeline));
    words.map(layout::of_buffers_only).map_err(|error| error.to_string())
}

/// The bytes of push constants of a kernel's arguments.
pub(super) fn pushed_bytes(arguments: &[Argument]) -> u32 {
    let bytes = arguments.iter().filter_map(|argument| argument.bytes());
    bytes.map(|(_, len)| (len as u32).next_multiple_of(4)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::{
        Access, Binding, Constant, Element, Language, MatrixProduct, Origin, Scalar,
    };

    /// A kernel with this body and these constants.
    const TARGET: Target = Target {
        capabilities: Capabilities::all(),
        max_pushed: 128,
        zeroed_local: true,
        packed_dot: true,
    };

    fn compiled(body: &str, constants: &[(&str, Constant)]) -> Spirv {
        compiled_for(TARGET, body, constants)
    }

    fn compiled_for(target: Target, body: &str, constants: &[(&str, Constant)]) -> Spirv {
        let element = Element::scalar(Scalar::F32);
        let text = format!(
            "@group(0) @binding(0) var<storage, read_write> a: array<f32>;
             @compute @workgroup_size(32) fn f() {{ {body} }}"
        );
        let source = KernelSource {
            origin: Origin::User("mine.wgsl".into()),
            group: [32, 1, 1],
            constants: constants.iter().map(|(name, c)| ((*name).into(), c.clone())).collect(),
            bindings: vec![Binding {
                name: "a".into(),
                element,
                access: Access::ReadWrite,
                image: None,
            }],
            ..KernelSource::new(Language::Wgsl, "f", text)
        };
        compile(&source, &source.wgsl().unwrap(), target).unwrap()
    }

    #[test]
    fn a_module_that_multiplies_matrices_is_known_by_what_it_declares() {
        let load = |role: &str| format!("coopLoad<M_{role}>(&a[0])");
        let product =
            format!("let c = coopMultiplyAdd({}, {}, {});", load("A"), load("B"), load("C"));
        let of = MatrixProduct::try_from("matrix_8x8x8_f32_f32".to_owned()).unwrap();
        let with =
            compiled(&format!("{product} coopStore(c, &a[0]);"), &[("M", Constant::Matrix(of))]);
        assert!(with.has_matrices());
        assert!(!compiled("a[0] = f32(M);", &[("M", Constant::Int(8))]).has_matrices());
    }

    #[test]
    fn packed_dot_products_are_requested_where_the_device_has_them() {
        // The instruction that declares `DotProductInput4x8BitPacked`.
        let asks = |packed_dot| {
            let text = "a[0] = f32(dot4I8Packed(u32(a[1]), 7u));";
            let spirv = compiled_for(Target { packed_dot, ..TARGET }, text, &[]);
            spirv.words.windows(2).any(|pair| pair == [2 << 16 | 17, 6018])
        };
        assert_eq!([asks(true), asks(false)], [true, false]);
    }

    #[test]
    fn arrays_of_local_memory_have_no_stride_and_those_of_buffers_keep_theirs() {
        let text = "t[0] = a[1]; a[0] = t[1]; } var<workgroup> t: array<f32, 64>; fn g() {";
        // `OpDecorate ARRAY ArrayStride 4`.
        let words = compiled(text, &[]).words;
        let strides =
            words.windows(4).filter(|words| (words[0], words[2], words[3]) == (4 << 16 | 71, 6, 4));
        assert_eq!(strides.count(), 1);
    }
}
