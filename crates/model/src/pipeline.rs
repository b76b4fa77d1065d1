//! Model 1, pipeline: exactly how long do chunks take through send, kernel and receive?
//!
//! Beyond L14 §3.1.1 ([`super::streams`]): chunks of any sizes, 0 to 2 copy engines, a cost per
//! command, and copies that slow each other. With two copy engines at full rates and no cost it is
//! the flow-shop recurrence `end_h[i] = end_h[i−1] + h_i`, `end_k[i] = max(end_h[i], end_k[i−1]) + k_i`,
//! `end_d[i] = max(end_k[i], end_d[i−1]) + d_i`.

use super::streams::Stages;
use super::transfer::Duplex;

/// How a device runs copies beside kernels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Engines {
    /// Copy engines: 0 (nothing overlaps), 1 (one copy beside a kernel) or 2 (one a direction).
    pub count: u32,
    /// Seconds that each command takes besides its work, `o`.
    pub command: f64,
    /// What is left of each direction's rate while both run (two engines).
    pub duplex: Duplex,
}

impl Engines {
    /// `count` engines that cost nothing and do not slow each other.
    pub const fn ideal(count: u32) -> Self {
        Self { count, command: 0.0, duplex: Duplex::FULL }
    }

    /// Seconds until the last of `chunks` is received, when each stage takes its chunks in order
    /// and a chunk's stages follow one another.
    ///
    /// A stage without work is no command. One copy engine serves the copy first that became
    /// ready first (the one that its stage's last chunk and its own last stage allow), sends
    /// before receives when both became ready at once.
    pub fn makespan(&self, chunks: &[Stages]) -> f64 {
        if self.count == 0 {
            let cost = |work: f64| if work > 0.0 { work + self.command } else { 0.0 };
            return chunks.iter().map(|c| cost(c.send) + cost(c.kernel) + cost(c.receive)).sum();
        }
        let mut flow = Flow::new(self, chunks);
        flow.start();
        while flow.advance() {
            flow.start();
        }
        flow.now
    }
}

/// The share that was saved of what ideal overlap would save: `(serial − seconds) / (serial −
/// longest stage)`. `None` when there is nothing to save.
pub fn saved_share(whole: Stages, seconds: f64) -> Option<f64> {
    let ideal = whole.serial() - whole.longest();
    (ideal > 0.0).then(|| (whole.serial() - seconds) / ideal)
}

/// The share of the serial time that ideal overlap would save: `1 − longest stage / serial`. 0
/// where there is no time.
pub fn ideal_share(whole: Stages) -> f64 {
    let serial = whole.serial();
    if serial > 0.0 { 1.0 - whole.longest() / serial } else { 0.0 }
}

/// The three stages, as positions in [`Flow::lanes`].
const SEND: usize = 0;
const KERNEL: usize = 1;
const RECEIVE: usize = 2;

/// One stage, which takes its chunks in order.
#[derive(Clone, Copy, Default)]
struct Lane {
    /// Chunks done.
    done: usize,
    /// When the last of them was done.
    since: f64,
    /// What is left of the command that runs.
    running: Option<Command>,
}

/// What is left of a running command.
#[derive(Clone, Copy)]
struct Command {
    /// Seconds of the command itself; they pass first.
    cost: f64,
    /// Seconds of work, were it alone.
    work: f64,
}

/// Chunks on their way through the stages, event by event.
struct Flow<'a> {
    engines: &'a Engines,
    chunks: &'a [Stages],
    now: f64,
    lanes: [Lane; 3],
    /// When each kernel was done.
    kernel_ends: Vec<f64>,
}

impl<'a> Flow<'a> {
    fn new(engines: &'a Engines, chunks: &'a [Stages]) -> Self {
        let kernel_ends = Vec::with_capacity(chunks.len());
        Self { engines, chunks, now: 0.0, lanes: [Lane::default(); 3], kernel_ends }
    }

    /// Starts every command that can start now.
    fn start(&mut self) {
        while let Some(lane) = [SEND, KERNEL, RECEIVE].into_iter().find(|&l| self.can_start(l)) {
            let work = self.next_work(lane);
            if work > 0.0 {
                let cost = self.engines.command;
                self.lanes[lane].running = Some(Command { cost, work });
            } else {
                self.complete(lane);
            }
        }
    }

