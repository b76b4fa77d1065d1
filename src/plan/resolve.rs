//! Every workload at every size, against one device: a case with everything resolved to
//! numbers, or a refusal with its reason.

use super::beside::with_company;
use super::divide::{Division, FIRST};
use super::grid::work_groups;
use super::scope::with_constants;
use super::{BufferPlan, Candidate, Case, Planned};
use crate::gpu::{
    Binding, Constant, DeviceInfo, DeviceKind, KernelSource, Meaning, MemoryKind, Scalar,
};
use crate::suite::{Kernel, Scope, Suite, Workload};
use crate::units::Bytes;
use crate::workload::{CaseKey, Measure, Refusal, Size, Split, Verify};

/// What bounds a case beside the device's own limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Bytes on the device for one case; by default three quarters of its memory.
    pub memory: Option<Bytes>,
    /// Seconds that one case may take in one round, sampling and everything around it.
    pub seconds: f64,
    /// Seed of the inputs.
    pub seed: u64,
}

/// Bytes on either side of every device buffer that no kernel may touch.
pub const GUARD: Bytes = Bytes(4096);

/// What `suite` asks for on any device, in the order of the file.
pub fn keys(suite: &Suite) -> Vec<(&Workload, CaseKey)> {
    let mut keys = Vec::new();
    for workload in &suite.workloads {
        for size in &workload.sizes {
            for &measure in &workload.measure {
                for host_memory in host_memory(workload, measure) {
                    let key = CaseKey {
                        workload: workload.name.clone(),
                        size: size.clone(),
                        measure,
                        host_memory,
                    };
                    keys.push((workload, key));
                }
            }
        }
    }
    keys
}

/// Every case of `suite` on `device`, in the order of the file.
pub fn plan(suite: &Suite, device: &DeviceInfo, limits: &Limits) -> Vec<Planned> {
    let keys = keys(suite).into_iter();
    keys.map(|(workload, key)| one(suite, workload, key, device, limits)).collect()
}

fn host_memory(workload: &Workload, measure: Measure) -> Vec<Option<MemoryKind>> {
    match measure {
        Measure::Send | Measure::Receive => {
            workload.host_memory.iter().copied().map(Some).collect()
        }
        Measure::Transfer | Measure::Overlap | Measure::Schedule
            if !workload.host_memory.is_empty() =>
        {
            workload.host_memory.iter().copied().map(Some).collect()
        }
        _ => vec![None],
    }
}

fn one(
    suite: &Suite,
    workload: &Workload,
    key: CaseKey,
    device: &DeviceInfo,
    limits: &Limits,
) -> Planned {
    let case = resolve(workload, &key, device, limits);
    let case = match key.measure {
        Measure::Concurrency => {
            case.and_then(|case| with_company(suite, workload, case, device, limits))
        }
        _ => case,
    };
    match case {
        Ok(case) => Planned::Case(Box::new(case)),
        Err(reason) => Planned::Refused(Refusal {
            key,
            tags: workload.tags.clone(),
            family: workload.family.clone(),
            reason,
        }),
    }
}

/// The case, or why it cannot be run.
pub(super) fn resolve(
    workload: &Workload,
    key: &CaseKey,
    device: &DeviceInfo,
    limits: &Limits,
) -> Result<Case, String> {
    let params = params(workload, &key.size)?;
    let scope = scope(&key.size, &params);
    let buffers = match key.measure {
        Measure::Transfer => vec![sweep_buffer(device, limits)],
        _ => buffers(workload, &scope)?,
    };
    check_buffers(&buffers, workload.kernel.is_some(), device, limits)?;
    check_host_memory(key, device)?;
    let candidates = match &workload.kernel {
        Some(kernel) => candidates(workload, kernel, key, &params, &scope, &buffers, device)?,
        None => vec![],
    };
    let division = division(workload, &scope, device);
    if division.is_none() && matches!(key.measure, Measure::Overlap | Measure::Schedule) {
        return Err(format!(
            "{} cannot be cut into chunks: it needs parameters `first` and `count`, a kernel that \
             computes `count` rows from `first` on, and `divide: count`",
            place(workload)
        ));
    }
    let case = Case {
        key: key.clone(),
        tags: workload.tags.clone(),
        family: workload.family.clone(),
        candidates,
        buffers,
        size: key.size.clone(),
        division,
        verify: workload.verify.clone(),
        seed: limits.seed,
        place: 0,
        company: None,
    };
    check_time(&case, device, limits)?;
    Ok(case)
}

