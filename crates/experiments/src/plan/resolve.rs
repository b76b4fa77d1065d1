//! A workload at a size, against one device: everything resolved to numbers.

use super::buffers::{buffers, check_buffers};
use super::divide::{Division, FIRST};
use super::estimate::LONGEST_PREPARE;
use super::fallback::{Chosen, first_fitting};
use super::limits::Limits;
use super::scope::with_constants;
use super::variants::{Asked, Params, place};
use super::{BufferPlan, Case};
use gpubench_core::gpu::{DeviceInfo, DeviceKind};
use gpubench_core::reason::Reason;
use gpubench_core::units::{Bytes, quoted};
use gpubench_core::workload::{CaseKey, Comparison, Size, Split, Verify};
use gpubench_suite::{Kernel, MAX_PASSES, PASS, Profile, Scope, Workload};
use serde_json::Value;

/// What an experiment changes about how its cases are resolved.
#[derive(Default)]
pub struct Resolution {
    /// Buffers of its own instead of the workload's.
    pub buffers: Option<Vec<BufferPlan>>,
    /// Whether it divides the problem into chunks.
    pub divides: bool,
}

/// The case, or why it cannot be run.
///
/// # Errors
/// Why it cannot be run on `device`.
pub fn resolve(
    workload: &Workload,
    key: &CaseKey,
    resolution: Resolution,
    device: &DeviceInfo,
    limits: &Limits,
) -> Result<Case, Reason> {
    let params = params(workload, &key.size, 0)?;
    let scope = scope(&key.size, &params);
    let later = (1..passes(workload, &key.size)?).map(|pass| {
        let params = self::params(workload, &key.size, pass)?;
        Ok((self::scope(&key.size, &params), params))
    });
    let later = later.collect::<Result<_, String>>()?;
    let buffers = match resolution.buffers {
        Some(buffers) => buffers,
        None => buffers(workload, &scope)?,
    };
    check_buffers(&buffers, workload.kernel.is_some(), device, limits)?;
    check_reference(workload, &buffers)?;
    check_host_memory(key, device)?;
    let asked = Asked { workload, key, device, params, scope, later, buffers };
    let Chosen { candidates, dropped, preferred_group } = match &workload.kernel {
        Some(kernel) => first_fitting(&asked, kernel)?,
        None => Chosen::default(),
    };
    let division = division(workload, &asked.scope, device);
    if resolution.divides {
        check_division(division.as_ref(), &asked.buffers)
            .map_err(|why| format!("{} cannot be cut into chunks: {why}", place(workload)))?;
    }
    let known = candidates.first().map(|first| &first.kernel).map_or_else(
        || asked.scope.clone(),
        |kernel| with_constants(&asked.scope, kernel.group, &kernel.constants),
    );
    let (verify, profile) = verification(workload, device);
    let touched = workload.work.working_set.as_ref().map(|set| set.count(&known));
    let case = Case {
        key: key.clone(),
        tags: workload.tags.clone(),
        family: workload.family.clone(),
        ceiling: workload.ceiling.filter(|_| key.measure.is_kernel()),
        touched: touched.transpose()?,
        candidates,
        dropped,
        preferred_group,
        buffers: asked.buffers,
        size: key.size.clone(),
        division,
        verify,
        profile,
        seed: limits.seed,
        place: 0,
        plan: Value::Null,
    };
    check_time(&case, device, limits)?;
    Ok(case)
}

/// Whether the reference takes buffers of such lengths.
fn check_reference(workload: &Workload, buffers: &[BufferPlan]) -> Result<(), String> {
    let Verify::Reference(name, _) = &workload.verify else { return Ok(()) };
    let count = |name: &str| buffers.iter().find(|b| b.name == name).map(|b| b.count);
    match gpubench_reference::unfit(name, count) {
        Some(why) => Err(format!("{}: {why}", place(workload))),
        None => Ok(()),
    }
}

