//! The variants of a case's kernel: every point of its search that the device takes.

use super::divide::FIRST;
use super::fallback::check_local_memory;
use super::grid::work_groups;
use super::same_code::distinct;
use super::scope::with_constants;
use super::subgroup::check_subgroup;
use super::{BufferPlan, Candidate, Pass};
use gpubench_core::gpu::{
    Binding, Constant, DeviceInfo, EMBEDDED, KernelSource, Language, Meaning, SPIRV, Scalar,
    group_label, overrides,
};
use gpubench_core::workload::{CaseKey, Split, Verify};
use gpubench_suite::{Expr, Kernel, KernelText, Lowered, Scope, Variant, Work, Workload, Written};

/// Names, values and types of a parameter block.
pub(super) type Params = Vec<(String, f64, Scalar)>;

/// A workload at one size on one device, its numbers known.
pub(super) struct Asked<'a> {
    pub(super) workload: &'a Workload,
    pub(super) key: &'a CaseKey,
    pub(super) device: &'a DeviceInfo,
    pub(super) params: Params,
    pub(super) scope: Vec<(String, f64)>,
    /// Scope and parameters of every pass after the first.
    pub(super) later: Vec<(Vec<(String, f64)>, Params)>,
    pub(super) buffers: Vec<BufferPlan>,
}

/// Variants that a device does not take: what sets each apart, and why.
pub(super) type Dropped = Vec<(String, String)>;

/// Every variant of the kernel that the device takes, and those that it does not; an error where
/// none is left.
pub(super) fn candidates(
    asked: &Asked,
    kernel: &Kernel,
) -> Result<(Vec<Candidate>, Dropped), String> {
    check_features(asked, kernel)?;
    let (mut kept, mut dropped) = (vec![], vec![]);
    for variant in variants(asked, kernel)? {
        match candidate(asked, kernel, &variant) {
            Ok(candidate) => kept.push(candidate),
            Err(reason) => dropped.push((variant.label, reason)),
        }
    }
    match (kept.is_empty(), dropped.pop()) {
        (true, Some((_, reason))) => Err(reason),
        (true, None) => Err("the search has no variant to try".into()),
        (false, last) => {
            dropped.extend(last);
            Ok((distinct(kept), dropped))
        }
    }
}

/// Whether the device offers what the suite, or the kernel's own text, says that the kernel needs.
pub(super) fn check_features(asked: &Asked, kernel: &Kernel) -> Result<(), String> {
    let device = asked.device;
    let missing = |need: &str| !device.features.iter().any(|has| has == need);
    if let Some(need) = kernel.needs.iter().find(|need| missing(need)) {
        return Err(format!("the kernel needs `{need}`, which the device does not offer"));
    }
    let Some(text) = kernel.text(device.language) else { return Ok(()) };
    match text.needs.iter().find(|need| missing(need)) {
        Some(need) => Err(format!(
            "{}: {} needs `{need}`, which the device does not offer",
            place(asked.workload),
            text.origin.file()
        )),
        None => Ok(()),
    }
}

/// Every point of the search that a run makes; the kernel itself where it makes none.
fn variants(asked: &Asked, kernel: &Kernel) -> Result<Vec<Variant>, String> {
    match kernel.searched_in_run() {
        Some(search) => search.variants(kernel, &asked.scope),
        None => Ok(vec![Variant {
            group: kernel.group,
            constants: kernel.constants.clone(),
            label: kernel.variant.clone(),
        }]),
    }
}

