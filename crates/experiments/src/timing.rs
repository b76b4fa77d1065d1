//! Times of a whole recording, run again and again, or of several in turn.

use super::loops::{CLOCK_SWITCH_AFTER, Sample};
use super::{Bench, Policy, Stage};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Clock, HOST_RESOLUTION, Recording, Timeline};
use gpubench_core::record::{Measured, NamedStep, Timed};
use gpubench_stats::{Decision, Sampling, WarmUp, is_overdue, median_of};

/// Samples of each recording, at least: many recordings share the case's time.
pub(super) const MIN_SAMPLES_IN_TURN: usize = 7;

/// Runs `recording` until the median of its wall time is known well enough for `policy` (in
/// `seconds`), after a warm-up that takes at most a quarter of them besides. Steps are named by
/// `name`.
pub(super) fn time(
    bench: &mut Bench,
    recording: &Recording,
    seconds: f64,
    name: impl Fn(usize) -> String,
) -> Result<(Timed, Clock)> {
    let Bench { session, policy, .. } = bench.lend();
    let (walls, fastest) = walls(policy, seconds, || session.device.run(recording))?;
    bench.measurement.wall.busy += walls.iter().sum::<f64>();
    Ok((Timed { walls, steps: named(recording, &fastest, name) }, step_clock(&fastest)))
}

/// As [`time`], of several recordings with the names of their steps, each run once in every turn: a device, or a
/// host, that changes its pace meanwhile changes that of all alike. Turns go on until every median is known well
/// enough; `seconds` are for each. Each turn is a stage of its own: its deadline is for one launch after the
/// other, not for all.
pub(super) fn in_turn<const N: usize>(
    bench: &mut Bench,
    recordings: [(Recording, Vec<String>); N],
    seconds: f64,
) -> Result<([Timed; N], Clock)> {
    let (timed, clock) = all_in_turn(bench, recordings.into(), seconds)?;
    let timed = timed.try_into().map_err(|_| Error::Device("a recording was not timed".into()))?;
    Ok((timed, clock))
}

/// As [`in_turn`], of any number.
pub(super) fn all_in_turn(
    bench: &mut Bench,
    recordings: Vec<(Recording, Vec<String>)>,
    seconds: f64,
) -> Result<(Vec<Timed>, Clock)> {
    let policy = bench.policy;
    let turn = |(recording, names)| Turn { recording, names, series: Series::new(policy, seconds) };
    let mut all: Vec<Turn> = recordings.into_iter().map(turn).collect();
    let count = all.len() as f64;
    warm_up(count * policy.warmup.min(seconds / 4.0), || {
        let timelines = once_each(bench, &all)?;
        let clock = timelines.first().map_or(Clock::Host, |timeline| timeline.clock);
        Ok((timelines.iter().map(|timeline| timeline.wall).sum(), clock))
    })?;
    while all.iter().any(|turn| turn.series.decision == Decision::Continue) {
        let timelines = once_each(bench, &all)?;
        // A short one gets as many turns as the long ones have time for.
        let each = timelines.iter().map(|timeline| timeline.wall).sum::<f64>() / count;
        for (turn, timeline) in all.iter_mut().zip(timelines) {
            turn.series.feed(timeline, each);
        }
    }
    let mut clock = Clock::Host;
    let timed = all.into_iter().map(|Turn { recording, names, series }| {
        let (walls, fastest) = series.into_parts();
        clock = step_clock(&fastest);
        bench.measurement.wall.busy += walls.iter().sum::<f64>();
        Timed { walls, steps: named(&recording, &fastest, |step| names[step].clone()) }
    });
    Ok((timed.collect(), clock))
}

/// One of several recordings that are timed in turn.
struct Turn {
    recording: Recording,
    /// Of its steps.
    names: Vec<String>,
    series: Series,
}

fn once_each(bench: &mut Bench, all: &[Turn]) -> Result<Vec<Timeline>> {
    bench.enter(Stage::Measure);
    all.iter().map(|turn| bench.device().run(&turn.recording)).collect()
}

