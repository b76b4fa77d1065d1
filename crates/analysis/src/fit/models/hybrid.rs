//! Our own model, hybrid, of counted launches.

use super::KernelModel;
use crate::fit::counted::{Counted, SPECIAL, TRANSCENDENTAL, is_computing};
use crate::fit::device::Device;
use crate::fit::fitted::{Fitted, For, Sample};
use crate::fit::pass::{Bound, Pass};
use crate::fit::unseen::Unseen;
use crate::fit::{Launch, Model};
use gpubench_core::error::Result;
use gpubench_emulator::Class;
use gpubench_model::hybrid::{self, Factor, Factors, Hybrid, Multiples, PARAMETERS, Start, Work};
use std::any::Any;
use std::sync::Arc;

/// The model.
pub(super) const MODEL: Model = Model {
    id: "hybrid",
    name: "hybrid",
    parameters: &PARAMETERS,
    needs_profile: false,
    about: None,
    rules: &HybridModel,
};

/// Its rules.
struct HybridModel;

impl KernelModel for HybridModel {
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
    match what {
        For::All => {
            let strange = hybrid::fit(&measured, Start::Own, Factors::None)?.hybrid;
            all.unseen = Some(unseen(&strange, &measured));
        }
        For::Unseen => all.unseen = Some(unseen(&fitted.hybrid, &measured)),
        For::Seen | For::Draw => {}
    }
    (all.inflation, all.factors) = (fitted.inflation, fitted.hybrid.factors);
    Ok(all)
}

/// What to expect of another kernel.
fn unseen(device: &Hybrid, measured: &[hybrid::Sample]) -> Unseen {
    let off = |sample: &hybrid::Sample| {
        let off = device.left(sample, Multiples::ONE)?;
        Some((sample.work.features().to_vec(), off))
    };
    let launches: Vec<_> = measured.iter().filter_map(off).collect();
    Unseen::new(device.parameters().to_vec(), launches)
}

/// What a launch does that must move so many bytes of buffers of a given size. It touches whole segments of
/// memory, but none that the buffers do not have. Instructions weigh as the device's profile prices them,
/// alike where there is none.
fn work(counted: &Counted, bytes: f64, buffers: f64, device: Option<&Device>) -> Work {
    let weighed = |class: Class, as_much: Class| {
        let weight = device.map_or(1.0, |device| device.rate(as_much) / device.rate(class));
        weight * counted.compiled(class)
    };
    let special = |class: &Class| SPECIAL.contains(class) || TRANSCENDENTAL.contains(class);
    let simple = |class: &Class| is_computing(*class) && !special(class);
    let sum = |classes: &[Class]| classes.iter().map(|&c| weighed(c, Class::FloatDiv)).sum();
    let counts = &counted.group;
    let transactions = counts.global_reads.transactions + counts.global_writes.transactions;
    let warp = f64::from(counts.rules.warp.min(counts.group_size));
    let traffic = transactions as f64 * f64::from(counts.rules.transaction) * counted.groups;
    let rounds = device.map(|device| warp * counted.rounds(device));
    let local = counted.items(Class::LocalRead) + counted.items(Class::LocalWrite);
    Work {
        simple: Class::ALL.into_iter().filter(simple).map(|c| weighed(c, Class::IntAdd)).sum(),
        special: sum(&SPECIAL),
        transcendental: sum(&TRANSCENDENTAL),
        accesses: counted.items(Class::GlobalRead)
            + counted.items(Class::GlobalWrite)
            + counted.items(Class::Atomic),
        local: rounds.unwrap_or(local),
        barriers: counts.barriers as f64 * f64::from(counts.group_size) * counted.groups,
        traffic,
        footprint: traffic.min(buffers).max(bytes),
        groups: counted.groups,
        steps: counted.steps(),
        group_size: counts.group_size.into(),
        idle: counts.idle,
        live_values: counts.live_values.into(),
        local_bytes: counts.local_bytes.into(),
    }
}

impl Pass for Work {
    fn seconds_with(&self, p: &[f64], multiples: Multiples, _: f64) -> f64 {
        Hybrid::of(p).seconds_of(self, multiples)
    }

