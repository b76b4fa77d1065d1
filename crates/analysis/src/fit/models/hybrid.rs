//! Our own model, hybrid, of counted launches.

use super::KernelModel;
use crate::fit::counted::{Counted, SPECIAL, is_computing};
use crate::fit::device::Device;
use crate::fit::fitted::{Fitted, For, Sample};
use crate::fit::pass::{Bound, Pass};
use crate::fit::{Launch, Model};
use gpubench_core::error::Result;
use gpubench_emulator::Class;
use gpubench_model::hybrid::{self, Factor, Factors, Hybrid, PARAMETERS, Start, Work};
use std::any::Any;
use std::sync::Arc;

/// The model.
pub(super) struct HybridModel;

impl KernelModel for HybridModel {
    fn id(&self) -> &'static str {
        "hybrid"
    }

    fn parameters(&self) -> &'static [&'static str] {
        &PARAMETERS
    }

    fn pass(&self, launch: &Launch, device: Option<&Device>) -> Result<Arc<dyn Pass>> {
        let bytes = launch.bytes / launch.passes;
        Ok(Arc::new(work(launch.counted()?, bytes, launch.buffers, device)))
    }

    fn own_fit(
        &self,
        samples: &[Sample<'_>],
        what: For,
        near: Option<&Fitted>,
    ) -> Option<Result<Fitted>> {
        Some(fit(samples, what, near))
    }
}

fn fit(samples: &[Sample<'_>], what: For, near: Option<&Fitted>) -> Result<Fitted> {
    let measured = samples.iter().filter_map(|sample| {
        let pass: &dyn Any = sample.view.pass.as_ref();
        Some(hybrid::Sample {
            kernel: sample.launch.kernel.clone(),
            work: *pass.downcast_ref()?,
            seconds: sample.seconds(),
        })
    });
    let measured: Vec<_> = measured.collect();
    let start = match (near, what) {
        (Some(near), _) => Start::Near(&near.parameters),
        (None, For::All) => Start::Own,
        (None, _) => Start::Rough,
    };
    let factors = if what == For::Unseen { Factors::None } else { Factors::Each };
    let fitted = hybrid::fit(&measured, start, factors)?;
    let mut all = Fitted::new(Model::HYBRID, fitted.hybrid.parameters().to_vec());
    (all.inflation, all.factors) = (fitted.inflation, fitted.hybrid.factors);
    if what == For::All {
        let strange = hybrid::fit(&measured, Start::Own, Factors::None)?.hybrid;
        all.unseen_parameters = Some(strange.parameters().to_vec());
    }
    Ok(all)
}

/// What a launch does that must move so many bytes of buffers of a given size. It touches whole segments of
/// memory, but none that the buffers do not have. Instructions weigh as the device's profile prices them,
/// alike where there is none.
fn work(counted: &Counted, bytes: f64, buffers: f64, device: Option<&Device>) -> Work {
    let weighed = |class: Class, as_much: Class| {
        let weight = device.map_or(1.0, |device| device.rate(as_much) / device.rate(class));
        weight * counted.items(class)
    };
    let simple = |class: &Class| is_computing(*class) && !SPECIAL.contains(class);
    let counts = &counted.group;
    let transactions = counts.global_reads.transactions + counts.global_writes.transactions;
    let warp = f64::from(counts.rules.warp.min(counts.group_size));
    let traffic = transactions as f64 * f64::from(counts.rules.transaction) * counted.groups;
    let rounds = device.map(|device| warp * counted.rounds(device));
    let local = counted.items(Class::LocalRead) + counted.items(Class::LocalWrite);
    Work {
        simple: Class::ALL.into_iter().filter(simple).map(|c| weighed(c, Class::IntAdd)).sum(),
        special: SPECIAL.into_iter().map(|class| weighed(class, Class::FloatDiv)).sum(),
        accesses: counted.items(Class::GlobalRead)
            + counted.items(Class::GlobalWrite)
            + counted.items(Class::Atomic),
        local: rounds.unwrap_or(local),
        barriers: counts.barriers as f64 * f64::from(counts.group_size) * counted.groups,
        traffic,
        footprint: traffic.min(buffers).max(bytes),
        groups: counted.groups,
    }
}

impl Pass for Work {
    fn seconds_with(&self, p: &[f64], factor: f64, _: f64) -> f64 {
        Hybrid::of(p).times_of(self, factor)
    }

    /// Computing and local memory, which it adds up, are one part, called after the longer.
    fn parts(&self, p: &[f64], factor: f64) -> Vec<(Bound, f64)> {
        let [launch, compute, local, global] = Hybrid::of(p).parts_of(self);
        let longer = if local > compute { Bound::Local } else { Bound::Compute };
        vec![
            (Bound::Launch, launch),
            (longer, factor * (compute + local)),
            (Bound::Global, factor * global),
        ]
    }

    fn factor(&self, of_kernel: &Factor) -> f64 {
        of_kernel.at(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernels_factor_multiplies_all_parts_but_the_launch() {
        let work = Work { simple: 1e6, footprint: 2e6, groups: 10.0, ..Work::default() };
        let mut parameters = vec![1e-9; 12];
        parameters[0] = 1e-3;
        let parts = work.parts(&parameters, 3.0);
        let seconds = |wanted: Bound| parts.iter().find(|(b, _)| *b == wanted).map(|(_, s)| *s);
        assert_eq!(seconds(Bound::Launch), Some(1e-3 + 10.0 * 1e-9));
        assert_eq!(seconds(Bound::Compute), Some(3.0 * 1e6 * 1e-9));
        // A byte costs as much beyond a cache of nothing again.
        let global = seconds(Bound::Global).unwrap();
        assert!((global / 12e-3 - 1.0).abs() < 1e-6, "{global}");
    }

    #[test]
    fn computing_and_local_memory_in_sum_rival_global_memory() {
        let work = Work { simple: 2e6, local: 3e6, traffic: 4e6, ..Work::default() };
        let parts = work.parts(&[1e-9; 12], 1.0);
        let longest = parts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        assert_eq!(longest.0, Bound::Local);
        assert!((longest.1 / 5e-3 - 1.0).abs() < 1e-9, "{longest:?}");
    }

    #[test]
    fn a_launch_touches_whole_segments_but_no_more_than_its_buffers_hold() {
        let counted = crate::fit::hand_computed::launch().counted.unwrap();
        let footprint = |bytes, buffers| work(&counted, bytes, buffers, None).footprint;
        // 8 groups of 10 transactions.
        assert_eq!(work(&counted, 0.0, 0.0, None).traffic, 10240.0);
        assert_eq!(footprint(4096.0, 1e9), 10240.0);
        assert_eq!(footprint(4096.0, 6000.0), 6000.0);
        assert_eq!(footprint(20000.0, 20000.0), 20000.0);
    }
}