/// Turns beyond which spans are not taken again.
const MAX_TURNS: usize = 60;

/// Of recordings of so many equal operations each, all run once in every turn: seconds of one operation from
/// the first start to the last end, turn by turn, by one clock. Turns go on for `seconds` in all.
pub(super) fn spans_in_turn(
    bench: &mut Bench,
    recordings: &[(Recording, u32)],
    seconds: f64,
) -> Result<Vec<Measured>> {
    let mut turn = || -> Result<(Vec<Sample>, f64)> {
        bench.enter(Stage::Measure);
        let mut wall = 0.0;
        let samples = recordings.iter().map(|(recording, batch)| {
            let timeline = bench.session.device.run(recording)?;
            wall += timeline.wall;
            let span = super::session::span(&timeline);
            Ok(Sample::new(span / f64::from(*batch), span, timeline))
        });
        let samples = samples.collect::<Result<Vec<_>>>()?;
        Ok((samples, wall))
    };
    warm_up(seconds / 4.0, || {
        let (samples, wall) = turn()?;
        Ok((wall, samples.first().map_or(Clock::Host, |sample| sample.clock)))
    })?;
    let (mut turns, mut spent) = (Turns::default(), 0.0);
    while !is_overdue(spent, seconds)
        && turns.taken.len() < MAX_TURNS
        && (turns.taken.len() < MIN_SAMPLES_IN_TURN || spent < seconds)
    {
        let (samples, wall) = turn()?;
        spent += wall;
        turns.add(samples);
    }
    let turns = turns.taken;
    let first = turns.first().ok_or_else(|| Error::Device("no turn was timed".into()))?;
    let (clock, resolution) = (first[0].clock, first[0].resolution);
    bench.measurement.wall.busy += turns.iter().flatten().map(|sample| sample.busy).sum::<f64>();
    let measured = recordings.iter().enumerate().map(|(of, (_, batch))| {
        let samples = turns.iter().map(|samples| samples[of].seconds).collect();
        Measured { batch: *batch, ..Measured::of(samples, clock, resolution) }
    });
    Ok(measured.collect())
}

/// Turns by one clock: times of two are never compared.
#[derive(Default)]
struct Turns {
    taken: Vec<Vec<Sample>>,
    /// Turns by the other clock, one behind the other.
    others: u32,
}

impl Turns {
    /// Takes in a turn. Several by the other clock begin anew with theirs.
    fn add(&mut self, turn: Vec<Sample>) {
        let clock = |turn: &[Sample]| turn.first().map(|sample| sample.clock);
        let own = clock(&turn);
        if turn.iter().any(|sample| Some(sample.clock) != own) {
            return;
        }
        if self.taken.first().is_some_and(|first| clock(first) != own) {
            self.others += 1;
            if self.others < CLOCK_SWITCH_AFTER {
                return;
            }
            self.taken.clear();
        }
        self.others = 0;
        self.taken.push(turn);
    }
}

#[test]
fn several_turns_by_another_clock_begin_anew() {
    use gpubench_core::gpu::StepTimes;

    let step = StepTimes { queued: 0.0, submitted: 0.0, started: 0.0, ended: 1.0 };
    let kept = |clocks: &[Clock]| {
        let mut turns = Turns::default();
        for &clock in clocks {
            let timeline = Timeline { clock, steps: vec![step], ..Series::nothing() };
            turns.add(vec![Sample::new(1.0, 1.0, timeline)]);
        }
        turns.taken.iter().map(|turn| turn[0].clock).collect::<Vec<_>>()
    };
    let [host, device] = [Clock::Host, Clock::Device];
    assert_eq!(kept(&[host, device, device, host]), [host; 2]);
    assert_eq!(kept(&[host, device, device, device, device]), [device; 2]);
}