    fn can_start(&self, lane: usize) -> bool {
        let Some(since) = self.ready(lane) else { return false };
        if lane == KERNEL || self.engines.count > 1 || self.next_work(lane) <= 0.0 {
            return true;
        }
        let other = if lane == SEND { RECEIVE } else { SEND };
        let first = |theirs: f64| since < theirs || (since == theirs && lane == SEND);
        self.lanes[other].running.is_none() && self.ready(other).is_none_or(first)
    }

    /// Since when the lane's next chunk could start, were its engine free; `None` while it
    /// cannot.
    fn ready(&self, lane: usize) -> Option<f64> {
        let Lane { done: next, since, running } = self.lanes[lane];
        if running.is_some() || next >= self.chunks.len() {
            return None;
        }
        match lane {
            SEND => Some(since),
            KERNEL => (self.lanes[SEND].done > next).then_some(since),
            _ => self.kernel_ends.get(next).map(|end| end.max(since)),
        }
    }

    fn next_work(&self, lane: usize) -> f64 {
        let chunk = self.chunks[self.lanes[lane].done];
        match lane {
            SEND => chunk.send,
            KERNEL => chunk.kernel,
            _ => chunk.receive,
        }
    }

    fn complete(&mut self, lane: usize) {
        let done = self.lanes[lane].done + 1;
        self.lanes[lane] = Lane { done, since: self.now, running: None };
        if lane == KERNEL {
            self.kernel_ends.push(self.now);
        }
    }

