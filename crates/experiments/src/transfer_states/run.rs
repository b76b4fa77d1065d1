//! What several devices move at the same time: the bytes of every state in which each of them is
//! idle, uploads, downloads or does both.
//!
//! All begin at the same moment, each with as many copies as should last as long as the others'.
//! Only what is moved while all of them are at it counts.

use super::analysis::{DEVICES, state_of};
use super::flows::{Piece, moved, pieces, window};
use super::plans::plans;
use crate::buffer_pairs::{allocate, poison, queues, recording, verified};
use crate::plan::Case;
use crate::transfer_states::data::{Moved, MovedState, TransferStates};
use crate::{Bench, DeviceGroup, Stage};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{MemoryKind, Recording};
use gpubench_core::record::Detail;
use gpubench_core::workload::Fill;
use gpubench_model::transfer_states::{State, state_name};
use gpubench_model::transfer_symmetry::{
    Doing, busy, classes, max_busy_for_symmetry, representative, states,
};
use gpubench_reference::{Data, fill};

/// Samples of a state, behind a first one that shows how many copies last how long.
const SAMPLES: usize = 3;
/// The share of the time that states get; plans get the rest.
const STATES_SHARE: f64 = 0.6;
/// Shortest and longest sample, in seconds.
const SAMPLE_SECONDS: [f64; 2] = [0.02, 0.1];
/// Devices whose rates differ by less, in every state that distinguishes, are alike.
const ALIKE: f64 = 0.05;

/// Measures the devices of `bench`.
pub(super) fn measure(cases: &[Case], bench: &mut Bench<DeviceGroup>) -> Result<()> {
    let devices = cases.len();
    let max_devices = *DEVICES.end();
    if devices > max_devices {
        return Err(Error::Unsupported(format!(
            "{devices} devices have {} states; choose up to {max_devices} with --device",
            1_u64 << (2 * devices.min(31))
        )));
    }
    bench.enter(Stage::Prepare);
    let smallest = cases.iter().filter_map(|case| case.buffers.first()).min_by_key(|b| b.count);
    let Some(buffer) = smallest.filter(|_| cases.iter().all(|case| case.buffers.len() == 1)) else {
        return Err(Error::Unsupported("a transfer needs a buffer".into()));
    };
    let host_memory = cases[0].key.host_memory.unwrap_or(MemoryKind::Pageable);
    let copy = buffer.bytes();
    let scalar = buffer.element.scalar;
    let mut data = fill(&Fill::RandomBits, scalar, copy.as_usize() / scalar.size(), cases[0].seed);
    for member in &mut bench.session.members {
        allocate(member, copy, host_memory, &data)?;
        poison(member, &mut data)?;
    }
    let mut movers = Movers::new(bench.lend(), copy.0);
    movers.bench.enter(Stage::Verify);
    movers.run(&vec![[copy.0; 2]; devices])?;
    if !movers.verified(&data, "first copies")? || movers.bench.policy.verify_only {
        return Ok(());
    }
    for member in &mut movers.bench.session.members {
        poison(member, &mut data)?;
    }
    let (measured, classes) = movers.all_states()?;
    let rates: Vec<State> = measured.iter().filter_map(state_of).collect();
    let seconds = (1.0 - STATES_SHARE) * movers.bench.policy.seconds;
    let plans = plans(&mut movers, &rates, &classes, seconds)?;
    movers.bench.enter(Stage::Verify);
    if !movers.verified(&data, "timed copies")? {
        return Ok(());
    }
    let busy = movers.busy;
    bench.measurement.wall.busy += busy;
    bench.measurement.detail = Some(Detail::new(&TransferStates {
        clock: bench.session.clock(),
        host_memory,
        devices: bench.session.names(),
        classes,
        copy: copy.0,
        states: measured,
        plans,
    }));
    Ok(())
}

/// Devices that move data.
pub(super) struct Movers<'a> {
    pub bench: Bench<'a, DeviceGroup>,
    /// Bytes of one copy.
    copy: u64,
    queues: Vec<u32>,
    /// Seconds so far.
    busy: f64,
}

/// What was moved, and how long it took.
pub(super) struct Run {
    /// Seconds until all had ended.
    pub wall: f64,
    /// While all were at it.
    pub moved: Moved,
    /// Seconds that each device took for each direction.
    spans: Vec<[f64; 2]>,
}

impl<'a> Movers<'a> {
    fn new(bench: Bench<'a, DeviceGroup>, copy: u64) -> Self {
        let queues = bench.session.members.iter().map(queues).collect();
        Self { bench, copy, queues, busy: 0.0 }
    }

