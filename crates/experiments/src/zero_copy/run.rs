//! A kernel in each kind of zero-copy memory, in turn with the same kernel between copies.
//!
//! Both have buffers of their own. What the host does with the memory that it has mapped is left out on both sides: a
//! program writes and reads its data either way. Maps keep the contents, so that timed launches can be compared.

use super::data::{InPlace, ZeroCopy};
use super::plan::{Side, copy, in_order, map, unmap};
use crate::autotune::{BuiltVariant, KERNEL};
use crate::check::Check;
use crate::chunks::set_up;
use crate::expected::expected;
use crate::plan::{Case, GUARD, host_mirror, launches};
use crate::session::span;
use crate::timing::{MIN_SAMPLES_IN_TURN, in_turn, wall_clock};
use crate::{Bench, Policy, Stage, memory};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Clock, HOST_RESOLUTION, MemoryKind, Recording, ZeroCopy as Kind};
use gpubench_core::record::{Detail, Measured};
use gpubench_core::units::Bytes;
use gpubench_reference::Data;

/// Most launches in one sample.
const MAX_BATCH: u32 = 1000;
/// Recordings of a turn.
const RECORDINGS: f64 = 8.0;

/// Measures `case` with `bench`.
pub(super) fn measure(case: &Case, bench: &mut Bench) -> Result<()> {
    bench.enter(Stage::Prepare);
    let initial = memory::initial(case);
    let (variant, host_memory) = set_up(case, &initial, bench)?;
    bench.enter(Stage::Verify);
    let wanted = expected(case, variant.candidate, || initial.clone(), bench.policy)?;
    let apart = case.at_place(1);
    let check = |case| Check { case, initial: &initial, wanted: wanted.as_ref() };
    let (copied, in_place) = (check(case), check(&apart));
    let kinds = bench.device().info().zero_copy.clone();
    let policy = Policy {
        min_samples: bench.policy.min_samples.min(MIN_SAMPLES_IN_TURN),
        seconds: bench.policy.seconds / (RECORDINGS * kinds.len() as f64),
        ..bench.policy.clone()
    };
    let bench_in_turn = bench.with_policy(&policy);
    let mut ways = Ways { bench: bench_in_turn, variant: &variant, copied, in_place };
    if !ways.copies_are_right(true)? {
        return Ok(());
    }
    let (mut measured, mut skipped) = (vec![], vec![]);
    for kind in &kinds {
        match ways.tried(kind, &mut measured) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(Error::Unsupported(why) | Error::OutOfMemory(why)) => {
                skipped.push((kind.allocation.clone(), why));
            }
            Err(error) => return Err(error),
        }
    }
    if let (Some((_, why)), true) = (skipped.first(), skipped.len() == kinds.len()) {
        return Err(Error::Unsupported(why.clone()));
    }
    if !measured.is_empty() {
        conclude(case, &variant, bench, host_memory, (measured, skipped));
    }
    Ok(())
}

/// What was measured becomes the record: the kernel in the first kind of memory stands for the case.
fn conclude(
    case: &Case,
    variant: &BuiltVariant,
    bench: &mut Bench,
    host_memory: MemoryKind,
    (measured, skipped): (Vec<Timed>, Vec<(String, String)>),
) {
    let clock = measured.first().map_or(Clock::Host, |timed| timed.clock);
    let batch = measured.first().map_or(1, |timed| timed.batch);
    let kinds: Vec<InPlace> = measured.into_iter().map(|timed| timed.times).collect();
    let samples = kinds.first().map(|kind| kind.kernel.clone()).unwrap_or_default();
    let bytes = [Side::Before, Side::Behind].map(|side| side.bytes(case));
    let detail = ZeroCopy { clock, host_memory, bytes, kinds, skipped };
    bench.measurement.measured = Some(Measured {
        batch,
        flops: variant.candidate.flops,
        bytes: variant.candidate.bytes,
        types: variant.candidate.types.clone(),
        ..Measured::of(samples, clock, HOST_RESOLUTION)
    });
    bench.measurement.detail = Some(Detail::new(&detail));
    bench.measurement.flag_if_not_converged(bench.policy);
}

/// Both ways to the result.
struct Ways<'a> {
    bench: Bench<'a>,
    variant: &'a BuiltVariant<'a>,
    copied: Check<'a>,
    in_place: Check<'a>,
}

/// The times of one kind of memory.
struct Timed {
    times: InPlace,
    clock: Clock,
    batch: u32,
}