/// As [`time`], of anything that has a timeline: the wall times, and the timeline of the shortest.
pub(super) fn walls(
    policy: &Policy,
    seconds: f64,
    mut once: impl FnMut() -> Result<Timeline>,
) -> Result<(Vec<f64>, Timeline)> {
    warm_up(policy.warmup.min(seconds / 4.0), || {
        let timeline = once()?;
        Ok((timeline.wall, timeline.clock))
    })?;
    let mut series = Series::new(policy, seconds);
    while series.decision == Decision::Continue {
        let timeline = once()?;
        let wall = timeline.wall;
        series.feed(timeline, wall);
    }
    Ok(series.into_parts())
}

/// Repeats what reports its seconds and the clock of its steps until it is steady, or `limit` seconds have gone.
fn warm_up(limit: f64, mut once: impl FnMut() -> Result<(f64, Clock)>) -> Result<()> {
    let mut warm = WarmUp::new(limit);
    loop {
        let (wall, clock) = once()?;
        // A simulated device runs at one speed from the start.
        if clock == Clock::Simulated || warm.feed(wall, wall) != Decision::Continue {
            return Ok(());
        }
    }
}

/// Wall times so far, and the timeline of the shortest.
struct Series {
    sampling: Sampling,
    fastest: Timeline,
    decision: Decision,
}

impl Series {
    fn new(policy: &Policy, seconds: f64) -> Self {
        let (sampling, decision) = (policy.sampling(seconds), Decision::Continue);
        Self { sampling, fastest: Self::nothing(), decision }
    }

    /// The timeline of no run.
    fn nothing() -> Timeline {
        Timeline {
            steps: vec![],
            clock: Clock::Host,
            resolution: HOST_RESOLUTION,
            wall: f64::INFINITY,
            dropped: None,
        }
    }

    /// Takes a run and the seconds that it cost.
    fn feed(&mut self, timeline: Timeline, cost: f64) {
        self.decision = self.sampling.feed(timeline.wall, cost);
        if timeline.wall < self.fastest.wall {
            self.fastest = timeline;
        }
    }

    fn into_parts(self) -> (Vec<f64>, Timeline) {
        (self.sampling.into_samples(), self.fastest)
    }
}

/// The clock of a timeline's steps.
fn step_clock(timeline: &Timeline) -> Clock {
    if timeline.steps.is_empty() { Clock::Host } else { timeline.clock }
}

/// The clock of wall times beside steps of `steps`: the host's, unless nothing was measured.
pub(super) fn wall_clock(steps: Clock) -> Clock {
    if steps == Clock::Simulated { steps } else { Clock::Host }
}

/// The middle of samples; `None` where there is none or it is no time.
pub(super) fn median_seconds(samples: &[f64]) -> Option<f64> {
    median_of(samples.iter().copied()).filter(|middle| *middle > 0.0)
}

/// What stands for a case of several recordings in tables: the wall times of the one with the lowest
/// median, beside steps of the clock `steps`.
pub(super) fn fastest<'t>(
    all: impl IntoIterator<Item = &'t [f64]>,
    steps: Clock,
    [flops, bytes]: [f64; 2],
) -> Measured {
    let middle = |walls: &[f64]| median_seconds(walls).unwrap_or(f64::INFINITY);
    let fastest = all.into_iter().min_by(|a, b| middle(a).total_cmp(&middle(b)));
    let walls = fastest.unwrap_or_default().to_vec();
    Measured { flops, bytes, ..Measured::of(walls, wall_clock(steps), HOST_RESOLUTION) }
}

fn named(
    recording: &Recording,
    timeline: &Timeline,
    name: impl Fn(usize) -> String,
) -> Vec<NamedStep> {
    let steps = recording.steps.iter().zip(&timeline.steps).enumerate();
    steps
        .map(|(i, (step, times))| NamedStep {
            name: name(i),
            queue: step.queue.0,
            started: times.started,
            ended: times.ended,
        })
        .collect()
}