fn candidate(asked: &Asked, kernel: &Kernel, variant: &Variant) -> Result<Candidate, String> {
    let Asked { workload, device, params, .. } = asked;
    let text = kernel
        .text(device.language)
        .ok_or_else(|| format!("the kernel has no {:?} source", device.language).to_lowercase())?;
    check_group(variant.group, workload, device)?;
    check_types(&variant.constants, text.is_module(), device)?;
    let scope = with_constants(&asked.scope, variant.group, &variant.constants);
    let groups = work_groups(&workload.grid, variant.group, &scope, device.max_groups)?;
    let later = asked.later.iter().map(|(scope, params)| {
        let scope = with_constants(scope, variant.group, &variant.constants);
        let groups = work_groups(&workload.grid, variant.group, &scope, device.max_groups)?;
        let values = kernel.lowered(block(params), &scope)?.values;
        Ok(Pass { kernel: 0, order: vec![], groups, params: params.clone(), values })
    });
    let later = later.collect::<Result<Vec<_>, String>>()?;
    let all_groups = later.iter().map(|pass| pass.groups).chain([groups]);
    let all_groups: u64 =
        all_groups.map(|groups| groups.iter().map(|&n| u64::from(n)).product::<u64>()).sum();
    let work =
        |expr: &Expr, what| expr.eval(&scope).map_err(|e| format!("{what} of the work: {e}"));
    let (flops, bytes) =
        (work(&workload.work.flops, "flops")?, work(&workload.work.bytes, "bytes")?);
    let types = typed(&workload.work, &scope)?;
    let Lowered { args, values } = kernel.lowered(block(params), &scope)?;
    let buffers = asked.buffers.len();
    let source = KernelSource {
        language: device.language,
        text: kernel.built_text(text, variant.group, &variant.constants, buffers)?,
        entry: kernel.entry.clone(),
        origin: text.built_origin(),
        group: variant.group,
        constants: with_overridden(&variant.constants, asked, text)?,
        bindings: bindings(&asked.buffers),
        params_bytes: block(params) + values.len() as u32,
        args,
        meaning: meaning(asked, [flops, bytes], &types, all_groups),
        settings: kernel.settings(text, &variant.constants),
    };
    check_local_memory(&source, kernel, workload, device)?;
    check_arguments(&source, asked)?;
    Ok(Candidate {
        label: variant.label.clone(),
        is_own: variant.is_of(kernel),
        other_language: other_language(asked, kernel, &source),
        kernel: source,
        others: vec![],
        order: vec![],
        final_order: vec![],
        groups,
        params: params.clone(),
        values,
        later,
        flops,
        bytes,
        types,
    })
}

