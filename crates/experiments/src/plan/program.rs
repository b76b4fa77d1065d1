//! A program at a size on a device: its kernels, and every launch of them.

use super::fallback::{check_local_memory, with_fallback};
use super::grid::work_groups;
use super::scope::with_constants;
use super::variants::{
    Asked, bindings, block, check_arguments, check_features, check_group, typed, with_overridden,
};
use super::{Candidate, Pass};
use gpubench_core::gpu::KernelSource;
use gpubench_suite::{Expr, Lowered, Program, ProgramKernel, ProgramLaunch, Scope};

/// The only variant of a program, each of its kernels with the first work-group that the device takes;
/// and the suite's group of the first kernel that has a fallback's.
///
/// # Errors
/// Why the device does not take it.
pub(super) fn candidate(
    asked: &Asked,
    program: &Program,
) -> Result<(Candidate, Option<[u32; 3]>), String> {
    let first_kernel = &program.kernels[0].kernel;
    let known = with_constants(&asked.scope, first_kernel.group, &first_kernel.constants);
    let unrolled = program.unrolled(&known, asked.buffers.len());
    let (launches, final_order) = unrolled.map_err(|(_, why)| why)?;
    let (mut steps, mut kernels) = (vec![], vec![]);
    for (position, step) in program.kernels.iter().enumerate() {
        let launch = launches.iter().find(|launch| launch.kernel == position);
        let (step, source) = fitting(asked, step, launch)?;
        steps.push(step);
        kernels.push(source);
    }
    let groups = program.kernels.iter().zip(&steps).map(|(a, b)| (a.kernel.group, b.kernel.group));
    let preferred =
        groups.clone().find(|(suites, chosen)| suites != chosen).map(|(suites, _)| suites);
    let mut passes = vec![];
    for launch in &launches {
        passes.extend(pass(asked, &steps[launch.kernel], launch)?);
    }
    if passes.is_empty() {
        return Err("no step has work-items at this size".into());
    }
    let work = &asked.workload.work;
    let amount =
        |expr: &Expr, what| expr.eval(&known).map_err(|e| format!("{what} of the work: {e}"));
    // What is launched first is the first kernel.
    let first = passes.remove(0);
    kernels.swap(0, first.kernel as usize);
    for pass in &mut passes {
        pass.kernel = match pass.kernel {
            0 => first.kernel,
            same if same == first.kernel => 0,
            other => other,
        };
    }
    let candidate = Candidate {
        is_own: true,
        label: String::new(),
        kernel: kernels.remove(0),
        others: kernels,
        other_language: None,
        groups: first.groups,
        params: first.params,
        values: first.values,
        order: first.order,
        final_order,
        later: passes,
        flops: amount(&work.flops, "flops")?,
        bytes: amount(&work.bytes, "bytes")?,
        types: typed(work, &known)?,
    };
    Ok((candidate, preferred))
}

/// A step with the suite's work-group or the first of its fallbacks that the device takes.
///
/// # Errors
/// Why the device does not take the suite's, where it takes none.
fn fitting(
    asked: &Asked,
    step: &ProgramKernel,
    launch: Option<&ProgramLaunch>,
) -> Result<(ProgramKernel, KernelSource), String> {
    let taken = |step: ProgramKernel| {
        check_group(step.kernel.group, asked.workload, asked.device)?;
        let source = source(asked, &step, launch)?;
        check_local_memory(&source, &step.kernel, asked.workload, asked.device)?;
        check_arguments(&source, asked)?;
        Ok((step, source))
    };
    let reason = match taken(step.clone()) {
        Ok(fits) => return Ok(fits),
        Err(reason) => reason,
    };
    let with =
        |fallback| ProgramKernel { kernel: with_fallback(&step.kernel, fallback), ..step.clone() };
    step.kernel.fallback.iter().find_map(|fallback| taken(with(fallback)).ok()).ok_or(reason)
}

/// The kernel of a step; its lists of arguments are alike in all launches.
fn source(
    asked: &Asked,
    step: &ProgramKernel,
    launch: Option<&ProgramLaunch>,
) -> Result<KernelSource, String> {
    let kernel = &step.kernel;
    check_features(asked, kernel)?;
    let language = asked.device.language;
    let text = kernel
        .text(language)
        .ok_or_else(|| format!("the kernel has no {language:?} source").to_lowercase())?;
    let scope = scope(asked, step, launch);
    let Lowered { args, values } = match launch {
        Some(_) => kernel.lowered(block(&asked.params), &scope)?,
        None => Lowered { args: kernel.placed(block(&asked.params)), values: vec![] },
    };
    Ok(KernelSource {
        language,
        text: kernel.built_text(text, kernel.group, &kernel.constants, asked.buffers.len())?,
        entry: kernel.entry.clone(),
        origin: text.built_origin(),
        group: kernel.group,
        constants: with_overridden(&kernel.constants, asked, text)?,
        bindings: bindings(&asked.buffers),
        params_bytes: block(&asked.params) + values.len() as u32,
        args,
        meaning: None,
        settings: kernel.settings(text, &kernel.constants),
    })
}

/// A launch; `None` where it has no work-items.
fn pass(
    asked: &Asked,
    step: &ProgramKernel,
    launch: &ProgramLaunch,
) -> Result<Option<Pass>, String> {
    let scope = scope(asked, step, Some(launch));
    if step.is_empty(&scope) {
        return Ok(None);
    }
    let group = step.kernel.group;
    Ok(Some(Pass {
        kernel: launch.kernel as u32,
        order: launch.order.clone(),
        groups: work_groups(&step.grid, group, &scope, asked.device.max_groups)?,
        params: asked.params.clone(),
        values: step.kernel.lowered(block(&asked.params), &scope)?.values,
    }))
}

/// Names and values that a step may use, the indices of repetitions among them.
fn scope(
    asked: &Asked,
    step: &ProgramKernel,
    launch: Option<&ProgramLaunch>,
) -> Vec<(String, f64)> {
    let mut scope: Vec<(String, f64)> =
        with_constants(&asked.scope, step.kernel.group, &step.kernel.constants);
    let indices: &Scope = launch.map_or(&[], |launch| &launch.indices);
    scope.extend(indices.iter().cloned());
    scope
}
