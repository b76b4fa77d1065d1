use super::*;
use gpubench_core::record::CooledDown;
use gpubench_core::record::sample::{key, record};
use gpubench_experiments::plan::sample;

fn turns(turns: u64) -> ToCome {
    ToCome { turns, overhead: 0.0 }
}

/// Of a case that is its workload's smallest, or not, and in its last planned round, or not.
fn at_least(is_last: bool, is_smallest: bool) -> AtLeast {
    AtLeast { is_last, is_smallest, sampling: 0.0 }
}

/// The budget when so many seconds of it are spent.
fn after(spent: f64, budget: &TimeBudget) -> TimeBudget {
    TimeBudget { spent, ..budget.clone() }
}

fn seconds(budget: &TimeBudget, spent: f64, left: u64, smallest: bool) -> Option<f64> {
    let share = after(spent, budget).share_with(0.0, turns(left), at_least(false, smallest));
    share.map(|share| share.seconds)
}

#[test]
fn without_a_budget_every_case_has_max_seconds() {
    let time_budget = TimeBudget::new(None, 7.0, 10);
    let share = after(1e6, &time_budget).share_with(3.0, turns(1000), at_least(true, false));
    assert_eq!(share, Some(Share { seconds: 7.0, warmup: 5.0 }));
}

#[test]
fn what_is_left_is_shared() {
    let time_budget = TimeBudget::new(Some(100.0), 5.0, 25);
    assert_eq!(seconds(&time_budget, 0.0, 10, false), Some(5.0));
    assert_eq!(seconds(&time_budget, 0.0, 50, false), Some(2.0 / 1.5));
    assert_eq!(seconds(&time_budget, 50.0, 50, false), Some(1.0 / 1.5));
    assert_eq!(seconds(&time_budget, 99.0, 1000, false), Some(SHORTEST / 1.5));
    assert_eq!(seconds(&time_budget, 100.0, 1, false), None);
    assert_eq!(seconds(&time_budget, 50.0, 1000, true), Some(2.0 / 1.5));
}

#[test]
fn half_of_the_time_for_measuring_is_shared_by_what_surrounds_it() {
    let time_budget = TimeBudget::new(Some(100.0), 50.0, 1000);
    let share = |overhead, last| {
        let to_come = ToCome { turns: 10, overhead: 40.0 };
        let share = time_budget.share_with(overhead, to_come, at_least(last, false));
        share.map_or(f64::NAN, |share| share.seconds * 1.5)
    };
    // Of 100 s 40 surround, so that each of ten gets 3 s, and 30 s are shared by the 40.
    assert!((share(4.0, false) - 6.0).abs() < 1e-9);
    assert!((share(1.0, false) - 3.75).abs() < 1e-9);
    assert!((share(20.0, false) - 18.0).abs() < 1e-9);
    assert!((share(4.0, true) - 8.0).abs() < 1e-9, "in the last round twice what surrounds it");
    let short = ToCome { turns: 10, overhead: 80.0 };
    let share = time_budget.share_with(4.0, short, at_least(true, false));
    let seconds = share.map_or(f64::NAN, |share| share.seconds * 1.5);
    assert!((seconds - 1.875).abs() < 1e-9, "not where others would get none: {seconds}");
    let sampling = AtLeast { sampling: 20.0, ..AtLeast::default() };
    let to_come = ToCome { turns: 10, overhead: 40.0 };
    let long = time_budget.share_with(4.0, to_come, sampling);
    assert_eq!(long.map(|share| share.seconds), Some(20.0), "what a long launch needs");
    let more = ToCome { turns: 10, overhead: 300.0 };
    let share = time_budget.share_with(6.0, more, at_least(false, false));
    let share = share.map_or(f64::NAN, |share| share.seconds * 1.5);
    assert!((share - 1.5).abs() < 1e-9, "a quarter of the time, whatever is expected: {share}");
}

#[test]
fn the_last_case_does_not_take_more_than_there_is() {
    let time_budget = TimeBudget::new(Some(10.0), 5.0, 1);
    for left in [0.2, 1.0, 3.0, 9.0] {
        let to_come = ToCome { turns: 1, overhead: 0.1 };
        let share = after(10.0 - left, &time_budget)
            .share_with(0.1, to_come, at_least(true, true))
            .unwrap();
        let all = 0.1 + share.seconds + share.warmup;
        assert!(all <= left + 1e-9, "{all} s of {left} s");
    }
}