    /// Computing and local memory, which it adds up, are one part, called after the longer.
    fn parts(&self, p: &[f64], multiples: Multiples) -> Vec<(Bound, f64)> {
        let parts = Hybrid::of(p).parts(self);
        let longer = if parts.local > parts.compute { Bound::Local } else { Bound::Compute };
        let global = (multiples.compute * parts.traffic).max(multiples.memory * parts.memory);
        vec![
            (Bound::Launch, parts.fixed),
            (longer, multiples.compute * (parts.compute + parts.local)),
            (Bound::Global, global),
            (Bound::Latency, multiples.compute * parts.warp),
        ]
    }

    fn multiples(&self, of_kernel: &Factor) -> Multiples {
        of_kernel.at(self)
    }

    fn features(&self) -> Vec<f64> {
        Work::features(self).to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::View;
    use crate::fit::hand_computed::{changed, device, launch};
    use gpubench_emulator::Instructions;

    fn both(times: f64) -> Multiples {
        Multiples::ONE.scaled(times)
    }

    #[test]
    fn a_kernels_factor_multiplies_all_parts_but_the_launch() {
        let work = Work { simple: 1e6, footprint: 2e6, groups: 10.0, ..Work::default() };
        let mut parameters = vec![1e-9; 14];
        parameters[0] = 1e-3;
        let parts = work.parts(&parameters, both(3.0));
        let seconds = |wanted: Bound| parts.iter().find(|(b, _)| *b == wanted).map(|(_, s)| *s);
        assert_eq!(seconds(Bound::Launch), Some(1e-3 + 10.0 * 1e-9));
        assert_eq!(seconds(Bound::Compute), Some(3.0 * 1e6 * 1e-9));
        // A byte costs as much beyond a cache of nothing again.
        let global = seconds(Bound::Global).unwrap();
        assert!((global / 12e-3 - 1.0).abs() < 1e-6, "{global}");
    }

    #[test]
    fn a_launch_takes_no_less_than_one_of_its_warps() {
        let work = Work { simple: 1e3, steps: 1e4, ..Work::default() };
        let parts = work.parts(&[1e-9; 14], both(2.0));
        let longest = parts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        assert_eq!(longest.0, Bound::Latency);
        assert!((longest.1 / 2e-5 - 1.0).abs() < 1e-9, "{longest:?}");
    }

    #[test]
    fn computing_and_local_memory_in_sum_rival_global_memory() {
        let work = Work { simple: 2e6, local: 3e6, traffic: 4e6, ..Work::default() };
        let parts = work.parts(&[1e-9; 14], Multiples::ONE);
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

    /// A group of the launch with these besides: 10 divisions of floats and 6 of integers, 7 exponentials, 32 accesses
    /// to local memory, 5 atomic operations, 3 barriers; a compiler leaves half of the products.
    fn varied() -> Launch {
        changed(8.0, |group| {
            let computing = [(Class::FloatDiv, 10), (Class::IntDiv, 6), (Class::FloatExp, 7)];
            let accesses = [(Class::LocalRead, 20), (Class::LocalWrite, 12), (Class::Atomic, 5)];
            for (class, items) in computing.into_iter().chain(accesses) {
                group.instructions.insert(class, Instructions { items, warps: 1 });
            }
            group.compiled.extend(computing.map(|(class, _)| (class, 1)));
            group.compiled.insert(Class::FloatMul, 5);
            group.barriers = 3;
        })
    }

    #[test]
    fn instructions_count_alike_without_a_profile_and_by_their_price_with_one() {
        let counted = varied().counted.unwrap();
        let wanted = Work {
            simple: 8.0 * 800.0,
            special: 8.0 * 16.0,
            transcendental: 8.0 * 7.0,
            accesses: 8.0 * (128.0 + 64.0 + 5.0),
            local: 8.0 * 32.0,
            barriers: 8.0 * 3.0 * 64.0,
            traffic: 10240.0,
            footprint: 4096.0,
            groups: 8.0,
            steps: 21.0,
            group_size: 64.0,
            ..Work::default()
        };
        assert_eq!(work(&counted, 0.0, 4096.0, None), wanted);
        // A product is twice an addition. Division of floats has no price and costs what is cheapest, an eighth of that
        // of integers. Four rounds of 32 lanes a group in local memory.
        let priced = Work {
            simple: 8.0 * (640.0 + 2.0 * 160.0),
            special: 8.0 * (10.0 + 8.0 * 6.0),
            local: 8.0 * 4.0 * 32.0,
            ..wanted
        };
        let mut found = work(&counted, 0.0, 4096.0, Some(&device()));
        // A ratio of two rates is rounded.
        found.special = found.special.round();
        assert_eq!(found, priced);
        let narrow = changed(8.0, |group| group.group_size = 16).counted.unwrap();
        assert_eq!(work(&narrow, 0.0, 0.0, Some(&device())).local, 8.0 * 4.0 * 16.0);
    }

    #[test]
    fn a_launch_must_move_what_one_of_its_passes_does() {
        let launch = Launch { passes: 4.0, bytes: 80e3, buffers: 1e9, ..launch() };
        let pass = HybridModel.pass(&launch, None).unwrap();
        let seen: &dyn Any = pass.as_ref();
        assert_eq!(seen.downcast_ref::<Work>().unwrap().footprint, 20e3);
    }

    #[test]
    fn local_memory_names_the_part_only_where_it_takes_longer() {
        let bound = |simple, local| {
            let work = Work { simple, local, ..Work::default() };
            work.parts(&[1e-9; 14], Multiples::ONE)[1].0
        };
        assert_eq!(bound(2e6, 3e6), Bound::Local);
        assert_eq!(bound(3e6, 2e6), Bound::Compute);
        assert_eq!(bound(2e6, 2e6), Bound::Compute);
    }

    #[test]
    fn a_launch_takes_what_its_groups_and_its_instructions_cost() {
        let work = Work { simple: 2e6, groups: 1e3, ..Work::default() };
        let mut parameters = vec![1e-9; 14];
        parameters[0] = 1e-3;
        let seconds = work.seconds_with(&parameters, both(3.0), 0.0);
        assert!((seconds - (1e-3 + 1e-6 + 3.0 * 2e-3)).abs() < 1e-12, "{seconds}");
    }

    #[test]
    fn a_kernels_factor_is_that_at_the_launch() {
        let work = Work { simple: 1e6, traffic: 1e6, groups: 10.0, ..Work::default() };
        let multiples = Multiples { compute: 1.0, memory: 2.0 };
        let factor = Factor::new(multiples, [(work, 0.5)].into_iter());
        let found = Pass::multiples(&work, &factor);
        assert!(found.compute > 1.2 && found == factor.at(&work), "{found:?}");
    }

    /// Two kernels of which one takes twice what its counts say.
    #[test]
    fn kernels_have_factors_but_for_others_and_other_kernels_their_own_parameters() {
        let p = [
            1e-6, 4.0, 1e6, 1e-11, 1e-10, 1e-10, 1e-11, 1e-11, 1e-10, 1e-12, 4e-12, 1e-9, 1e-12,
            1e-9,
        ];
        let launches: Vec<Launch> = (0..20)
            .map(|n| {
                let mut launch = changed(f64::from(8 << (n / 2)), |_| ());
                launch.kernel = ["plain", "slow"][n as usize % 2].into();
                launch.seconds = work(launch.counted().unwrap(), 0.0, 0.0, None).seconds_with(
                    &p,
                    both(f64::from(1 + n % 2)),
                    0.0,
                );
                launch
            })
            .collect();
        let samples: Vec<Sample<'_>> = launches
            .iter()
            .map(|launch| Sample { launch, view: View::new(Model::HYBRID, launch, None).unwrap() })
            .collect();
        let fit = |what, near: Option<&Fitted>| fit(&samples, what, near).unwrap();
        let all = fit(For::All, None);
        assert_eq!(all.factors.keys().collect::<Vec<_>>(), ["plain", "slow"]);
        assert_eq!((all.parameters.len(), all.inflation.len()), (14, 14));
        let unseen = all.unseen.clone().unwrap().parameters;
        assert!(unseen.len() == 14 && unseen != all.parameters);
        assert_eq!(Model::HYBRID.fit(&samples, None, For::All, None).unwrap(), all);
        let seen = fit(For::Seen, None);
        assert!(seen.factors.len() == 2 && seen.unseen.is_none());
        let others = fit(For::Unseen, Some(&all));
        assert!(others.factors.is_empty());
        // Another kernel is expected to be off as these are.
        let unseen = others.unseen.clone().unwrap();
        let view = &samples[0].view;
        let expected = both(unseen.multiple(&view.pass.features()));
        assert_ne!(expected, Multiples::ONE);
        assert_eq!(others.seconds("other", view), view.seconds(&unseen.parameters, expected));
        for (sample, launch) in samples.iter().zip(&launches) {
            let ratio = all.seconds(&launch.kernel, &sample.view) / launch.seconds;
            assert!((0.9..1.1).contains(&ratio), "{ratio}");
        }
    }
}
