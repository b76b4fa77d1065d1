//! Every workload at every size, against one device: a case with everything resolved to numbers,
//! or a skip with its reason.

use crate::experiment::Planning;
use crate::plan::{Case, Limits, Planned, Resolution, resolve};
use crate::registry::experiment;
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::reason::Reason;
use gpubench_core::workload::{CaseKey, Skip};
use gpubench_suite::{Requested, Suite, Workload};

/// What `suite` asks for on any device, in the order of the file.
pub fn keys(suite: &Suite) -> Vec<(&Workload, CaseKey)> {
    requests(suite).into_iter().map(|(workload, _, key)| (workload, key)).collect()
}

fn requests(suite: &Suite) -> Vec<(&Workload, &Requested, CaseKey)> {
    let mut requests = Vec::new();
    for workload in &suite.workloads {
        for size in &workload.sizes {
            for requested in &workload.measure {
                for host_memory in requested.host_memory(workload) {
                    let key = CaseKey {
                        workload: workload.name.clone(),
                        size: size.clone(),
                        measure: requested.kind(),
                        host_memory,
                    };
                    requests.push((workload, requested, key));
                }
            }
        }
    }
    requests
}

/// Every case of `suite` on `device`, in the order of the file.
pub fn plan(suite: &Suite, device: &DeviceInfo, limits: &Limits) -> Vec<Planned> {
    let requests = requests(suite).into_iter();
    requests
        .map(|(workload, requested, key)| {
            let planning = Planning { suite, workload, device, limits };
            match one(&planning, requested, &key) {
                Ok(case) => Planned::Case(Box::new(case)),
                Err(reason) => Planned::Skipped(Skip {
                    key,
                    tags: workload.tags.clone(),
                    family: workload.family.clone(),
                    reason,
                }),
            }
        })
        .collect()
}

fn one(planning: &Planning, requested: &Requested, key: &CaseKey) -> Result<Case, Reason> {
    let Planning { workload, device, limits, .. } = planning;
    let experiment = experiment(key.measure).ok_or("no experiment of this build")?;
    let resolution = Resolution {
        buffers: (experiment.buffers)(device, limits),
        divides: experiment.kind.needs().divide,
    };
    let case = resolve(workload, key, resolution, device, limits)?;
    (experiment.plan)(&requested.options, case, planning)
}
