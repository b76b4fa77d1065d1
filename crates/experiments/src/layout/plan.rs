//! A buffer accessed in strides, its layout transformed first: the kernels of that, and their recording.

use super::spec::Spec;
use crate::experiment::Planning;
use crate::plan::{
    BufferPlan, Candidate, Case, Resolution, available, device_bytes, place, resolve, scope_of,
    slices,
};
use gpubench_core::gpu::{Access, KernelId, Op, Recording, Slice};
use gpubench_core::reason::{Reason, Room};
use gpubench_core::workload::CaseKey;
use gpubench_model::layout_transform::View;
use gpubench_suite::Workload;
use serde::{Deserialize, Serialize};
use std::iter::{once, repeat_n};

/// A case that accesses a buffer in strides, and what makes that unnecessary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayoutPlan {
    /// The buffer, by position.
    pub buffer: usize,
    /// What reads it and writes it transformed.
    pub by: Case,
    /// Which of that one's buffers is read.
    pub read: usize,
    /// Which of them is written.
    pub written: usize,
    /// What does the same as the case with the transformed buffer.
    pub then: Case,
}

/// The kernels that transform a buffer's layout and use it then.
///
/// # Errors
/// Strides that make no view of the buffer; kernels that do not fit the case or the device.
pub fn layout_transform(
    how: &Spec,
    case: &Case,
    planning: &Planning,
) -> Result<LayoutPlan, Reason> {
    let Planning { workload, device, limits, .. } = planning;
    let here = place(workload);
    let position = |buffer: &BufferPlan| buffer.name == how.buffer;
    let buffer = case.buffers.iter().position(position).ok_or("there is no such buffer")?;
    check_strides(how, workload, case, buffer).map_err(|why| {
        let (line, column) = how.place.diagnostic("", None).line_column();
        format!("{}:{line}:{column}: layout of `{}`: {why}", how.place.file, how.buffer)
    })?;
    let other = |name: &str| {
        let other = planning.suite.workloads.iter().find(|other| other.name == name);
        let other = other.ok_or_else(|| format!("{here}: there is no workload `{name}`"))?;
        let key = CaseKey { workload: name.to_owned(), ..case.key.clone() };
        resolve(other, &key, Resolution::default(), device, limits)
            .map_err(|why| format!("{here}: `{name}`: {why}"))
    };
    let (by, then) = (other(&how.by.0)?, other(&how.then.0)?);
    let (read, written) = one_of_each(&by)
        .ok_or_else(|| format!("{here}: `{}` must read one buffer and write one", how.by.0))?;
    let layout = LayoutPlan { buffer, by, read, written, then };
    fits(case, &layout).map_err(|why| format!("{here}: {why}"))?;
    // All three have buffers of their own: each is tried by itself before they are put together.
    let each = [case, &layout.by, &layout.then].map(device_bytes);
    let bytes = each.into_iter().fold(0, u64::saturating_add);
    let what = format!("{here}: it with a transformed buffer");
    Room::Device.check(&what, bytes, available(device, limits))?;
    Ok(layout)
}

fn check_strides(
    how: &Spec,
    workload: &Workload,
    case: &Case,
    buffer: usize,
) -> Result<(), String> {
    let scope = scope_of(workload, &case.size)?;
    let strides = how.strides.iter().map(|stride| stride.count(&scope).map(|n| n as usize));
    let strides = strides.collect::<Result<Vec<_>, _>>()?;
    let length = case.buffers[buffer].count as usize;
    let view = match *strides {
        [stride] => View::single(length, stride),
        [inner, outer] => View::double(length, inner, outer),
        _ => return Err("there is one stride, or there are two".into()),
    };
    view.map_err(|why| format!("{why} (strides {strides:?}, {length} elements)"))?;
    if let Some(unknown) = strides.iter().find(|stride| !is_given(case, **stride)) {
        return Err(format!(
            "its kernel is given no stride of {unknown}: none of its parameters and constants is \
             {unknown}"
        ));
    }
    Ok(())
}

/// Whether the kernel is given this number: strides that are only declared would be views of accesses
/// that it does not make.
fn is_given(case: &Case, stride: usize) -> bool {
    let is_passed = |variant: &Candidate| {
        let params = variant.params.iter().map(|(_, value, _)| *value);
        let constants = variant.kernel.constants.iter().map(|(_, constant)| constant.number());
        params.chain(constants).any(|number| number == stride as f64)
    };
    case.candidates.iter().all(is_passed)
}

/// The buffer that is read and the one that is written, where there are no others.
fn one_of_each(case: &Case) -> Option<(usize, usize)> {
    let [first, second] = case.buffers.as_slice() else { return None };
    match (first.access, second.access) {
        (Access::Read, Access::Write) => Some((0, 1)),
        (Access::Write, Access::Read) => Some((1, 0)),
        _ => None,
    }
}

/// Whether buffers can be passed on from one kernel to the next.
fn fits(case: &Case, plan: &LayoutPlan) -> Result<(), String> {
    let LayoutPlan { buffer, by, read, written, then } = plan;
    let strided = &case.buffers[*buffer];
    if by.buffers[*read].bytes() != strided.bytes() {
        return Err(format!(
            "`{}` reads {} and not all of `{}`",
            by.key,
            by.buffers[*read].bytes(),
            strided.name
        ));
    }
    let like = |a: &BufferPlan, b: &BufferPlan| {
        a.element == b.element && a.access == b.access && a.bytes() == b.bytes()
    };
    let mut others =
        case.buffers.iter().zip(&then.buffers).enumerate().filter(|(i, _)| i != buffer);
    let given = &by.buffers[*written];
    let fit = case.buffers.len() == then.buffers.len()
        && others.all(|(_, (a, b))| like(a, b))
        && then.buffers[*buffer].bytes() <= given.bytes();
    if fit { Ok(()) } else { Err(format!("the buffers of `{}` do not fit", then.key)) }
}

/// The case's buffer transformed once, and used so many times then, on one queue. `by` and `then` are
/// the variants and numbers of the two kernels; the transform's buffers lie in the place of `plan.by`.
pub fn transformed_uses(
    case: &Case,
    plan: &LayoutPlan,
    by: (&Candidate, KernelId),
    then: (&Candidate, KernelId),
    uses: u32,
) -> Recording {
    let mut first = slices(&plan.by);
    let mut second = slices(case);
    first[plan.read] = second[plan.buffer];
    let len = plan.then.buffers[plan.buffer].bytes();
    second[plan.buffer] = Slice { len, ..first[plan.written] };
    let dispatch = |(variant, kernel): (&Candidate, KernelId), buffers: &[Slice]| Op::Dispatch {
        kernel,
        groups: variant.groups,
        buffers: buffers.to_vec(),
        params: variant.param_bytes(),
    };
    let used = repeat_n(dispatch(then, &second), uses as usize);
    Recording::one_queue(once(dispatch(by, &first)).chain(used))
}