    /// Goes on to the next end of a command (or of its cost); false when none is running.
    fn advance(&mut self) -> bool {
        let moving = |lane: Lane| lane.running.is_some_and(|command| command.cost <= 0.0);
        let both = moving(self.lanes[SEND]) && moving(self.lanes[RECEIVE]);
        let rates = match both {
            true => [self.engines.duplex.send, 1.0, self.engines.duplex.receive],
            false => [1.0; 3],
        };
        let left = |lane: usize| match self.lanes[lane].running {
            Some(Command { cost, .. }) if cost > 0.0 => cost,
            Some(Command { work, .. }) => work / rates[lane],
            None => f64::INFINITY,
        };
        let left = [left(SEND), left(KERNEL), left(RECEIVE)];
        let step = left[0].min(left[1]).min(left[2]);
        if !step.is_finite() {
            if self.lanes.iter().any(|lane| lane.running.is_some()) {
                self.now = f64::INFINITY; // a command that never ends
            }
            return false;
        }
        self.now += step;
        for lane in [SEND, KERNEL, RECEIVE] {
            let Some(command) = &mut self.lanes[lane].running else { continue };
            if command.cost > 0.0 {
                command.cost = if left[lane] == step { 0.0 } else { command.cost - step };
            } else if left[lane] == step {
                self.complete(lane);
            } else {
                command.work -= step * rates[lane];
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The flow-shop recurrence as the module's documentation states it.
    fn recurrence(chunks: &[Stages]) -> f64 {
        let (mut h, mut k, mut d) = (0.0, 0.0f64, 0.0f64);
        for chunk in chunks {
            h += chunk.send;
            k = k.max(h) + chunk.kernel;
            d = d.max(k) + chunk.receive;
        }
        d
    }

    fn stages() -> impl Strategy<Value = Stages> {
        let time = || prop_oneof![1 => Just(0.0), 9 => 0.001..10.0];
        (time(), time(), time()).prop_map(|(send, kernel, receive)| Stages {
            send,
            kernel,
            receive,
        })
    }

    fn engines() -> impl Strategy<Value = Engines> {
        (0u32..3, 0.0..0.2, 0.5..1.0, 0.5..1.0).prop_map(|(count, command, send, receive)| {
            Engines { count, command, duplex: Duplex { send, receive } }
        })
    }

    fn chunks() -> impl Strategy<Value = Vec<Stages>> {
        prop::collection::vec(stages(), 0..20)
    }

    fn sum(chunks: &[Stages]) -> Stages {
        chunks.iter().fold(Stages::default(), |a, c| Stages {
            send: a.send + c.send,
            kernel: a.kernel + c.kernel,
            receive: a.receive + c.receive,
        })
    }

    fn commands(chunks: &[Stages]) -> f64 {
        let works = chunks.iter().flat_map(|c| [c.send, c.kernel, c.receive]);
        works.filter(|&work| work > 0.0).count() as f64
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn two_ideal_engines_are_the_recurrence(chunks in chunks()) {
            let seconds = Engines::ideal(2).makespan(&chunks);
            prop_assert!((seconds - recurrence(&chunks)).abs() <= 1e-9 * (1.0 + seconds));
        }

        #[test]
        fn never_shorter_than_a_stage_or_a_chunk_nor_longer_than_serial(
            chunks in chunks(), engines in engines()
        ) {
            let seconds = engines.makespan(&chunks);
            let longest_chunk = chunks.iter().map(|c| c.serial()).fold(0.0, f64::max);
            // Copies that slow each other below half rates could be longer than serial.
            let serial = sum(&chunks).serial() + commands(&chunks) * engines.command;
            prop_assert!(seconds >= sum(&chunks).longest().max(longest_chunk) * (1.0 - 1e-9));
            prop_assert!(seconds <= serial * (1.0 + 1e-9) + 1e-12);
        }

        #[test]
        fn fewer_engines_costs_and_slower_copies_never_help_in_sum(
            chunks in chunks(), engines in engines()
        ) {
            let serial = Engines { count: 0, ..engines }.makespan(&chunks);
            let ideal = Engines { command: 0.0, ..Engines::ideal(2) }.makespan(&chunks);
            let seconds = engines.makespan(&chunks);
            prop_assert!(ideal <= seconds * (1.0 + 1e-9));
            prop_assert!(seconds <= serial * (1.0 + 1e-9));
        }
    }

    #[test]
    fn equal_chunks_agree_with_the_papers_equations_where_they_hold() {
        let kernel = Stages { send: 2.0, kernel: 8.0, receive: 4.0 };
        let cut = |whole: Stages, count| Engines::ideal(count).makespan(&whole.equal_chunks(4));
        assert!((cut(kernel, 2) - 9.5).abs() < 1e-12, "3.4");
        assert!(
            (cut(kernel, 1) - 9.5).abs() < 1e-12,
            "3.4: the one engine is never in demand twice"
        );
        assert_eq!(cut(kernel, 0), 14.0, "3.1");
        let copies = Stages { send: 8.0, kernel: 2.0, receive: 4.0 };
        assert!((cut(copies, 1) - 12.0).abs() < 0.5 + 1e-12, "3.6 and the last kernel's wait");
    }

    #[test]
    fn one_engine_serves_first_what_became_ready_first() {
        let chunk = |send, kernel, receive| Stages { send, kernel, receive };
        // The engine: send 0 until 2, send 1 until 5, receive 0 (ready since 3, before send 2 is
        // since 5) until 9, send 2 (before receive 1, ready since 9) until 10, receives 1 and 2.
        let chunks = [chunk(2.0, 1.0, 4.0), chunk(3.0, 1.0, 1.0), chunk(1.0, 1.0, 1.0)];
        assert_eq!(Engines::ideal(1).makespan(&chunks), 12.0);
    }

    #[test]
    fn a_commands_cost_and_slowed_copies_count() {
        let chunk = Stages { send: 1.0, kernel: 1.0, receive: 1.0 };
        let engines = Engines { command: 0.5, ..Engines::ideal(2) };
        assert_eq!(engines.makespan(&[chunk; 3]), 1.5 * 5.0);
        assert_eq!(
            engines.makespan(&[Stages { receive: 0.0, ..chunk }]),
            3.0,
            "no command, no cost"
        );
        let half = Duplex { send: 0.5, receive: 0.5 };
        // Send 2 and receive 0 run together from 2 s, at half rates: until 4.
        let slowed = Engines { duplex: half, ..Engines::ideal(2) };
        assert_eq!(slowed.makespan(&[chunk; 3]), 6.0);
    }

    #[test]
    fn nothing_takes_no_time_and_what_never_ends_is_infinite() {
        assert_eq!(Engines::ideal(2).makespan(&[]), 0.0);
        let endless = Stages { send: 1.0, kernel: f64::INFINITY, receive: 1.0 };
        assert_eq!(Engines::ideal(2).makespan(&[endless]), f64::INFINITY);
    }

    #[test]
    fn the_saved_share_is_of_what_can_be_saved() {
        let whole = Stages { send: 1.0, kernel: 4.0, receive: 1.0 };
        assert_eq!(saved_share(whole, 6.0), Some(0.0));
        assert_eq!(saved_share(whole, 5.0), Some(0.5));
        assert_eq!(saved_share(whole, 4.0), Some(1.0));
        assert_eq!(saved_share(Stages { kernel: 4.0, ..Stages::default() }, 4.0), None);
        assert!((ideal_share(whole) - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(ideal_share(Stages::default()), 0.0);
    }
}