/// How the problem can be cut, where the suite names the parameter that counts its rows and the
/// kernel can begin at any of them.
fn division(workload: &Workload, scope: &Scope, device: &DeviceInfo) -> Option<Division> {
    let count = workload.divide.as_ref()?;
    let value = |wanted: &str| scope.iter().rev().find(|(name, _)| name == wanted).map(|(_, v)| *v);
    value(FIRST)?;
    Some(Division {
        count: count.clone(),
        rows: value(count)? as u64,
        grid: workload.grid.clone(),
        scope: scope.to_vec(),
        max_groups: device.max_groups,
    })
}

type Params = Vec<(String, f64, Scalar)>;

fn params(workload: &Workload, size: &Size) -> Result<Params, String> {
    let sizes: Vec<_> = size.iter().map(|(n, v)| (n.clone(), *v as f64)).collect();
    workload
        .params
        .iter()
        .map(|(name, expr, scalar)| {
            let value = expr.eval(&sizes).map_err(|e| format!("parameter `{name}`: {e}"))?;
            let fits = match scalar {
                Scalar::F32 => value.is_finite(),
                Scalar::U32 => value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value),
                Scalar::I32 => {
                    value.fract() == 0.0
                        && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&value)
                }
            };
            if fits {
                Ok((name.clone(), value, *scalar))
            } else {
                Err(format!("parameter `{name}` = {value} is no {scalar:?}").to_lowercase())
            }
        })
        .collect()
}

/// Sizes first, parameters after them: a parameter of the same name wins.
fn scope(size: &Size, params: &Params) -> Vec<(String, f64)> {
    let sizes = size.iter().map(|(name, value)| (name.clone(), *value as f64));
    sizes.chain(params.iter().map(|(name, value, _)| (name.clone(), *value))).collect()
}

fn buffers(workload: &Workload, scope: &Scope) -> Result<Vec<BufferPlan>, String> {
    workload
        .buffers
        .iter()
        .map(|buffer| {
            let count =
                buffer.count.count(scope).map_err(|e| format!("buffer `{}`: {e}", buffer.name))?;
            if count == 0 {
                return Err(format!("buffer `{}` has no elements at this size", buffer.name));
            }
            Ok(BufferPlan {
                name: buffer.name.clone(),
                element: buffer.element,
                count,
                fill: buffer.fill.clone(),
                access: buffer.access,
                split: buffer.split.clone(),
            })
        })
        .collect()
}

/// The largest buffer of a transfer sweep: two of them on the device, each a quarter of its
/// memory at most, and no more than is made and sent in the time.
fn sweep_buffer(device: &DeviceInfo, limits: &Limits) -> BufferPlan {
    let memory = limits.memory.into_iter().chain(device.memory).min();
    let quarter = memory.map_or(u64::MAX, |memory| memory.0 / 4);
    let affordable = (super::estimate::FILL_RATE * limits.seconds / 4.0) as u64;
    let most = quarter.min(device.max_buffer.0).min(device.max_binding.0).min(affordable);
    // A power of two: sizes grow by fours from 4 KiB.
    let bytes = 1u64 << most.max(4096).ilog2();
    BufferPlan {
        name: "data".into(),
        element: crate::gpu::Element::scalar(Scalar::U32),
        count: bytes / 4,
        fill: Some(crate::workload::Fill::RandomBits),
        access: crate::gpu::Access::ReadWrite,
        split: crate::workload::Split::Broadcast,
    }
}

/// Buffers that no kernel sees (`bound` is false) are only copied: any size that can be made.
fn check_buffers(
    buffers: &[BufferPlan],
    bound: bool,
    device: &DeviceInfo,
    limits: &Limits,
) -> Result<(), String> {
    let mut total = 0u64;
    for buffer in buffers {
        let bytes = buffer.bytes();
        let scalars = buffer.count.saturating_mul(u64::from(buffer.element.width));
        if bound && bytes > device.max_binding {
            return Err(format!(
                "buffer `{}` of {bytes} is larger than the {} that a kernel may see of one",
                buffer.name, device.max_binding
            ));
        }
        if Bytes(bytes.0.saturating_add(2 * GUARD.0)) > device.max_buffer {
            return Err(format!(
                "buffer `{}` of {bytes} is larger than the device's largest, {}",
                buffer.name, device.max_buffer
            ));
        }
        if scalars > u64::from(u32::MAX) {
            return Err(format!("buffer `{}` has more scalars than 32 bits count", buffer.name));
        }
        total = total.saturating_add(bytes.0).saturating_add(2 * GUARD.0);
    }
    match available(device, limits) {
        Some(available) if Bytes(total) > available => {
            Err(format!("needs {} on the device, of which {available} may be used", Bytes(total)))
        }
        _ => Ok(()),
    }
}

