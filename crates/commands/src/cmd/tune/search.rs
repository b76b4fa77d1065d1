//! One search: a strategy asks for variants until the budget is spent; the best few are measured again.

use gpubench_core::error::Result;
use gpubench_tune::{Interval, Outcome, Race, Strategy};
use std::time::{Duration, Instant};

/// So many of those that may be the fastest are measured once more: the fastest of many is often a lucky one.
const FINALISTS: usize = 3;
/// The share of a time budget that is left for them.
const FOR_FINALISTS: f64 = 0.15;

/// When a search ends.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Most variants.
    pub variants: usize,
    /// Most time.
    pub time: Option<Duration>,
}

/// The result of trying a variant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attempt {
    /// Its time, where it ran and was right.
    pub interval: Option<Interval>,
    /// Seconds of one launch, where that was so slow that it was neither verified nor measured.
    pub launch: Option<f64>,
    /// `ok`, or how it failed.
    pub outcome: String,
    /// More about a failure.
    pub why: Option<String>,
    /// How many samples.
    pub samples: usize,
    /// Whether a device saw it: what a plan refuses costs no time, and is not counted.
    pub on_device: bool,
}

impl Attempt {
    /// As a strategy takes it.
    pub fn outcome(&self) -> Outcome {
        let slow = self.launch.map_or(Outcome::Failed, Outcome::Slow);
        self.interval.map_or(slow, Outcome::Measured)
    }
}

/// Whoever measures variants.
pub trait Lab {
    /// Tries a variant; `best` is the upper end of the fastest so far, which it races against.
    ///
    /// # Errors
    /// When no variant can be measured any more.
    fn attempt(&mut self, variant: usize, best: Option<f64>) -> Result<Attempt>;
    /// Whether the user asked for an end.
    fn interrupted(&self) -> bool;
    /// Takes note of a result.
    ///
    /// # Errors
    /// When it cannot be written.
    fn note(&mut self, variant: usize, attempt: &Attempt) -> Result<()>;
}

/// What a search found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// What was tried, in order, each variant once with its last result.
    pub tried: Vec<(usize, Attempt)>,
    /// How many were cut off by the race.
    pub cut_off: usize,
    /// Whether it was interrupted.
    pub interrupted: bool,
}

impl Found {
    /// The fastest: its number and interval.
    pub fn best(&self) -> Option<(usize, Interval)> {
        let ran = self.tried.iter().filter_map(|(variant, one)| Some((*variant, one.interval?)));
        ran.min_by(|a, b| a.1.time.total_cmp(&b.1.time))
    }

    /// The result of a variant.
    pub fn of(&self, variant: usize) -> Option<&Attempt> {
        self.tried.iter().find(|(known, _)| *known == variant).map(|(_, attempt)| attempt)
    }

    /// Notes a result; of a variant that is known the new one counts.
    pub fn add(&mut self, variant: usize, attempt: Attempt) {
        match self.tried.iter_mut().find(|(known, _)| *known == variant) {
            Some((_, known)) => *known = attempt,
            None => self.tried.push((variant, attempt)),
        }
    }

    /// How many a device saw.
    pub fn on_device(&self) -> usize {
        self.tried.iter().filter(|(_, attempt)| attempt.on_device).count()
    }
}

/// Searches. `before` is what an earlier search tried; `own` is tried first.
///
/// # Errors
/// As the lab's.
pub fn search(
    strategy: &mut dyn Strategy,
    lab: &mut dyn Lab,
    budget: Budget,
    (before, own): (Vec<(usize, Attempt)>, Option<usize>),
) -> Result<Found> {
    let begun = Instant::now();
    let (mut found, mut race) = (Found::default(), Race::default());
    for (variant, attempt) in before {
        strategy.report(variant, &attempt.outcome());
        found.cut_off += enter(&mut race, &attempt);
        found.add(variant, attempt);
    }
    let is_time = |share: f64| {
        budget.time.is_none_or(|time| begun.elapsed().as_secs_f64() < share * time.as_secs_f64())
    };
    let known = found.tried.len();
    let mut first = own.filter(|own| found.of(*own).is_none());
    // There is always time for the suite's own, which loses to nobody.
    while found.on_device() < budget.variants && (first.is_some() || is_time(1.0 - FOR_FINALISTS)) {
        if lab.interrupted() {
            found.interrupted = true;
            break;
        }
        let best = found.best().filter(|_| first.is_none()).map(|(_, best)| best.high);
        let Some(variant) = first.take().or_else(|| strategy.ask()) else { break };
        let attempt = lab.attempt(variant, best)?;
        found.cut_off += enter(&mut race, &attempt);
        strategy.report(variant, &attempt.outcome());
        lab.note(variant, &attempt)?;
        found.add(variant, attempt);
    }
    if found.tried.len() > known && !found.interrupted {
        finals(lab, &mut found, is_time)?;
    }
    Ok(found)
}

/// Enters a result into the race; how often it shows that its variant lost: by its launch, by its interval.
fn enter(race: &mut Race, attempt: &Attempt) -> usize {
    let by_launch = usize::from(attempt.launch.is_some());
    let Some(interval) = attempt.interval else { return by_launch };
    let by_interval = usize::from(race.has_lost(&interval));
    race.finish(interval);
    by_launch + by_interval
}

