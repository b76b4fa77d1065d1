//! Kernels beside each other: what a case is run together with, and the recordings of that.

use super::buffers::{available, device_bytes};
use super::forms::place;
use super::limits::Limits;
use super::resolve::resolve;
use super::{Candidate, Case, Company, slices};
use gpubench_core::gpu::{DeviceInfo, KernelId, Lane, Op, Recording};
use gpubench_core::units::Bytes;
use gpubench_core::workload::{CaseKey, Measure, Size};
use gpubench_suite::{Suite, Workload};

/// `case` with all that its workload asks to be run beside it; what cannot on `device` is left
/// out with its reason.
///
/// # Errors
/// Too little memory for the case beside itself or for all copies; more copies than there are
/// lanes.
pub(super) fn with_company(
    suite: &Suite,
    workload: &Workload,
    mut case: Case,
    device: &DeviceInfo,
    limits: &Limits,
) -> Result<Case, String> {
    let copies = workload.copies;
    let here = place(workload);
    // A single queue is asked the same questions; among several each copy needs its own.
    if device.lanes > 1 && copies > device.lanes {
        return Err(format!(
            "{here}: {copies} copies need a lane each, {} has {}",
            device.backend, device.lanes
        ));
    }
    let memory = available(device, limits);
    let fits = |bytes: u64, what: &str| match memory {
        Some(memory) if bytes > memory.0 => Err(format!(
            "{here}: {what} need {} on the device, of which {memory} may be used",
            Bytes(bytes)
        )),
        _ => Ok(()),
    };
    let own = device_bytes(&case);
    fits(own.saturating_mul(2), "two copies of it")?;
    fits(own.saturating_mul(copies.into()), &format!("{copies} copies of it"))?;
    let (mut beside, mut left_out) = (vec![], vec![]);
    for (other, key) in partners(suite, workload) {
        let together = format!("it and `{key}` together");
        let case = resolve(other, &key, device, limits).and_then(|case| {
            fits(own.saturating_add(device_bytes(&case)), &together).map(|()| case)
        });
        match case {
            Ok(case) => beside.push(case),
            Err(reason) => left_out.push((key.to_string(), reason)),
        }
    }
    case.company = Some(Company { beside, copies, left_out });
    Ok(case)
}

/// Every workload that `workload` names, at every size of its own.
fn partners<'a>(suite: &'a Suite, workload: &'a Workload) -> Vec<(&'a Workload, CaseKey)> {
    let named = workload
        .beside
        .iter()
        .filter_map(|(name, _)| suite.workloads.iter().find(|other| other.name == *name));
    let key = |other: &Workload, size: &Size| CaseKey {
        workload: other.name.clone(),
        size: size.clone(),
        measure: Measure::Concurrency,
        host_memory: None,
    };
    named.flat_map(|other| other.sizes.iter().map(move |size| (other, key(other, size)))).collect()
}

/// One launch of each of `launches` by the kernel named, queued in this order, none waiting for
/// another: each on a lane of its own, or all on one.
pub fn beside(launches: &[(&Case, &Candidate, KernelId)], lanes: u32) -> Recording {
    let mut recording = Recording::default();
    for ((case, candidate, kernel), lane) in launches.iter().zip(0..) {
        let op = Op::Dispatch {
            kernel: *kernel,
            groups: candidate.groups,
            buffers: slices(case),
            params: candidate.param_bytes(),
        };
        recording.push(Lane(if lanes > 1 { lane } else { 0 }), vec![], op);
    }
    recording
}
