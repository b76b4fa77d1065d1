//! Co-running kernels: what runs concurrently with a case, and the recordings of that.

use super::buffers::{available, device_bytes};
use super::limits::Limits;
use super::resolve::resolve;
use super::variants::place;
use super::{Candidate, Case, CoRunning, slices};
use gpubench_core::gpu::{DeviceInfo, KernelId, Op, Queue, Recording};
use gpubench_core::units::Bytes;
use gpubench_core::workload::{CaseKey, Measure, Size};
use gpubench_suite::{Suite, Workload};

/// `case` with all that its workload asks to be run concurrently with it; what cannot on `device` is left
/// out with its reason.
///
/// # Errors
/// Too little memory for two copies of the case or for all copies; more copies than there are
/// queues.
pub(super) fn with_co_running(
    suite: &Suite,
    workload: &Workload,
    mut case: Case,
    device: &DeviceInfo,
    limits: &Limits,
) -> Result<Case, String> {
    let copies = workload.copies;
    let here = place(workload);
    // A single queue is measured the same way; among several each copy needs its own.
    if device.queues > 1 && copies > device.queues {
        return Err(format!(
            "{here}: {copies} copies need a queue each, {} has {}",
            device.backend, device.queues
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
    let (mut cases, mut skipped) = (vec![], vec![]);
    for (other, key) in partners(suite, workload) {
        let both = format!("it and `{key}` at once");
        let case = resolve(other, &key, device, limits)
            .and_then(|case| fits(own.saturating_add(device_bytes(&case)), &both).map(|()| case));
        match case {
            Ok(case) => cases.push(case),
            Err(reason) => skipped.push((key.to_string(), reason)),
        }
    }
    case.co_running = Some(CoRunning { cases, copies, skipped });
    Ok(case)
}

/// Every workload that `workload` names, at every size of its own.
fn partners<'a>(suite: &'a Suite, workload: &'a Workload) -> Vec<(&'a Workload, CaseKey)> {
    let named = workload
        .co_running
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
/// another: each on a queue of its own, or all on one.
pub fn concurrent_launches(launches: &[(&Case, &Candidate, KernelId)], queues: u32) -> Recording {
    let mut recording = Recording::default();
    for ((case, candidate, kernel), queue) in launches.iter().zip(0..) {
        let op = Op::Dispatch {
            kernel: *kernel,
            groups: candidate.groups,
            buffers: slices(case),
            params: candidate.param_bytes(),
        };
        recording.push(Queue(if queues > 1 { queue } else { 0 }), vec![], op);
    }
    recording
}