/// How a device's result is checked, and for which of its profiles that is by a wider tolerance, which the suite
/// declares.
fn verification(workload: &Workload, device: &DeviceInfo) -> (Verify, Option<String>) {
    let verify = workload.verify.clone();
    let Some(all) = verify.allowed() else { return (verify, None) };
    let is_its = |profile: &Profile| device.features.iter().any(|f| f == profile.feature());
    let its = workload.profiles.iter().filter(|(profile, _)| is_its(profile));
    let its: Vec<_> = its.filter(|(_, allowed)| *allowed != all).collect();
    if its.is_empty() {
        return (verify, None);
    }
    let allowed = its.iter().fold(all, |widest, (_, allowed)| widest.or(*allowed));
    let about: Vec<_> = its.iter().map(|(profile, _)| profile.about()).collect();
    let text = |how: Comparison| {
        format!("relative {}, absolute {}", quoted(how.relative), quoted(how.absolute))
    };
    let which = format!("{}: {} instead of {}", about.join(" and "), text(allowed), text(all));
    (verify.allowing(allowed), Some(which))
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
        values: workload.kernel.iter().flat_map(Kernel::values).collect(),
        scope: scope.to_vec(),
        max_groups: device.max_groups,
    })
}

/// Refuses what cannot even be halved.
fn check_division(division: Option<&Division>, buffers: &[BufferPlan]) -> Result<(), String> {
    let rows = division.map(|division| division.rows).ok_or(
        "it needs parameters `first` and `count`, a kernel that computes `count` rows from \
         `first` on, and `divide: count`",
    )?;
    if rows < 2 {
        return Err(format!("there are not two rows, but {rows}"));
    }
    for buffer in buffers {
        if let Split::Rows { halo } = buffer.split
            && u64::from(halo) > rows / 2
        {
            return Err(format!(
                "the halo of `{}`, {halo} rows, is larger than half of the {rows} rows",
                buffer.name
            ));
        }
    }
    Ok(())
}

/// The names that a workload's expressions may use at a size.
/// As [`resolve`].
pub fn scope_of(workload: &Workload, size: &Size) -> Result<Vec<(String, f64)>, String> {
    Ok(scope(size, &params(workload, size, 0)?))
}

/// How many launches make one result.
fn passes(workload: &Workload, size: &Size) -> Result<u64, String> {
    let Some(passes) = &workload.passes else { return Ok(1) };
    match passes.count(&scope(size, &vec![])).map_err(|e| format!("passes: {e}"))? {
        count @ 1..=MAX_PASSES => Ok(count),
        count => Err(format!("{count} passes, and there are 1 to {MAX_PASSES}")),
    }
}

/// The parameters of a pass.
fn params(workload: &Workload, size: &Size, pass: u64) -> Result<Params, String> {
    let mut known = scope(size, &vec![]);
    known.extend(workload.passes.is_some().then(|| (PASS.to_owned(), pass as f64)));
    workload
        .params
        .iter()
        .map(|(name, expr, scalar)| {
            let value = expr.eval(&known).map_err(|e| format!("parameter `{name}`: {e}"))?;
            if scalar.holds(value) {
                Ok((name.clone(), value, *scalar))
            } else {
                Err(format!("parameter `{name}` = {} is no {scalar:?}", quoted(value))
                    .to_lowercase())
            }
        })
        .collect()
}

/// Sizes first, parameters after them: a parameter of the same name wins.
fn scope(size: &Size, params: &Params) -> Vec<(String, f64)> {
    let sizes = size.iter().map(|(name, value)| (name.clone(), *value as f64));
    sizes.chain(params.iter().map(|(name, value, _)| (name.clone(), *value))).collect()
}

fn check_host_memory(key: &CaseKey, device: &DeviceInfo) -> Result<(), String> {
    match key.host_memory {
        Some(kind) if !device.host_memory.contains(&kind) => {
            Err(format!("{} has no {kind:?} host memory here", device.backend).to_lowercase())
        }
        _ => Ok(()),
    }
}

/// Refuses what cannot be done in reasonable time even at the best that hardware allows.
fn check_time(case: &Case, device: &DeviceInfo, limits: &Limits) -> Result<(), Reason> {
    let estimate = super::estimate(case, device, limits.cores);
    if estimate.prepare > LONGEST_PREPARE {
        let bytes = Bytes(case.buffers.iter().map(|b| b.bytes().0).sum());
        return Err(Reason::OverBudget {
            what: format!("making {bytes} of buffers"),
            needed: estimate.prepare,
            available: LONGEST_PREPARE,
            option: None,
        });
    }
    if device.kind == DeviceKind::Cpu && estimate.measure > limits.seconds {
        return Err(Reason::OverBudget {
            what: "a sample of 15 launches on a CPU implementation".into(),
            needed: estimate.measure,
            available: limits.seconds,
            option: None,
        });
    }
    Ok(())
}
