//! A domain cut into parts that exchange their halos after every pass: packed on the device, against
//! in bulk through the host (`domain` says how).
//!
//! Both designs, and the domain undivided, must give after several steps what the reference gives.
//! Everything is timed step by step on the host's clock: of the packed design each pass is one
//! recording, with all its copies; of the bulk design the host has work between two recordings,
//! which is timed and added. What the library needs to bring the host's buffer to this process and
//! back is left out, since a program that exchanges halos works in that buffer.

use super::data;
use crate::autotune::{BuiltVariant, KERNEL, autotune};
use crate::check::{Check, worst};
use crate::chunks::best_kind;
use crate::domain::{Decomposition, PACK, UNPACK};
use crate::expected::after_launches;
use crate::plan::{Candidate, Case, launches};
use crate::timing::{MIN_SAMPLES_IN_TURN, fastest, time, walls};
use crate::{Bench, Policy, Stage, compare, memory};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Clock, DeviceKind, MemoryKind, Recording, Timeline};
use gpubench_core::record::{Detail, Timed};
use gpubench_core::units::Bytes;
use gpubench_core::workload::Verify;
use gpubench_device::Device;
use gpubench_reference::Data;
use std::time::Instant;

/// Steps after which results are compared: what is wrong in a halo has by then travelled on.
const STEPS: u32 = 3;
/// Of the case's time, each of four designs gets such a part: the rest is spent on restoring and
/// comparing.
const SHARE: f64 = 10.0;

/// Measures `case` with `bench`.
pub(super) fn measure(case: &Case, bench: &mut Bench) -> Result<()> {
    let plan: &Decomposition = &case.planned()?;
    bench.enter(Stage::Prepare);
    let domain = domain(case, plan)?;
    let host_memory = allocate(bench.device(), case, plan)?;
    write(bench.device(), case, &domain)?;
    let BuiltVariant { candidate, .. } = autotune(case, bench)?;
    bench.enter(Stage::Build);
    bench.device().build(PACK, &plan.pack)?;
    bench.device().build(UNPACK, &plan.unpack)?;
    let is_tuned = |other: &Candidate| other.label == candidate.label;
    // By its label: the case may lack variants that the parts have.
    let no_part = || Error::Unsupported("no part has the variant that is the fastest".into());
    let variant = plan.parts[0].candidates.iter().position(is_tuned).ok_or_else(no_part)?;
    bench.enter(Stage::Verify);
    let wanted = wanted(case, candidate, (plan, &domain), bench.policy)?;
    let bulk = vec![0.0; plan.parts.len() * plan.bulk_elements() as usize];
    let mut steps = Steps {
        bench: bench.lend(),
        case,
        plan,
        variant,
        candidate,
        domain,
        wanted,
        whole: vec![],
        bulk,
    };
    let Some(identical) = steps.verified("first steps")? else { return Ok(()) };
    if steps.bench.policy.verify_only {
        return Ok(());
    }
    let mut halo = steps.timed(host_memory)?;
    if steps.verified("steps after the timed ones")?.is_none() {
        return Ok(());
    }
    halo.identical = identical;
    let designs = [&halo.packed, &halo.bulk].map(|timed| &timed.walls[..]);
    let work = [candidate.flops, candidate.bytes];
    bench.measurement.measured = Some(fastest(designs, halo.clock, work));
    bench.measurement.detail = Some(Detail::new(&halo));
    bench.measurement.flag_if_not_converged(bench.policy);
    Ok(())
}

/// The two designs.
#[derive(Clone, Copy)]
enum Design {
    Packed,
    Bulk,
}

/// Time steps of a domain, in each design.
struct Steps<'a> {
    bench: Bench<'a>,
    case: &'a Case,
    plan: &'a Decomposition,
    /// The variant of the kernel: its number and itself.
    variant: usize,
    candidate: &'a Candidate,
    /// The domain before the first step.
    domain: Vec<f32>,
    /// And after the last.
    wanted: Vec<f32>,
    /// What the device made of the domain undivided; empty before that.
    whole: Vec<f32>,
    /// The host's side of copies in bulk.
    bulk: Vec<f32>,
}