/// Bytes of the device's memory that cases may use, where anything limits them.
pub(super) fn available(device: &DeviceInfo, limits: &Limits) -> Option<Bytes> {
    limits.memory.into_iter().chain(device.memory.map(|m| Bytes(m.0 / 4 * 3))).min()
}

fn check_host_memory(key: &CaseKey, device: &DeviceInfo) -> Result<(), String> {
    match key.host_memory {
        Some(kind) if !device.host_memory.contains(&kind) => {
            Err(format!("{} has no {kind:?} host memory here", device.backend).to_lowercase())
        }
        _ => Ok(()),
    }
}

/// Every form of the kernel that the device takes; an error where none is left.
fn candidates(
    workload: &Workload,
    kernel: &Kernel,
    key: &CaseKey,
    params: &Params,
    scope: &Scope,
    buffers: &[BufferPlan],
    device: &DeviceInfo,
) -> Result<Vec<Candidate>, String> {
    if let Some(need) = kernel.needs.iter().find(|need| !device.features.contains(need)) {
        return Err(format!("the kernel needs `{need}`, which the device does not offer"));
    }
    if buffers.len() > device.max_storage_buffers as usize {
        return Err(format!(
            "{} buffers, and a kernel sees at most {} here",
            buffers.len(),
            device.max_storage_buffers
        ));
    }
    let mut refused = None;
    let mut kept = Vec::new();
    for form in forms(kernel) {
        match candidate(workload, kernel, &form, key, params, scope, buffers, device) {
            Ok(candidate) => kept.push(candidate),
            Err(reason) => refused = Some(reason),
        }
    }
    match (kept.is_empty(), refused) {
        (true, reason) => Err(reason.unwrap_or_else(|| "the search has no form to try".into())),
        _ => Ok(kept),
    }
}

/// One point of a search: group size, constants, and what sets it apart.
struct Form {
    group: [u32; 3],
    constants: Vec<(String, Constant)>,
    label: String,
}

/// The product of all search axes; one form where there is no search.
fn forms(kernel: &Kernel) -> Vec<Form> {
    let base =
        Form { group: kernel.group, constants: kernel.constants.clone(), label: String::new() };
    let Some(search) = &kernel.search else { return vec![base] };
    let mut forms = vec![base];
    if !search.groups.is_empty() {
        forms = forms
            .iter()
            .flat_map(|form| {
                search.groups.iter().map(|&group| Form {
                    group,
                    constants: form.constants.clone(),
                    label: group_label(group),
                })
            })
            .collect();
    }
    for (name, values) in &search.constants {
        forms = forms
            .iter()
            .flat_map(|form| values.iter().map(|value| with_constant(form, name, value)))
            .collect();
    }
    forms
}

fn with_constant(form: &Form, name: &str, value: &Constant) -> Form {
    let mut constants = form.constants.clone();
    constants.retain(|(n, _)| n != name);
    constants.push((name.to_owned(), value.clone()));
    let label = format!("{} {name}={value}", form.label).trim().to_owned();
    Form { group: form.group, constants, label }
}

fn group_label(group: [u32; 3]) -> String {
    match group {
        [x, 1, 1] => format!("{x}"),
        [x, y, 1] => format!("{x}x{y}"),
        [x, y, z] => format!("{x}x{y}x{z}"),
    }
}