    /// Moves so many bytes to and from each device, all begun at the same moment.
    pub(super) fn run(&mut self, amounts: &[[u64; 2]]) -> Result<Run> {
        let recordings: Vec<Recording> = amounts
            .iter()
            .zip(&self.queues)
            .map(|(&amounts, &queues)| recording(amounts, self.copy, queues))
            .collect();
        let parts = self.bench.session.run(&recordings)?;
        let pieces: Vec<_> = recordings.iter().zip(&parts).map(|(r, p)| pieces(r, p)).collect();
        let wall = parts.iter().map(|part| part.ended).fold(0.0, f64::max);
        self.busy += wall;
        let span = |pieces: &[Piece]| match window([pieces]) {
            Some([first, _]) => pieces.iter().map(|p| p.ended).fold(0.0, f64::max) - first,
            None => 0.0,
        };
        let spans = pieces.iter().map(|ways| [span(&ways[0]), span(&ways[1])]).collect();
        Ok(Run { wall, moved: moved(&pieces, wall), spans })
    }

    fn verified(&mut self, data: &Data, when: &str) -> Result<bool> {
        for member in 0..self.queues.len() {
            if !verified(&mut self.bench.member(member), data, when)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Every state that no other stands for, and the class of each device.
    fn all_states(&mut self) -> Result<(Vec<MovedState>, Vec<usize>)> {
        let devices = self.bench.session.members.len();
        let all = states(devices);
        let runs = (all.len() * (SAMPLES + 1)) as f64;
        let [shortest, longest] = SAMPLE_SECONDS;
        let seconds = (STATES_SHARE * self.bench.policy.seconds / runs).clamp(shortest, longest);
        let (first, later): (Vec<Doing>, Vec<Doing>) =
            all.into_iter().partition(|doing| busy(doing) <= max_busy_for_symmetry(devices));
        let mut measured = self.states(&first, seconds)?;
        let rates: Vec<State> = measured.iter().filter_map(state_of).collect();
        let sort = |info: &gpubench_core::gpu::DeviceInfo| (info.name.clone(), info.driver.clone());
        let sorts: Vec<_> =
            self.bench.session.members.iter().map(|m| sort(m.device.info())).collect();
        let classes = classes(&sorts, &rates, ALIKE);
        let stands_for_itself = |doing: &Doing| representative(doing, &classes).0 == *doing;
        let later: Vec<Doing> = later.into_iter().filter(stands_for_itself).collect();
        measured.extend(self.states(&later, seconds)?);
        Ok((measured, classes))
    }

    /// States in turn, again and again, so that each sees all of the time's ups and downs: first
    /// with a copy or two each way, which show how many take `seconds`.
    fn states(&mut self, all: &[Doing], seconds: f64) -> Result<Vec<MovedState>> {
        const FIRST: u64 = 2;
        let copies = |does: bool| if does { FIRST * self.copy } else { 0 };
        let first = |doing: &Doing| doing.iter().map(|does| does.map(copies)).collect();
        let mut amounts: Vec<Vec<[u64; 2]>> = all.iter().map(first).collect();
        let state = |doing: &Doing| MovedState { state: state_name(doing), samples: vec![] };
        let mut states: Vec<MovedState> = all.iter().map(state).collect();
        for sample in 0..=SAMPLES {
            for (amounts, state) in amounts.iter_mut().zip(&mut states) {
                self.bench.enter(Stage::Measure);
                let run = self.run(amounts)?;
                if sample > 0 {
                    state.samples.push(run.moved);
                }
                *amounts = self.lasting(amounts, &run.spans, seconds);
            }
        }
        Ok(states)
    }

    /// Whole copies that should take as long each way on each device, as `amounts` took `spans`:
    /// `seconds`, or longer where the slowest way has a few copies to make.
    fn lasting(&self, amounts: &[[u64; 2]], spans: &[[f64; 2]], seconds: f64) -> Vec<[u64; 2]> {
        const MIN_COPIES: f64 = 4.0;
        const MAX_COPIES: f64 = 4096.0;
        // Copies a second.
        let rate = |amount: u64, span: f64| amount as f64 / span.max(1e-9) / self.copy as f64;
        let flows = || amounts.iter().flatten().zip(spans.iter().flatten());
        let slowest = flows().filter(|(amount, _)| **amount > 0).map(|(&a, &s)| rate(a, s));
        let seconds = seconds.max(MIN_COPIES / slowest.fold(f64::INFINITY, f64::min));
        let whole = |amount: u64, span: f64| match amount {
            0 => 0,
            _ => (rate(amount, span) * seconds).round().clamp(1.0, MAX_COPIES) as u64 * self.copy,
        };
        let ways = |(a, s): (&[u64; 2], &[f64; 2])| [whole(a[0], s[0]), whole(a[1], s[1])];
        amounts.iter().zip(spans).map(ways).collect()
    }
}
