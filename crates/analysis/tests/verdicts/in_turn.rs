//! Runs that were measured in turn, on a machine whose speed changes from round to round.

use super::simulate::{Pair, Scatter, World, normal, pair, rng};
use super::{CASES, Line, SEED, SLOWED, is_changed, options, pairs};
use gpubench_analysis::{Comparison, Options, Verdict, compare};

/// Deviation of the machine's speed, in the logarithm, which both runs of a round share.
const SPEED: f64 = 0.3;

/// Both runs with the machine's speed in each round.
fn moved(rng: &mut rand_pcg::Pcg64Mcg, world: World, slowed: usize) -> Pair {
    let mut pair = pair(rng, world, slowed);
    for round in 0..world.rounds {
        let speed = (SPEED * normal(rng)).exp();
        let cases = pair.old.cases.values_mut().chain(pair.new.cases.values_mut());
        cases.for_each(|case| case.medians[round] *= speed);
    }
    pair
}

fn compared(pair: &Pair, planned: bool, in_turn: bool) -> Comparison {
    let options = Options { in_turn, ..options(planned, pair.restless.len()) };
    compare(&pair.old, &pair.new, &options)
}

fn line(world: World, in_turn: bool) -> Line {
    let (mut rng, mut line) = (rng(SEED), Line::default());
    for _ in 0..pairs() {
        let same = moved(&mut rng, world, 0);
        let rows = compared(&same, true, in_turn).rows;
        rows.iter().for_each(|row| line.alarms.add(is_changed(row.verdict)));
        let of_fifty = compared(&same, false, in_turn);
        of_fifty.rows.iter().for_each(|row| line.of_fifty.add(is_changed(row.verdict)));
        let slowed = moved(&mut rng, world, SLOWED);
        for (i, row) in compared(&slowed, true, in_turn).rows.iter().enumerate() {
            let truth = if i < SLOWED { 1.05 } else { 1.0 };
            line.held.add((row.interval[0]..=row.interval[1]).contains(&truth));
        }
        let found = compared(&slowed, false, in_turn);
        found.rows[..SLOWED].iter().for_each(|row| line.found.add(row.verdict == Verdict::Slower));
    }
    line
}

#[test]
fn in_turn_a_change_is_found_on_a_machine_that_changes_its_speed_by_a_third() {
    println!("In turn\nscatter | between | rounds | alarms | of 50 | 5 of 50: found | held");
    for scatter in [Scatter::Alike, Scatter::Fifth] {
        for (between, rounds) in [(0.005, 3), (0.01, 3), (0.01, 5), (0.02, 5)] {
            let world = World { cases: CASES, rounds, between, scatter };
            let line = line(world, true);
            println!(
                "{scatter:?} | {:.1} % | {rounds} | {:.2} | {:.3} | {:.1} | {:.1}",
                100.0 * between,
                line.alarms.percent(),
                line.of_fifty.percent(),
                line.found.percent(),
                line.held.percent()
            );
            let world = format!("{scatter:?} {between} {rounds}");
            assert!(!line.alarms.is_above(1.0), "{world}: {:?}", line.alarms);
            assert!(!line.of_fifty.is_above(1.0), "{world}: {:?}", line.of_fifty);
            assert!(!line.held.is_below(93.0), "{world}: {:?}", line.held);
            // Where a fifth scatters five times as much, three rounds find little, in turn or not.
            let is_found = scatter == Scatter::Alike && between < 0.02;
            assert!(!is_found || !line.found.is_below(95.0), "{world}: {:?}", line.found);
        }
    }
    let world = World { cases: CASES, rounds: 5, between: 0.01, scatter: Scatter::Alike };
    assert!(line(world, false).found.percent() < 5.0, "not in turn it drowns");
}
