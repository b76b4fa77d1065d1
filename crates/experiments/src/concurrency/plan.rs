//! Co-running kernels: what runs concurrently with a case, and the recordings of that.

use super::spec::Spec;
use crate::experiment::Planning;
use crate::plan::{Candidate, Case, Resolution, available, device_bytes, place, resolve, slices};
use gpubench_core::gpu::{KernelId, Op, Queue, Recording};
use gpubench_core::reason::{Reason, Room};
use gpubench_core::workload::{CaseKey, Kind, Size};
use gpubench_suite::Workload;
use serde::{Deserialize, Serialize};

/// What runs concurrently with a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoRunning {
    /// Other cases, each a pair with this one. Each is also a pair with itself.
    pub cases: Vec<Case>,
    /// Up to how many copies of the case run at once; 1 for itself only.
    pub copies: u32,
    /// Cases that cannot run concurrently with this one here, each with its reason.
    pub skipped: Vec<(String, String)>,
}

/// All that runs concurrently with `case`; what cannot on this device is skipped with its reason.
///
/// # Errors
/// Too little memory for two copies of the case or for all copies; more copies than there are
/// queues.
pub fn co_running(spec: &Spec, case: &Case, planning: &Planning) -> Result<CoRunning, Reason> {
    let Planning { workload, device, limits, .. } = planning;
    let copies = spec.copies;
    let here = place(workload);
    // A single queue is measured the same way; among several each copy needs its own.
    if device.queues > 1 && copies > device.queues {
        return Err(format!(
            "{here}: {copies} copies need a queue each, {} has {}",
            device.backend, device.queues
        )
        .into());
    }
    let memory = available(device, limits);
    let fits = |bytes, what: &str| Room::Device.check(&format!("{here}: {what}"), bytes, memory);
    let own = device_bytes(case);
    fits(own.saturating_mul(2), "two copies of it")?;
    fits(own.saturating_mul(copies.into()), &format!("{copies} copies of it"))?;
    let (mut cases, mut skipped) = (vec![], vec![]);
    for (other, key) in partners(spec, planning) {
        let both = format!("it and `{key}` at once");
        let case = resolve(other, &key, Resolution::default(), device, limits)
            .and_then(|case| fits(own.saturating_add(device_bytes(&case)), &both).map(|()| case));
        match case {
            Ok(case) => cases.push(case),
            Err(reason) => skipped.push((key.to_string(), reason.to_string())),
        }
    }
    Ok(CoRunning { cases, copies, skipped })
}

/// Every workload that is named, at every size of its own.
fn partners<'a>(spec: &Spec, planning: &Planning<'a>) -> Vec<(&'a Workload, CaseKey)> {
    let workloads = &planning.suite.workloads;
    let named =
        spec.with.iter().filter_map(|(name, _)| workloads.iter().find(|other| other.name == *name));
    let key = |other: &Workload, size: &Size| CaseKey {
        workload: other.name.clone(),
        size: size.clone(),
        measure: Kind::new("concurrency"),
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