/// How many operations are of which type.
pub(super) fn typed(work: &Work, scope: &Scope) -> Result<Vec<(Scalar, f64)>, String> {
    let count = |(r#type, count): &(Scalar, Expr)| {
        let count = count.eval(scope).map_err(|why| format!("types of the work: {why}"))?;
        Ok((*r#type, count))
    };
    work.types.iter().map(count).collect()
}

/// The constants, and behind them the parameters that the text has as an `override`.
///
/// # Errors
/// Where passes would need several values of one.
pub(super) fn with_overridden(
    constants: &[(String, Constant)],
    asked: &Asked,
    text: &KernelText,
) -> Result<Vec<(String, Constant)>, String> {
    let mut all = constants.to_vec();
    if text.language != Language::Wgsl || text.written != Written::Plain {
        return Ok(all);
    }
    for declared in overrides(&text.text) {
        let of = |params: &Params| params.iter().find(|(name, ..)| *name == declared.name).cloned();
        let Some((name, value, scalar)) = of(&asked.params) else { continue };
        if asked.later.iter().any(|(_, params)| of(params).is_some_and(|p| p.1 != value)) {
            return Err(format!(
                "`{name}` is a constant of the kernel, and differs between passes"
            ));
        }
        all.retain(|(known, _)| *known != name);
        all.push((
            name,
            match scalar {
                scalar if scalar.is_float() => Constant::Float(value),
                _ => Constant::Int(value as i64),
            },
        ));
    }
    Ok(all)
}

/// Bytes of a parameter block: four a field.
pub(super) fn block(params: &Params) -> u32 {
    4 * params.len() as u32
}

/// Whether the device and its language take what the kernel is given.
pub(super) fn check_arguments(source: &KernelSource, asked: &Asked) -> Result<(), String> {
    if let Some(why) = source.unsupported_argument() {
        return Err(why);
    }
    let device = asked.device;
    if source.settings.spirv && !device.features.iter().any(|has| has == SPIRV) {
        return Err("the kernel is in SPIR-V, which the driver does not take".into());
    }
    source.settings.subgroup.map_or(Ok(()), |size| check_subgroup(size, device))?;
    for buffer in &asked.buffers {
        check_element(buffer, device)?;
    }
    let (count, max) = (source.buffer_count(), device.max_storage_buffers);
    if count > max as usize {
        return Err(format!("{count} buffers, and a kernel sees at most {max} here"));
    }
    let (local, limit) = (source.local_arguments(), device.local_memory);
    if local > limit {
        return Err(format!("{local} of local memory as arguments, and a group has {limit} here"));
    }
    Ok(())
}

/// Whether the device computes with what a buffer holds, and copies so many bytes.
fn check_element(buffer: &BufferPlan, device: &DeviceInfo) -> Result<(), String> {
    let wgsl = device.language == Language::Wgsl;
    let (name, scalar) = (&buffer.name, buffer.element.scalar);
    // OpenCL C loads and stores halves everywhere.
    let has = |feature: &str| device.features.iter().any(|has| has == feature);
    let lacks = match scalar {
        Scalar::F64 => !has("f64"),
        // An image of halves gives the kernel `f32`.
        Scalar::F16 => wgsl && !has("f16") && buffer.image.is_none(),
        Scalar::I64 | Scalar::U64 => has(EMBEDDED) && !has("i64"),
        _ => false,
    };
    if lacks {
        let r#type = scalar.name();
        return Err(format!("buffer `{name}` holds `{type}`, which the device does not offer"));
    }
    match buffer.bytes().0 {
        bytes if wgsl && !bytes.is_multiple_of(4) => {
            Err(format!("buffer `{name}` has {bytes} bytes, and the API copies multiples of 4"))
        }
        _ => Ok(()),
    }
}

/// The same variant in WGSL, where the device takes another language and the emulator is used to find what
/// the result must be.
fn other_language(asked: &Asked, kernel: &Kernel, source: &KernelSource) -> Option<KernelSource> {
    if !matches!(asked.workload.verify, Verify::Emulator(_)) || source.language == Language::Wgsl {
        return None;
    }
    let text = kernel.text(Language::Wgsl).filter(|text| !text.is_module())?;
    let other = KernelSource {
        language: Language::Wgsl,
        text: kernel.built_text(text, source.group, &source.constants, asked.buffers.len()).ok()?,
        origin: text.built_origin(),
        constants: with_overridden(&source.constants, asked, text).ok()?,
        settings: kernel.settings(text, &source.constants),
        ..source.clone()
    };
    other.unsupported_argument().is_none().then_some(other)
}

/// Whether the device, or its language, has the types and products of matrices that are constants.
fn check_types(
    constants: &[(String, Constant)],
    is_module: bool,
    device: &DeviceInfo,
) -> Result<(), String> {
    let lacking = |constant: &Constant| match constant {
        Constant::Type(r#type) if r#type.spelled(device.language).is_none() => {
            let language = device.language.spelled();
            Some(format!("{language} has no type `{}`", String::from(*r#type)))
        }
        Constant::Matrix(product) => {
            let name = product.to_string();
            if !device.features.contains(&name) {
                return Some(format!("the device has no matrix unit for `{name}`"));
            }
            // A module has their sizes as numbers.
            let spelled = (!is_module).then(|| product.spelled("M", device.language));
            spelled.and_then(Result::err).map(|why| why.to_string())
        }
        _ => None,
    };
    constants.iter().find_map(|(_, constant)| lacking(constant)).map_or(Ok(()), Err)
}

pub(super) fn check_group(
    group: [u32; 3],
    workload: &Workload,
    device: &DeviceInfo,
) -> Result<(), String> {
    let size: u64 = group.iter().map(|&n| u64::from(n)).product();
    let place = place(workload);
    if size > u64::from(device.max_group_size) {
        return Err(format!(
            "{place}: a work-group of {} has {size} work-items, the device takes {}",
            group_label(group),
            device.max_group_size
        ));
    }
    for ((wanted, limit), axis) in group.into_iter().zip(device.max_group_dims).zip(["x", "y", "z"])
    {
        if wanted > limit {
            return Err(format!(
                "{place}: a work-group of {} is {wanted} along {axis}, the device takes {limit}",
                group_label(group)
            ));
        }
    }
    Ok(())
}

/// Where the workload stands, for a message.
pub fn place(workload: &Workload) -> String {
    let (line, _) = workload.place.diagnostic("", None).line_column();
    format!("{}:{line}", workload.place.file)
}

pub(super) fn bindings(buffers: &[BufferPlan]) -> Vec<Binding> {
    buffers
        .iter()
        .map(|b| Binding {
            name: b.name.clone(),
            element: b.element,
            access: b.access,
            image: b.image,
        })
        .collect()
}

fn meaning(
    asked: &Asked,
    [flops, bytes]: [f64; 2],
    types: &[(Scalar, f64)],
    groups: u64,
) -> Option<Meaning> {
    let Verify::Reference(reference, _) = &asked.workload.verify else { return None };
    let double = types.iter().filter(|(scalar, _)| *scalar == Scalar::F64);
    Some(Meaning {
        reference: reference.clone(),
        params: asked.params.iter().map(|(name, _, scalar)| (name.clone(), *scalar)).collect(),
        sizes: asked.key.size.clone(),
        flops,
        double: double.map(|(_, count)| count).sum(),
        bytes,
        groups,
        rows: counted_rows(asked.workload, &asked.params),
    })
}

/// Rows of the problem and the parameter that counts them, where a launch can compute some of
/// them: it begins at any row, and everything it writes is cut by rows.
fn counted_rows(workload: &Workload, params: &Params) -> Option<(u64, String)> {
    let counter = workload.divide.as_ref()?;
    let value = |wanted: &str| params.iter().find(|(name, ..)| name == wanted).map(|p| p.1);
    value(FIRST)?;
    let mut written =
        workload.buffers.iter().filter(|b| b.access != gpubench_core::gpu::Access::Read);
    let by_rows = written.all(|buffer| matches!(buffer.split, Split::Rows { .. }));
    by_rows.then_some((value(counter)? as u64, counter.clone()))
}
