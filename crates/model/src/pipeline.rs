//! Model 1, pipeline: exactly how long do chunks take through upload, kernel and download?
//!
//! Beyond L14 §3.1.1 ([`super::streams`]): chunks of any sizes, 0 to 2 copy engines, a cost per
//! command, and copies that slow each other. With two copy engines at full rates and no cost it is
//! the flow-shop recurrence `end_h[i] = end_h[i−1] + h_i`, `end_k[i] = max(end_h[i], end_k[i−1]) + k_i`,
//! `end_d[i] = max(end_k[i], end_d[i−1]) + d_i`.

use super::streams::Stages;
use super::transfer::Duplex;

/// How a device runs copies concurrently with kernels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Engines {
    /// Copy engines: 0 (nothing overlaps), 1 (one copy during a kernel) or 2 (one a direction).
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

    /// Seconds until the last of `chunks` is downloaded, when each stage takes its chunks in order
    /// and a chunk's stages follow one another.
    ///
    /// A stage without work is no command. One copy engine serves the copy first that became
    /// ready first (the one that its stage's last chunk and its own last stage allow), uploads
    /// before downloads when both became ready at once.
    pub fn makespan(&self, chunks: &[Stages]) -> f64 {
        if self.count == 0 {
            let cost = |work: f64| if work > 0.0 { work + self.command } else { 0.0 };
            return chunks.iter().map(|c| cost(c.upload) + cost(c.kernel) + cost(c.download)).sum();
        }
        let mut flow = Flow::new(self, chunks);
        flow.start();
        while flow.advance() {
            flow.start();
        }
        flow.now
    }
}

/// The hidden fraction, the share that was hidden of what ideal overlap would hide: `(in order − seconds) / (serial −
/// longest stage)`, where the stages one behind the other take `in_order` seconds. `None` when there is nothing to hide.
pub fn hidden_fraction(whole: Stages, in_order: f64, seconds: f64) -> Option<f64> {
    let ideal = whole.serial() - whole.longest();
    (ideal > 0.0).then(|| (in_order - seconds) / ideal)
}

/// The share of the serial time that ideal overlap would save: `1 − longest stage / serial`. 0
/// where there is no time.
pub fn ideal_share(whole: Stages) -> f64 {
    let serial = whole.serial();
    if serial > 0.0 { 1.0 - whole.longest() / serial } else { 0.0 }
}

/// The three stages, as positions in [`Flow::stages`].
const UPLOAD: usize = 0;
const KERNEL: usize = 1;
const DOWNLOAD: usize = 2;

/// One stage, which takes its chunks in order.
#[derive(Clone, Copy, Default)]
struct StageState {
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
    stages: [StageState; 3],
    /// When each kernel was done.
    kernel_ends: Vec<f64>,
}

impl<'a> Flow<'a> {
    fn new(engines: &'a Engines, chunks: &'a [Stages]) -> Self {
        let kernel_ends = Vec::with_capacity(chunks.len());
        Self { engines, chunks, now: 0.0, stages: [StageState::default(); 3], kernel_ends }
    }

    /// Starts every command that can start now.
    fn start(&mut self) {
        while let Some(stage) = [UPLOAD, KERNEL, DOWNLOAD].into_iter().find(|&l| self.can_start(l))
        {
            let work = self.next_work(stage);
            if work > 0.0 {
                let cost = self.engines.command;
                self.stages[stage].running = Some(Command { cost, work });
            } else {
                self.complete(stage);
            }
        }
    }

    fn can_start(&self, stage: usize) -> bool {
        let Some(since) = self.ready(stage) else { return false };
        if stage == KERNEL || self.engines.count > 1 || self.next_work(stage) <= 0.0 {
            return true;
        }
        let other = if stage == UPLOAD { DOWNLOAD } else { UPLOAD };
        let first = |theirs: f64| since < theirs || (since == theirs && stage == UPLOAD);
        self.stages[other].running.is_none() && self.ready(other).is_none_or(first)
    }