#[test]
fn pauses_take_their_share_from_the_second_case_on() {
    let below = CoolDown::Below { celsius: 50.0, max_seconds: 20.0 };
    let new = |kind| TimeBudget::new(Some(100.0), 50.0, 1).with_pauses(Some(below), kind);
    let mut budget = new(DeviceKind::Discrete);
    let share = |budget: &TimeBudget, spent| seconds(budget, spent, 4, false);
    assert_eq!((budget.cool_down(), share(&budget, 0.0)), (None, Some(25.0 / 1.5)));
    let mut record = record(key("a", 1), 1e-3);
    let mut simulated = new(DeviceKind::Simulated);
    [&mut budget, &mut simulated].into_iter().for_each(|one| one.pauses.learn(&record));
    assert_eq!([budget.cool_down(), simulated.cool_down()], [Some(below); 2]);
    assert_eq!(share(&simulated, 0.0), Some(25.0 / 1.5), "its pauses take no time");
    assert_eq!(share(&budget, 0.0), Some(25.0 / 1.5), "how long it lasts, nobody knows yet");
    budget.spent = 95.0;
    assert_eq!(budget.cool_down().map(CoolDown::max_seconds), Some(5.0), "all that is left");
    budget.keep_for_deferred(true);
    assert_eq!(budget.cool_down().map(CoolDown::max_seconds), Some(0.0), "that is for others");
    budget.keep_for_deferred(false);
    budget.spent = 0.0;
    record.monitor.cool_down = Some(CooledDown { seconds: 5.0, celsius: Some(49.0) });
    record.wall.cool_down = 5.0;
    budget.pauses.learn(&record);
    assert_eq!(share(&budget, 0.0), Some(20.0 / 1.5), "it is expected to last 5 s");
    assert_eq!(share(&budget, 96.0), None, "there is no time for a pause and a case");
    let last = after(94.0, &budget).share_with(0.0, turns(1), at_least(true, false)).unwrap();
    assert!((last.seconds + last.warmup - 1.0).abs() < 1e-9, "{last:?}");
}

#[test]
fn a_case_is_long_by_what_its_turns_may_take() {
    let time_budget = TimeBudget::new(Some(100.0), 5.0, 1);
    let to_come = ToCome { turns: 100, overhead: 50.0 };
    let long = |spent, overheads, rounds| {
        after(spent, &time_budget).is_long_with(overheads, rounds, to_come)
    };
    // Of 100 turns each may take a second, a third of it besides measuring.
    assert!(!long(0.0, [0.33, 0.1], 1) && long(0.0, [0.34, 0.1], 1));
    assert!(long(50.0, [0.17, 0.1], 1), "half is spent");
    // And 4 s for four, of which the last measures for twice what surrounds it.
    assert!(!long(0.0, [1.4, 0.5], 4) && long(0.0, [1.6, 0.5], 4));
    assert!(!TimeBudget::new(None, 5.0, 1).is_long_with([1e3; 2], 4, to_come), "none is short");
    let case = sample::case("memory", "copy", 10);
    let (around, of) =
        (time_budget.overheads.of(&case), |sampling| time_budget.turn_seconds(&case, sampling));
    assert!(
        (of(None) - 3.0 * around).abs() < 1e-12 && (of(Some(6.0)) - around - 9.0).abs() < 1e-12
    );
}

#[test]
fn what_is_kept_for_the_deferred_no_other_case_gets() {
    let mut time_budget = TimeBudget::new(Some(100.0), 50.0, 100);
    assert_eq!(seconds(&time_budget, 40.0, 10, false), Some(6.0 / 1.5));
    time_budget.keep_for_deferred(true);
    assert_eq!(seconds(&time_budget, 40.0, 10, false), Some(5.0 / 1.5));
    assert_eq!(seconds(&time_budget, 90.0, 10, false), None);
    assert!(time_budget.used_up().contains("used up but for what is kept"));
    time_budget.keep_for_deferred(false);
    assert!(time_budget.used_up().contains("used up; `--budget"));
    assert_eq!(seconds(&time_budget, 90.0, 10, false), Some(1.0 / 1.5));
    let mut unlimited = TimeBudget::new(None, 5.0, 1);
    unlimited.keep_for_deferred(true);
    assert_eq!(seconds(&unlimited, 1e6, 10, false), Some(5.0));
}

#[test]
fn time_passes_only_in_the_devices_turns() {
    let mut time_budget = TimeBudget::new(Some(10.0), 5.0, 1);
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert_eq!(time_budget.spent(), 0.0);
    time_budget.begin();
    std::thread::sleep(std::time::Duration::from_millis(20));
    time_budget.end();
    let spent = time_budget.spent();
    assert!((0.02..5.0).contains(&spent), "{spent}");
    assert_eq!(time_budget.spent(), spent);
}