#[expect(
    clippy::too_many_arguments,
    reason = "each is a different part of one workload on one device"
)]
fn candidate(
    workload: &Workload,
    kernel: &Kernel,
    form: &Form,
    key: &CaseKey,
    params: &Params,
    scope: &Scope,
    buffers: &[BufferPlan],
    device: &DeviceInfo,
) -> Result<Candidate, String> {
    let text = kernel
        .text(device.language)
        .ok_or_else(|| format!("the kernel has no {:?} form", device.language).to_lowercase())?;
    check_group(form.group, workload, device)?;
    let scope = with_constants(scope, form.group, &form.constants);
    let groups = work_groups(&workload.grid, form.group, &scope, device.max_groups)?;
    let work = |expr: &crate::suite::Expr, what| {
        expr.eval(&scope).map_err(|e| format!("{what} of the work: {e}"))
    };
    let (flops, bytes) =
        (work(&workload.work.flops, "flops")?, work(&workload.work.bytes, "bytes")?);
    let source = KernelSource {
        language: device.language,
        text: text.text.to_string(),
        entry: kernel.entry.clone(),
        origin: text.origin.clone(),
        group: form.group,
        constants: form.constants.clone(),
        bindings: bindings(buffers),
        params_bytes: 4 * params.len() as u32,
        meaning: meaning(workload, key, params, [flops, bytes], groups),
    };
    Ok(Candidate {
        label: form.label.clone(),
        kernel: source,
        groups,
        params: params.clone(),
        flops,
        bytes,
    })
}

fn check_group(group: [u32; 3], workload: &Workload, device: &DeviceInfo) -> Result<(), String> {
    let size: u64 = group.iter().map(|&n| u64::from(n)).product();
    let place = place(workload);
    if size > u64::from(device.max_group_size) {
        return Err(format!(
            "{place}: a work-group of {} has {size} work-items, the device takes {}",
            group_label(group),
            device.max_group_size
        ));
    }
    for ((wanted, most), axis) in group.into_iter().zip(device.max_group_dims).zip(["x", "y", "z"])
    {
        if wanted > most {
            return Err(format!(
                "{place}: a work-group of {} is {wanted} along {axis}, the device takes {most}",
                group_label(group)
            ));
        }
    }
    Ok(())
}

/// Where the workload stands, for a message.
pub(super) fn place(workload: &Workload) -> String {
    let (line, _) = workload.place.mistake("", None).line_column();
    format!("{}:{line}", workload.place.file)
}

fn bindings(buffers: &[BufferPlan]) -> Vec<Binding> {
    buffers
        .iter()
        .map(|b| Binding { name: b.name.clone(), element: b.element, access: b.access })
        .collect()
}

fn meaning(
    workload: &Workload,
    key: &CaseKey,
    params: &Params,
    [flops, bytes]: [f64; 2],
    groups: [u32; 3],
) -> Option<Meaning> {
    let Verify::Reference(reference, _) = &workload.verify else { return None };
    Some(Meaning {
        reference: reference.clone(),
        params: params.iter().map(|(name, _, scalar)| (name.clone(), *scalar)).collect(),
        sizes: key.size.clone(),
        flops,
        bytes,
        groups: groups.iter().map(|&n| u64::from(n)).product(),
        rows: counted_rows(workload, params),
    })
}

/// Rows of the problem and the parameter that counts them, where a launch can compute some of
/// them: it begins at any row, and everything it writes is cut by rows.
fn counted_rows(workload: &Workload, params: &Params) -> Option<(u64, String)> {
    let counter = workload.divide.as_ref()?;
    let value = |wanted: &str| params.iter().find(|(name, ..)| name == wanted).map(|p| p.1);
    value(FIRST)?;
    let mut written = workload.buffers.iter().filter(|b| b.access != crate::gpu::Access::Read);
    let by_rows = written.all(|buffer| matches!(buffer.split, Split::Rows { .. }));
    by_rows.then_some((value(counter)? as u64, counter.clone()))
}

/// Refuses what cannot be done within the case's time even at the best that hardware allows.
fn check_time(case: &Case, device: &DeviceInfo, limits: &Limits) -> Result<(), String> {
    let estimate = super::estimate(case, device);
    if estimate.prepare > limits.seconds {
        return Err(format!(
            "making {} of inputs takes about {}, the time budget of a case is {}",
            Bytes(case.buffers.iter().map(|b| b.bytes().0).sum()),
            crate::units::seconds(estimate.prepare),
            crate::units::seconds(limits.seconds)
        ));
    }
    if device.kind == DeviceKind::Cpu && estimate.measure > limits.seconds {
        return Err(format!(
            "15 launches take at least {} on a CPU implementation, the time budget of a case is {}",
            crate::units::seconds(estimate.measure),
            crate::units::seconds(limits.seconds)
        ));
    }
    Ok(())
}