impl Ways<'_> {
    fn launches(&self, case: &Case, count: u32) -> Recording {
        launches(case, self.variant.candidate, KERNEL, count)
    }

    /// Copies, a launch between them, and copies.
    fn between_copies(&self) -> Recording {
        let case = self.copied.case;
        in_order([copy(case, Side::Before), self.launches(case, 1), copy(case, Side::Behind)])
    }

    /// A launch between the host's turns with the memory.
    fn between_maps(&self) -> Recording {
        let (case, before, behind) = (self.in_place.case, Side::Before, Side::Behind);
        let launch = self.launches(case, 1);
        in_order([
            map(case, before),
            unmap(case, before),
            launch,
            map(case, behind),
            unmap(case, behind),
        ])
    }

    /// Whether the host's mirrors hold what is expected: of copies of now, where `fresh`, else of earlier ones.
    fn copies_are_right(&mut self, fresh: bool) -> Result<bool> {
        self.bench.enter(Stage::Verify);
        let case = self.copied.case;
        if fresh {
            memory::poison(self.bench.device(), case)?;
            self.poison_mirrors()?;
            let recording = self.between_copies();
            self.bench.device().run(&recording)?;
        }
        let when = "launch between copies";
        if !self.copied.guards(&mut self.bench, when)? {
            return Ok(false);
        }
        let Bench { session, measurement, .. } = &mut self.bench;
        self.copied.all(measurement, when, |i| {
            let buffer = &case.buffers[i];
            let mut bytes = session.device.read(host_mirror(case, i))?;
            bytes.truncate(buffer.bytes().as_usize());
            Ok(Data::from_bytes(buffer.element.scalar, &bytes))
        })
    }

    fn poison_mirrors(&mut self) -> Result<()> {
        let case = self.copied.case;
        for (i, data) in self.copied.before().iter().enumerate() {
            self.bench.device().write(host_mirror(case, i), data.as_bytes())?;
        }
        Ok(())
    }

    /// Verifies a kind of memory, times it unless that was all, and verifies it again; whether it is right.
    fn tried(&mut self, kind: &Kind, measured: &mut Vec<Timed>) -> Result<bool> {
        if !self.is_right(kind)? {
            return Ok(false);
        }
        if self.bench.policy.verify_only {
            return Ok(true);
        }
        measured.push(self.timed(kind)?);
        self.timed_are_right()
    }

    /// Whether a launch in this kind of memory gives what is expected.
    fn is_right(&mut self, kind: &Kind) -> Result<bool> {
        self.bench.enter(Stage::Prepare);
        let case = self.in_place.case;
        for (i, buffer) in case.buffers.iter().enumerate() {
            let bytes = Bytes(buffer.bytes().0 + 2 * GUARD.0);
            self.bench.device().alloc(case.buffer(i), bytes, kind.memory)?;
        }
        memory::write(self.bench.device(), case, self.in_place.initial, false)?;
        self.bench.enter(Stage::Verify);
        let launch = self.between_maps();
        self.in_place.whole(&mut self.bench, &launch, "launch in zero-copy memory")
    }

    /// Everything once in every turn, over results that were forgotten.
    fn timed(&mut self, kind: &Kind) -> Result<Timed> {
        self.bench.enter(Stage::Measure);
        let (case, before, behind) = (self.in_place.case, Side::Before, Side::Behind);
        let once = self.launches(case, 1);
        let slower = span(&self.bench.device().run(&once)?).max(self.variant.launch);
        let batch = self.bench.session.batch(slower, MAX_BATCH);
        for check in [&self.in_place, &self.copied] {
            memory::write(self.bench.device(), check.case, &check.before(), true)?;
        }
        self.poison_mirrors()?;
        let recordings = [
            self.launches(self.copied.case, batch),
            map(case, before),
            unmap(case, before),
            self.launches(case, batch),
            map(case, behind),
            unmap(case, behind),
            self.between_maps(),
            self.between_copies(),
        ];
        let unnamed = recordings.map(|recording| {
            let names = vec![String::new(); recording.steps.len()];
            (recording, names)
        });
        let seconds = self.bench.policy.seconds;
        let (timed, steps) = in_turn(&mut self.bench, unnamed, seconds)?;
        let [
            device_kernel,
            map_to_write,
            unmap_written,
            kernel,
            map_to_read,
            unmap_read,
            whole,
            copied,
        ] = timed.map(|timed| timed.walls);
        let one = |batches: Vec<f64>| batches.iter().map(|wall| wall / f64::from(batch)).collect();
        let times = InPlace {
            memory: kind.memory,
            allocation: kind.allocation.clone(),
            map_to_write,
            unmap_written,
            kernel: one(kernel),
            map_to_read,
            unmap_read,
            whole,
            device_kernel: one(device_kernel),
            copied,
        };
        Ok(Timed { times, clock: wall_clock(steps), batch })
    }

    /// What the timed launches left behind is what is expected, too; a kernel that works in place is launched anew.
    fn timed_are_right(&mut self) -> Result<bool> {
        self.bench.enter(Stage::Verify);
        let when = "timed launches in zero-copy memory";
        let in_place = match self.in_place.in_place() {
            true => {
                let launch = self.between_maps();
                self.in_place.whole(&mut self.bench, &launch, when)?
            }
            false => self.in_place.results(&mut self.bench, when)?,
        };
        Ok(in_place && self.copies_are_right(self.copied.in_place())?)
    }
}