/// Measures again those that may be the fastest.
fn finals(lab: &mut dyn Lab, found: &mut Found, is_time: impl Fn(f64) -> bool) -> Result<()> {
    let Some((_, best)) = found.best() else { return Ok(()) };
    let ran = found.tried.iter().filter_map(|(variant, one)| Some((*variant, one.interval?)));
    let mut close: Vec<_> = ran.filter(|(_, interval)| interval.low <= best.high).collect();
    close.sort_by(|a, b| a.1.time.total_cmp(&b.1.time));
    if close.len() < 2 {
        return Ok(());
    }
    for (variant, _) in close.into_iter().take(FINALISTS) {
        if lab.interrupted() || !is_time(1.0) {
            break;
        }
        let again = lab.attempt(variant, None)?;
        lab.note(variant, &again)?;
        found.add(variant, again);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_tune::model::Expected;
    use gpubench_tune::{Kind, Space, strategy};

    /// Times by variant; `None` fails. What was noted, and with which best each raced.
    struct Invented {
        times: Vec<Option<f64>>,
        noted: Vec<usize>,
        raced: Vec<Option<f64>>,
        stop_after: usize,
    }

    impl Lab for Invented {
        fn attempt(&mut self, variant: usize, best: Option<f64>) -> Result<Attempt> {
            self.raced.push(best);
            // The second time is a tenth slower: the first was lucky.
            let again = if self.noted.contains(&variant) { 1.1 } else { 1.0 };
            let interval = self.times[variant].map(|time| {
                let time = again * time;
                Interval { low: 0.95 * time, time, high: 1.05 * time }
            });
            let outcome = if interval.is_some() { "ok" } else { "build error" };
            let on_device = variant != 3;
            let outcome = outcome.into();
            Ok(Attempt { interval, launch: None, outcome, why: None, samples: 5, on_device })
        }

        fn interrupted(&self) -> bool {
            self.noted.len() >= self.stop_after
        }

        fn note(&mut self, variant: usize, _: &Attempt) -> Result<()> {
            self.noted.push(variant);
            Ok(())
        }
    }

    fn lab(stop_after: usize) -> Invented {
        let times = vec![Some(4.0), Some(2.0), None, None, Some(1.0), Some(1.02)];
        Invented { times, noted: vec![], raced: vec![], stop_after }
    }

    fn found(lab: &mut Invented, variants: usize, before: Vec<(usize, Attempt)>) -> Found {
        let space = Space::new(vec!["x".into()], (0..6).map(|x| vec![f64::from(x)]).collect());
        let space = space.unwrap();
        let mut strategy = strategy(Kind::Exhaustive, &space, 0, &Expected::default());
        let budget = Budget { variants, time: None };
        search(strategy.as_mut(), lab, budget, (before, Some(1))).unwrap()
    }

    #[test]
    fn the_own_variant_comes_first_and_the_close_ones_are_measured_again() {
        let mut lab = lab(100);
        let found = found(&mut lab, 5, vec![]);
        // 3 is refused by the plan: it is noted, and not counted.
        assert_eq!(lab.noted, [1, 0, 2, 3, 4, 5, 4, 5]);
        assert_eq!(lab.raced[..3], [None, Some(2.1), Some(2.1)]);
        assert_eq!(lab.raced[6..], [None, None], "finals have no race");
        assert_eq!((found.best().unwrap().0, found.tried.len(), found.cut_off), (4, 6, 1));
        assert!((found.best().unwrap().1.time - 1.1).abs() < 1e-12, "the second time counts");
    }

    /// A lab whose variant 5 loses by one launch.
    struct Slow(Invented);

    impl Lab for Slow {
        fn attempt(&mut self, variant: usize, best: Option<f64>) -> Result<Attempt> {
            let attempt = self.0.attempt(variant, best)?;
            Ok(match variant {
                5 => Attempt { interval: None, launch: Some(9.0), ..attempt },
                _ => attempt,
            })
        }

        fn interrupted(&self) -> bool {
            false
        }

        fn note(&mut self, variant: usize, attempt: &Attempt) -> Result<()> {
            self.0.note(variant, attempt)
        }
    }

    #[test]
    fn what_loses_by_one_launch_is_cut_off_and_the_own_is_tried_without_any_time() {
        let space = Space::new(vec!["x".into()], (0..6).map(|x| vec![f64::from(x)]).collect());
        let space = space.unwrap();
        let run = |time: Option<Duration>| {
            let mut all = strategy(Kind::Exhaustive, &space, 0, &Expected::default());
            let budget = Budget { variants: 6, time };
            search(all.as_mut(), &mut Slow(lab(100)), budget, (vec![], Some(1))).unwrap()
        };
        let found = run(None);
        assert_eq!(found.of(5).unwrap().outcome(), Outcome::Slow(9.0));
        assert_eq!((found.cut_off, found.best().unwrap().0), (2, 4), "0 by its interval");
        let tried: Vec<usize> = run(Some(Duration::ZERO)).tried.iter().map(|one| one.0).collect();
        assert_eq!(tried, [1]);
    }

    #[test]
    fn an_interrupted_search_keeps_what_it_found_and_goes_on_from_there() {
        let mut first = lab(2);
        let half = found(&mut first, 6, vec![]);
        assert!(half.interrupted && half.best().unwrap().0 == 1);
        let mut second = lab(100);
        let whole = found(&mut second, 6, half.tried);
        assert_eq!(second.noted[..4], [2, 3, 4, 5], "nothing is tried twice but in the finals");
        assert_eq!(whole.best().unwrap().0, 4);
    }
}