impl Steps<'_> {
    /// Whether the results of both designs are those of the undivided domain to the bit; `None` where
    /// one is wrong.
    fn verified(&mut self, when: &str) -> Result<Option<[bool; 2]>> {
        self.bench.enter(Stage::Verify);
        if self.whole.is_empty() && !self.undivided(when)? {
            return Ok(None);
        }
        let whole = std::mem::take(&mut self.whole);
        let mut identical = [false; 2];
        for (design, name) in [(Design::Packed, "packed"), (Design::Bulk, "in bulk")] {
            self.restore()?;
            for _ in 0..STEPS {
                self.step(design)?;
            }
            let mut found = vec![0.0; whole.len()];
            for (part, case) in self.plan.parts.iter().enumerate() {
                let array = numbers(memory::read(self.bench.device(), case, 0)?)?;
                self.plan.put(part, &array, &mut found);
            }
            let when = format!("{when}, {name}");
            let bits = bytemuck::cast_slice::<f32, u32>;
            let is_identical = bits(&found) == bits(&whole);
            // What is to the bit as the domain undivided is as right as that.
            if !self.guarded(&when, &self.plan.parts)?
                || !is_identical && !self.right(&found, &when)
            {
                return Ok(None);
            }
            identical[design as usize] = is_identical;
        }
        self.whole = whole;
        Ok(Some(identical))
    }

    /// Computes the domain undivided, once for all; whether it is right.
    fn undivided(&mut self, when: &str) -> Result<bool> {
        write(self.bench.device(), self.case, &self.domain)?;
        self.bench.device().run(&launches(self.case, self.candidate, KERNEL, STEPS))?;
        let whole = numbers(memory::read(self.bench.device(), self.case, 0)?)?;
        let when = format!("{when}, undivided");
        let is_right =
            self.guarded(&when, std::slice::from_ref(self.case))? && self.right(&whole, &when);
        self.whole = whole;
        Ok(is_right)
    }

    /// Whether the guards of what was computed in are untouched.
    fn guarded(&mut self, when: &str, cases: &[Case]) -> Result<bool> {
        for case in cases {
            let unseen = Check { case, initial: &[], wanted: None };
            if !unseen.guards(&mut self.bench, when)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Compares a result with the reference's.
    fn right(&mut self, found: &[f32], when: &str) -> bool {
        let Verify::Reference(_, allowed) = &self.case.verify else { return true };
        let (found, wanted) = (Data::F32(found.to_vec()), Data::F32(self.wanted.clone()));
        let name = &self.case.buffers[0].name;
        let (norms, mismatch) = compare(name, &wanted, &found, *allowed, when);
        let measurement = &mut *self.bench.measurement;
        measurement.norms = Some(worst(measurement.norms, norms));
        mismatch.map(|mismatch| measurement.mismatch(mismatch)).is_none()
    }

    /// Every part as it is before the first step, and what halos travel through poisoned.
    fn restore(&mut self) -> Result<()> {
        for (part, case) in self.plan.parts.iter().enumerate() {
            write(self.bench.device(), case, &self.plan.carved(part, &self.domain))?;
        }
        let (ways, device) = (self.plan.ways(), self.bench.device());
        let poison = vec![0xff; self.plan.face_bytes().as_usize()];
        for buffer in [ways.leaving, ways.arriving, ways.faces] {
            device.write(buffer, &poison)?;
        }
        self.bulk.fill(f32::NAN);
        device.write(ways.bulk, bytemuck::cast_slice(&self.bulk))
    }

    /// One time step; its wall time and, of that, the host's own.
    fn step(&mut self, design: Design) -> Result<(Timeline, f64)> {
        let (mut wall, mut host, mut last) = (0.0, 0.0, None);
        for pass in 0..self.plan.exchanges.len() {
            let (timeline, own) = match design {
                Design::Packed => (self.bench.session.device.run(&self.packed(pass))?, 0.0),
                Design::Bulk => self.in_bulk(pass)?,
            };
            wall += timeline.wall + own;
            host += own;
            last = Some(timeline);
        }
        let none = || Error::Unsupported("the workload has no pass".into());
        Ok((Timeline { wall, steps: vec![], ..last.ok_or_else(none)? }, host))
    }

    fn packed(&self, pass: usize) -> Recording {
        let mut recording = self.computed(pass);
        self.plan.leave(&mut recording, pass, |_| true);
        self.plan.arrive(&mut recording, pass, |_| true);
        recording
    }

    /// A pass on all parts, and nothing exchanged.
    fn computed(&self, pass: usize) -> Recording {
        let mut recording = Recording::default();
        self.plan.compute(&mut recording, (self.variant, KERNEL), pass, 0..self.plan.parts.len());
        recording
    }

    fn in_bulk(&mut self, pass: usize) -> Result<(Timeline, f64)> {
        let mut there = self.computed(pass);
        let (buffer, device) = (self.plan.ways().bulk, self.bench.device());
        self.plan.bulk(&mut there, pass, true);
        let there = device.run(&there)?;
        bytemuck::cast_slice_mut(&mut self.bulk).copy_from_slice(&device.read(buffer)?);
        let begun = Instant::now();
        self.plan.exchange(pass, &mut self.bulk);
        // The host's seconds say nothing of a simulated machine.
        let own = if there.clock == Clock::Simulated { 0.0 } else { begun.elapsed().as_secs_f64() };
        device.write(buffer, bytemuck::cast_slice(&self.bulk))?;
        let mut back = Recording::default();
        self.plan.bulk(&mut back, pass, false);
        let back = device.run(&back)?;
        Ok((Timeline { wall: there.wall + back.wall, ..back }, own))
    }

    /// A step undivided, in parts without exchange, and by both designs.
    fn timed(&mut self, host_memory: MemoryKind) -> Result<data::Halo> {
        self.bench.enter(Stage::Measure);
        let policy = self.bench.policy;
        let share = policy.seconds / SHARE;
        let min_samples = policy.min_samples.min(MIN_SAMPLES_IN_TURN);
        // A simulated step computes the reference, and its times scatter as they are configured to.
        let simulated = self.bench.device().info().kind == DeviceKind::Simulated;
        let max_samples = if simulated { min_samples } else { policy.max_samples };
        let policy = &Policy { min_samples, max_samples, ..policy.clone() };
        write(self.bench.device(), self.case, &self.domain)?;
        let whole = launches(self.case, self.candidate, KERNEL, 1);
        let bench = &mut self.bench.with_policy(policy);
        let (undivided, clock) = time(bench, &whole, share, |pass| format!("pass {}", pass + 1))?;
        self.restore()?;
        let mut alone = Recording::default();
        for pass in 0..self.plan.exchanges.len() {
            alone.steps.extend(self.computed(pass).steps);
        }
        let parts = self.plan.parts.len();
        let name = |i: usize| format!("part {}, pass {}", i % parts + 1, i / parts + 1);
        let (parts, _) = time(&mut self.bench.with_policy(policy), &alone, share, name)?;
        let mut of = |design: Design| -> Result<(Timed, Vec<f64>)> {
            self.restore()?;
            let mut hosts = vec![];
            let (walls, _) = walls(policy, share, || {
                let (timeline, host) = self.step(design)?;
                hosts.push(host);
                Ok(timeline)
            })?;
            // Those of the warm-up are no samples.
            let hosts = hosts.split_off(hosts.len() - walls.len());
            Ok((Timed { walls, steps: vec![] }, hosts))
        };
        let ((packed, _), (bulk, host)) = (of(Design::Packed)?, of(Design::Bulk)?);
        let total = |timed: &Timed| timed.walls.iter().sum::<f64>();
        self.bench.measurement.wall.busy += [&packed, &bulk].map(total).iter().sum::<f64>();
        Ok(data::Halo {
            clock,
            host_memory,
            cells: self.plan.domain.cells,
            cuts: self.plan.cuts,
            undivided,
            parts,
            packed,
            bulk,
            host,
            bytes: self.plan.bytes(),
            copies: self.plan.copies(),
            identical: [false; 2],
        })
    }
}

/// The domain before the first step: as the suite fills it, and nothing outside.
fn domain(case: &Case, plan: &Decomposition) -> Result<Vec<f32>> {
    numbers(memory::initial(case).swap_remove(0)).map(|drawn| plan.closed(&drawn))
}

/// The domain after all steps, by the reference; nothing outside, as the parts are put together.
fn wanted(
    case: &Case,
    candidate: &Candidate,
    (plan, domain): (&Decomposition, &[f32]),
    policy: &Policy,
) -> Result<Vec<f32>> {
    let Verify::Reference(name, _) = &case.verify else {
        return Err(Error::Unsupported("there is no reference to go on with".into()));
    };
    let closed = format!("closed-{:?}", plan.domain.cells);
    let start = (&closed[..], || vec![Data::F32(domain.to_vec())]);
    let mut field = after_launches((name, STEPS), case, candidate, start, policy)?;
    numbers(field.swap_remove(0).1)
}

/// All buffers; which kind of host memory halos travel through.
fn allocate(device: &mut dyn Device, case: &Case, plan: &Decomposition) -> Result<MemoryKind> {
    for case in std::iter::once(case).chain(&plan.parts) {
        memory::allocate(device, case)?;
    }
    let kind = best_kind(&device.info().host_memory);
    let (ways, faces) = (plan.ways(), plan.face_bytes());
    let bulk = Bytes(4 * plan.parts.len() as u64 * plan.bulk_elements());
    device.alloc(ways.leaving, faces, MemoryKind::Device)?;
    device.alloc(ways.arriving, faces, MemoryKind::Device)?;
    device.alloc(ways.faces, faces, kind)?;
    device.alloc(ways.bulk, bulk, kind)?;
    Ok(kind)
}

fn write(device: &mut dyn Device, case: &Case, array: &[f32]) -> Result<()> {
    memory::write(device, case, &[Data::F32(array.to_vec())], false)
}

fn numbers(data: Data) -> Result<Vec<f32>> {
    match data {
        Data::F32(numbers) => Ok(numbers),
        _ => Err(Error::Device("a domain in parts is made of `f32`".into())),
    }
}
