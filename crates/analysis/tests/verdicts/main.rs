//! The rules of comparison and of intervals against simulated runs whose truth is known, and against
//! raw samples of real GPUs. Tests make few draws; the tables of docs/results/2026-11-22-statistics.md
//! are printed by
//! `GPUBENCH_PAIRS=1000 cargo test --release -p gpubench-analysis --test verdicts -- --nocapture`.

mod coverage;
mod gpu_samples;
mod in_turn;
mod simulate;
mod smyth;

use gpubench_analysis::{Comparison, Options, Verdict, compare};
use simulate::{Pair, Scatter, World, key, pair, rng};

/// Pairs of runs of fifty cases a line; a case alone is drawn a hundred times as often.
fn pairs() -> u32 {
    let asked = std::env::var("GPUBENCH_PAIRS").ok();
    asked.map_or(24, |text| text.parse().expect("GPUBENCH_PAIRS is a number"))
}

/// A seed that no rule was chosen with.
const SEED: u64 = 20_261_122;

/// Cases of a comparison, and how many of them are slowed.
const CASES: usize = 50;
const SLOWED: usize = 5;

/// Shares, each of how many were drawn.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    hits: f64,
    of: f64,
}

impl Share {
    fn add(&mut self, hit: bool) {
        self.hits += f64::from(u8::from(hit));
        self.of += 1.0;
    }

    fn percent(self) -> f64 {
        100.0 * self.hits / self.of
    }

    /// Whether it is above `percent` by more than chance brings about once in a thousand times.
    fn is_above(self, percent: f64) -> bool {
        self.percent() - percent > 3.1 * self.error(percent)
    }

    fn is_below(self, percent: f64) -> bool {
        percent - self.percent() > 3.1 * self.error(percent)
    }

    fn error(self, percent: f64) -> f64 {
        (percent * (100.0 - percent) / self.of).sqrt()
    }
}

/// What came of one line's pairs.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    /// Planned comparisons of an unchanged case called changed: all, and those that scatter more.
    alarms: Share,
    restless_alarms: Share,
    /// Planned comparisons of a slowed case called slower.
    planned: Share,
    /// Of fifty unchanged cases called changed; comparisons in which any was.
    of_fifty: Share,
    any: Share,
    /// Of five slowed among fifty called slower; the same by the plain moderated t.
    found: Share,
    plain: Share,
    /// Intervals that hold the true ratio.
    held: Share,
}

fn is_changed(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Faster | Verdict::Slower)
}

fn options(planned: bool, cases: usize) -> Options {
    let planned = if planned { (0..cases).map(key).collect() } else { [].into() };
    Options { planned, ..Options::default() }
}

fn compared(pair: &Pair, planned: bool) -> Comparison {
    compare(&pair.old, &pair.new, &options(planned, pair.restless.len()))
}

fn line(world: World) -> Line {
    let mut rng = rng(SEED);
    let mut line = Line::default();
    for _ in 0..pairs() {
        let same = pair(&mut rng, world, 0);
        for (row, restless) in compared(&same, true).rows.iter().zip(&same.restless) {
            line.alarms.add(is_changed(row.verdict));
            if *restless {
                line.restless_alarms.add(is_changed(row.verdict));
            }
        }
        let of_fifty = compared(&same, false);
        of_fifty.rows.iter().for_each(|row| line.of_fifty.add(is_changed(row.verdict)));
        line.any.add(of_fifty.rows.iter().any(|row| is_changed(row.verdict)));

        let slowed = pair(&mut rng, world, SLOWED);
        for (i, row) in compared(&slowed, true).rows.iter().enumerate() {
            let truth = if i < SLOWED { 1.05 } else { 1.0 };
            line.held.add((row.interval[0]..=row.interval[1]).contains(&truth));
            if i < SLOWED {
                line.planned.add(row.verdict == Verdict::Slower);
            }
        }
        let found = compared(&slowed, false);
        found.rows[..SLOWED].iter().for_each(|row| line.found.add(row.verdict == Verdict::Slower));
        let plain = smyth::changed(&slowed.old, &slowed.new);
        plain[..SLOWED].iter().for_each(|found| line.plain.add(*found));
    }
    line
}