    /// Since when the stage's next chunk could start, were its engine free; `None` while it
    /// cannot.
    fn ready(&self, stage: usize) -> Option<f64> {
        let StageState { done: next, since, running } = self.stages[stage];
        if running.is_some() || next >= self.chunks.len() {
            return None;
        }
        match stage {
            UPLOAD => Some(since),
            KERNEL => (self.stages[UPLOAD].done > next).then_some(since),
            _ => self.kernel_ends.get(next).map(|end| end.max(since)),
        }
    }

    fn next_work(&self, stage: usize) -> f64 {
        let chunk = self.chunks[self.stages[stage].done];
        match stage {
            UPLOAD => chunk.upload,
            KERNEL => chunk.kernel,
            _ => chunk.download,
        }
    }

    fn complete(&mut self, stage: usize) {
        let done = self.stages[stage].done + 1;
        self.stages[stage] = StageState { done, since: self.now, running: None };
        if stage == KERNEL {
            self.kernel_ends.push(self.now);
        }
    }

    /// Goes on to the next end of a command (or of its cost); false when none is running.
    fn advance(&mut self) -> bool {
        let moving = |stage: StageState| stage.running.is_some_and(|command| command.cost <= 0.0);
        let both = moving(self.stages[UPLOAD]) && moving(self.stages[DOWNLOAD]);
        let rates = match both {
            true => [self.engines.duplex.upload, 1.0, self.engines.duplex.download],
            false => [1.0; 3],
        };
        let left = |stage: usize| match self.stages[stage].running {
            Some(Command { cost, .. }) if cost > 0.0 => cost,
            Some(Command { work, .. }) => work / rates[stage],
            None => f64::INFINITY,
        };
        let left = [left(UPLOAD), left(KERNEL), left(DOWNLOAD)];
        let step = left[0].min(left[1]).min(left[2]);
        if !step.is_finite() {
            if self.stages.iter().any(|stage| stage.running.is_some()) {
                self.now = f64::INFINITY; // a command that never ends
            }
            return false;
        }
        self.now += step;
        for stage in [UPLOAD, KERNEL, DOWNLOAD] {
            let Some(command) = &mut self.stages[stage].running else { continue };
            if command.cost > 0.0 {
                command.cost = if left[stage] == step { 0.0 } else { command.cost - step };
            } else if left[stage] == step {
                self.complete(stage);
            } else {
                command.work -= step * rates[stage];
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The flow-shop recurrence as the module's documentation states it, each command with its cost.
    fn recurrence(chunks: &[Stages], command: f64) -> f64 {
        let (mut h, mut k, mut d) = (0.0, 0.0f64, 0.0f64);
        let whole = |work: f64| if work > 0.0 { work + command } else { 0.0 };
        for chunk in chunks {
            h += whole(chunk.upload);
            k = k.max(h) + whole(chunk.kernel);
            d = d.max(k) + whole(chunk.download);
        }
        d
    }

    fn stages() -> impl Strategy<Value = Stages> {
        let time = || prop_oneof![1 => Just(0.0), 9 => 0.001..10.0];
        (time(), time(), time()).prop_map(|(upload, kernel, download)| Stages {
            upload,
            kernel,
            download,
        })
    }

    fn engines() -> impl Strategy<Value = Engines> {
        (0u32..3, 0.0..0.2, 0.5..1.0, 0.5..1.0).prop_map(|(count, command, upload, download)| {
            Engines { count, command, duplex: Duplex { upload, download } }
        })
    }

    fn chunks() -> impl Strategy<Value = Vec<Stages>> {
        prop::collection::vec(stages(), 0..20)
    }

    fn sum(chunks: &[Stages]) -> Stages {
        chunks.iter().fold(Stages::default(), |a, c| Stages {
            upload: a.upload + c.upload,
            kernel: a.kernel + c.kernel,
            download: a.download + c.download,
        })
    }

    fn commands(chunks: &[Stages]) -> f64 {
        let stages = chunks.iter().flat_map(|c| [c.upload, c.kernel, c.download]);
        stages.filter(|&seconds| seconds > 0.0).count() as f64
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn two_independent_engines_are_the_recurrence(chunks in chunks(), command in 0.0..2.0) {
            let seconds = Engines { command, ..Engines::ideal(2) }.makespan(&chunks);
            prop_assert!((seconds - recurrence(&chunks, command)).abs() <= 1e-9 * (1.0 + seconds));
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
        let kernel = Stages { upload: 2.0, kernel: 8.0, download: 4.0 };
        let cut = |whole: Stages, count| Engines::ideal(count).makespan(&whole.equal_chunks(4));
        assert!((cut(kernel, 2) - 9.5).abs() < 1e-12, "3.4");
        assert!(
            (cut(kernel, 1) - 9.5).abs() < 1e-12,
            "3.4: the one engine is never in demand twice"
        );
        assert_eq!(cut(kernel, 0), 14.0, "3.1");
        let copies = Stages { upload: 8.0, kernel: 2.0, download: 4.0 };
        assert!((cut(copies, 1) - 12.0).abs() < 0.5 + 1e-12, "3.6 and the last kernel's wait");
    }

    #[test]
    fn one_engine_serves_first_what_became_ready_first() {
        let chunk = |upload, kernel, download| Stages { upload, kernel, download };
        // The engine: upload 0 until 2, upload 1 until 5, download 0 (ready since 3, before upload 2 is
        // since 5) until 9, upload 2 (before download 1, ready since 9) until 10, downloads 1 and 2.
        let chunks = [chunk(2.0, 1.0, 4.0), chunk(3.0, 1.0, 1.0), chunk(1.0, 1.0, 1.0)];
        assert_eq!(Engines::ideal(1).makespan(&chunks), 12.0);
        // Of two ready since 2 the upload is first: it ends at 3, its kernel at 8.
        let tied = [chunk(1.0, 1.0, 1.0), chunk(1.0, 1.0, 1.0), chunk(1.0, 5.0, 1.0)];
        assert_eq!(Engines::ideal(1).makespan(&tied), 9.0);
    }

    #[test]
    fn a_commands_cost_and_slowed_copies_count() {
        let chunk = Stages { upload: 1.0, kernel: 1.0, download: 1.0 };
        let engines = Engines { command: 0.5, ..Engines::ideal(2) };
        assert_eq!(engines.makespan(&[chunk; 3]), 1.5 * 5.0);
        assert_eq!(
            engines.makespan(&[Stages { download: 0.0, ..chunk }]),
            3.0,
            "no command, no cost"
        );
        let half = Duplex { upload: 0.5, download: 0.5 };
        // Upload 2 and download 0 run together from 2 s, at half rates: until 4.
        let slowed = Engines { duplex: half, ..Engines::ideal(2) };
        assert_eq!(slowed.makespan(&[chunk; 3]), 6.0);
    }

    #[test]
    fn nothing_takes_no_time_and_what_never_ends_is_infinite() {
        assert_eq!(Engines::ideal(2).makespan(&[]), 0.0);
        let endless = Stages { upload: 1.0, kernel: f64::INFINITY, download: 1.0 };
        assert_eq!(Engines::ideal(2).makespan(&[endless]), f64::INFINITY);
    }

    #[test]
    fn the_hidden_fraction_is_of_what_can_be_hidden() {
        let whole = Stages { upload: 1.0, kernel: 4.0, download: 1.0 };
        assert_eq!(hidden_fraction(whole, 6.0, 6.0), Some(0.0));
        assert_eq!(hidden_fraction(whole, 6.0, 5.0), Some(0.5));
        assert_eq!(hidden_fraction(whole, 6.0, 4.0), Some(1.0));
        assert_eq!(hidden_fraction(Stages { kernel: 4.0, ..Stages::default() }, 4.0, 4.0), None);
        assert!((ideal_share(whole) - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(ideal_share(Stages::default()), 0.0);
    }
}