#[test]
fn among_others_few_unchanged_cases_are_called_changed_and_slowed_ones_are_found() {
    println!("Fifty cases: planned = one case known beforehand; plain = moderated t, B.-H.");
    println!(
        "scatter | between | rounds | unchanged, planned: alarms (restless) | 5 %, planned: found \
         | of 50 unchanged: alarms, any | 5 of 50: found | plain | ratio held"
    );
    for scatter in
        [Scatter::Alike, Scatter::Fifth, Scatter::Spread, Scatter::Common, Scatter::Disturbed]
    {
        for between in [0.005, 0.01, 0.02] {
            for rounds in [3, 5] {
                let line = line(World { cases: CASES, rounds, between, scatter });
                println!(
                    "{scatter:?} | {:.1} % | {rounds} | {:.2} ({:.2}) | {:.1} | {:.3}, {:.1} | {:.1} | {:.1} | {:.1}",
                    100.0 * between,
                    line.alarms.percent(),
                    line.restless_alarms.percent(),
                    line.planned.percent(),
                    line.of_fifty.percent(),
                    line.any.percent(),
                    line.found.percent(),
                    line.plain.percent(),
                    line.held.percent()
                );
                check(scatter, between, rounds, line);
            }
        }
    }
}

fn check(scatter: Scatter, between: f64, rounds: usize, line: Line) {
    let world = format!("{scatter:?} {between} {rounds}");
    assert!(!line.of_fifty.is_above(1.0), "{world}: {:?}", line.of_fifty);
    if matches!(scatter, Scatter::Alike | Scatter::Fifth | Scatter::Disturbed) {
        assert!(!line.alarms.is_above(1.0), "{world}: {:?}", line.alarms);
    }
    if matches!(scatter, Scatter::Alike | Scatter::Fifth) {
        assert!(!line.held.is_below(93.0) && !line.held.is_above(97.0), "{world}: {:?}", line.held);
    }
    if scatter == Scatter::Alike {
        let (planned, found) = if between > 0.01 { (60.0, 45.0) } else { (95.0, 95.0) };
        assert!(!line.planned.is_below(planned), "{world}: {:?}", line.planned);
        assert!(!line.found.is_below(found), "{world}: {:?}", line.found);
    }
}

#[test]
fn a_case_alone_has_few_alarms_and_a_change_of_it_is_found() {
    println!("A case alone\nbetween | rounds | alarms | 5 %: found | same");
    for between in [0.0, 0.005, 0.01, 0.02] {
        for rounds in [3, 5] {
            let world = World { cases: 1, rounds, between, scatter: Scatter::Alike };
            let mut rng = rng(SEED);
            let [mut alarms, mut same, mut found] = [Share::default(); 3];
            for _ in 0..100 * pairs() {
                let unchanged = compared(&pair(&mut rng, world, 0), false).rows[0].verdict;
                alarms.add(is_changed(unchanged));
                same.add(unchanged == Verdict::Same);
                let slowed = compared(&pair(&mut rng, world, 1), false).rows[0].verdict;
                found.add(slowed == Verdict::Slower);
            }
            let [a, f, s] = [alarms, found, same].map(Share::percent);
            println!("{:.1} % | {rounds} | {a:.2} | {f:.1} | {s:.1}", 100.0 * between);
            assert!(!alarms.is_above(1.0), "{between} {rounds}: {alarms:?}");
            let wanted = if between > 0.01 { 85.0 } else { 95.0 };
            assert!(rounds < 5 || !found.is_below(wanted), "{between} {rounds}: {found:?}");
        }
    }
}

#[test]
fn few_cases_learn_little_and_are_not_called_changed_for_that() {
    println!("Few cases, 3 rounds, 2 %, planned\ncases | scatter | alarms | 5 %: found | held");
    for cases in [2, 4, 10] {
        for scatter in [Scatter::Alike, Scatter::Fifth] {
            let world = World { cases, rounds: 3, between: 0.02, scatter };
            let mut rng = rng(SEED);
            let [mut alarms, mut found, mut held] = [Share::default(); 3];
            for _ in 0..pairs() * 50 / cases as u32 {
                let rows = compared(&pair(&mut rng, world, 0), true).rows;
                for row in &rows {
                    alarms.add(is_changed(row.verdict));
                    held.add((row.interval[0]..=row.interval[1]).contains(&1.0));
                }
                let slowed = compared(&pair(&mut rng, world, cases), true).rows;
                slowed.iter().for_each(|row| found.add(row.verdict == Verdict::Slower));
            }
            let [a, f, h] = [alarms, found, held].map(Share::percent);
            println!("{cases} | {scatter:?} | {a:.2} | {f:.1} | {h:.1}");
            assert!(!alarms.is_above(1.5), "{cases} {scatter:?}: {alarms:?}");
            assert!(!held.is_below(93.0), "{cases} {scatter:?}: {held:?}");
        }
    }
}
