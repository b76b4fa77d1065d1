//! Several processes' medians in one value with the uncertainty between processes.

use super::location::{Location, locations};
use super::{Summary, t_quantile};

/// What an interval was made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The samples of a single round: it says nothing of what another process would measure.
    Round,
    /// The samples of a single round, and how much those of the device's other cases drifted.
    Drift,
    /// The case's own rounds, by Student's t.
    Rounds,
    /// The rounds of the device's cases, the case's own among them.
    Device,
}

/// An interval, given in logarithms as its middle is. None of its ends lies beyond a million times the middle: where rounds
/// scatter so much nothing is known, and a farther end is neither a time nor a ratio of times.
pub fn ends(middle: f64, interval: [f64; 2]) -> [f64; 2] {
    let farthest = 1e6f64.ln();
    interval.map(|end| end.clamp(middle - farthest, middle + farthest).exp())
}

/// A case's value over all its rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overall {
    /// By itself the geometric mean of the rounds' medians; among a device's cases, where these put it.
    pub value: f64,
    /// A 95 % interval.
    pub interval: [f64; 2],
    /// What it was made of.
    pub basis: Basis,
    /// Number of rounds.
    pub rounds: usize,
}

/// The value over rounds, each given by its samples; `None` where no round has any.
pub fn overall<'a>(rounds: impl IntoIterator<Item = &'a [f64]>) -> Option<Overall> {
    let mut all = Rounds::default();
    rounds.into_iter().filter_map(Summary::of).for_each(|summary| all.add(&summary));
    all.overall()
}

/// The geometric mean of positive numbers; `None` where there are none, or one is not positive.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|x| !x.is_finite() || *x <= 0.0) {
        return None;
    }
    Some((values.iter().map(|x| x.ln()).sum::<f64>() / values.len() as f64).exp())
}

/// Rounds taken in one by one, their samples forgotten: what [`overall`] is made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rounds {
    /// Rounds with samples.
    pub count: u32,
    /// Logarithms of the rounds' medians.
    logs: Vec<f64>,
    /// Sum over rounds of the variance of the median's logarithm, estimated from its samples.
    sampling: f64,
    /// The rank interval of the median where there is one round.
    only: [f64; 2],
    /// The drift of its samples.
    drift: Option<f64>,
    /// Whether a round's median has no logarithm: it took no time that its clock could resolve.
    unresolved: bool,
}

impl Rounds {
    /// Takes in one more round.
    pub fn add(&mut self, round: &Summary) {
        let log = round.median.ln();
        let unresolved = !log.is_finite();
        self.merge(&Self {
            count: 1,
            logs: vec![if unresolved { 0.0 } else { log }],
            sampling: round.log_error().powi(2),
            only: round.interval,
            drift: round.drift,
            unresolved,
        });
    }

    /// Takes in further rounds.
    pub fn merge(&mut self, other: &Self) {
        if self.count == 0 {
            self.clone_from(other);
            return;
        }
        self.logs.extend(&other.logs);
        self.sampling += other.sampling;
        self.count += other.count;
        self.unresolved |= other.unresolved;
    }

    /// Mean of the logarithms of the rounds' medians; 0 where there are none.
    pub fn mean(&self) -> f64 {
        self.moments()[0]
    }

    /// Sum of the squared distances from that mean.
    pub fn squares(&self) -> f64 {
        self.moments()[1]
    }

    /// Mean and sum of squares, round by round (Welford's update).
    fn moments(&self) -> [f64; 2] {
        let one = |[mean, squares]: [f64; 2], (before, log): (usize, &f64)| {
            let (a, distance) = (before as f64, log - mean);
            [mean + distance / (a + 1.0), squares + distance * distance * a / (a + 1.0)]
        };
        self.logs.iter().enumerate().fold([0.0; 2], one)
    }

    /// Whether they have a value: there is a round, and each took a time that its clock could resolve.
    pub fn has_value(&self) -> bool {
        self.count > 0 && !self.unresolved
    }

    /// Their value, if they have one, by themselves: with two rounds or more its interval is Student's t
    /// on their logarithms, else the one round's rank interval of the median.
    pub fn overall(&self) -> Option<Overall> {
        let value = self.mean();
        match self.between() {
            None => self.with(Basis::Round, value, self.only),
            Some(variance) => {
                let half = t_quantile(f64::from(self.count) - 1.0, 0.975) * variance.sqrt();
                self.with(Basis::Rounds, value, ends(value, [value - half, value + half]))
            }
        }
    }

    /// A value, given in logarithms, and its interval.
    fn with(&self, basis: Basis, value: f64, interval: [f64; 2]) -> Option<Overall> {
        let (value, rounds) = (value.exp(), self.count as usize);
        // The logarithm and back lose a last digit: samples that all agree must not exclude their value.
        let interval = [interval[0].min(value), interval[1].max(value)];
        self.has_value().then_some(Overall { value, interval, basis, rounds })
    }

    /// As [`Rounds::overall`], that of a single round with room for such a drift.
    fn drifting(&self, drift: Option<f64>) -> Option<Overall> {
        let Some(drift) = drift.filter(|_| self.count == 1) else { return self.overall() };
        let value = self.mean();
        let [low, high] = self.only.map(|end| (end.ln() - value).abs().hypot(drift));
        self.with(Basis::Drift, value, ends(value, [value - low, value + high]))
    }

    /// Variance of the mean over rounds: `None` with a single round.
    pub fn between(&self) -> Option<f64> {
        let n = f64::from(self.count);
        (self.count > 1).then(|| self.squares() / (n - 1.0) / n)
    }

    /// Variance of the mean over rounds as far as it comes from the samples within them.
    pub fn within(&self) -> f64 {
        self.sampling / f64::from(self.count).powi(2)
    }
}

/// Fewest values that show what a further one exceeds once in twenty times: of `n`, the next exceeds the largest once
/// in `n + 1` times.
const FEWEST: usize = 19;

/// The values of the cases that one device measured, in their order. Where two cases or more have
/// rounds to tell, all of these show where each lies (`location.rs`); where one or none has, the intervals of
/// only rounds are widened by the drift that the cases show.
pub fn overalls(cases: &[Rounds]) -> Vec<Option<Overall>> {
    let known: Vec<&Rounds> = cases.iter().filter(|rounds| rounds.has_value()).collect();
    let several = known.iter().filter(|rounds| rounds.count > 1).count();
    if several < 2 {
        let drifts = known.iter().filter_map(|rounds| rounds.drift).map(f64::abs);
        let drift = exceeded_once_in_twenty(drifts);
        return cases.iter().map(|rounds| rounds.drifting(drift)).collect();
    }
    let logs: Vec<&[f64]> = known.iter().map(|rounds| rounds.logs.as_slice()).collect();
    let mut locations = locations(&logs).into_iter();
    let one = |rounds: &Rounds| {
        // One of those known.
        let Location { value, interval } = rounds.has_value().then(|| locations.next())??;
        rounds.with(Basis::Device, value, ends(value, interval))
    };
    cases.iter().map(one).collect()
}

/// What a further value exceeds once in twenty times: the `⌈0.95 (n + 1)⌉`-th smallest of those seen (split conformal
/// prediction). `None` where they are too few.
pub fn exceeded_once_in_twenty(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let place = (0.95 * (values.len() + 1) as f64).ceil() as usize;
    if values.len() < FEWEST { None } else { values.get(place - 1).copied() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_geometric_mean_of_one_and_four_is_two() {
        assert!((geometric_mean(&[1.0, 4.0]).unwrap() - 2.0).abs() < 1e-12);
        assert!(geometric_mean(&[]).is_none() && geometric_mean(&[0.0, 1.0]).is_none());
    }

    #[test]
    fn no_end_of_an_interval_lies_beyond_a_million_times_its_middle() {
        let [low, high] = ends(1.0, [-180.0, 1.5]);
        assert!((low / 1f64.exp() - 1e-6).abs() < 1e-15 && (high - 1.5f64.exp()).abs() < 1e-12);
        let [one, other] = [[1e-6; 15], [1e3; 15]];
        let found = overall([one.as_slice(), other.as_slice()]).unwrap();
        assert!((found.interval[1] / found.value - 1e6).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn samples_that_agree_do_not_exclude_their_value() {
        for seconds in [3.0f64, 1e-6, 7.3e-5] {
            let Overall { value, interval, .. } = overall([[seconds; 9].as_slice()]).unwrap();
            assert!(interval[0] <= value && value <= interval[1], "{value} of {interval:?}");
        }
    }

    #[test]
    fn one_round_has_its_own_rank_interval() {
        let samples: Vec<f64> = (1..=15).map(f64::from).collect();
        let overall = overall([samples.as_slice()]).unwrap();
        assert_eq!(overall.interval, [4.0, 12.0]);
        assert!((overall.value - 8.0).abs() < 1e-12);
    }

    #[test]
    fn three_rounds_have_a_student_interval_between_them() {
        let rounds = [[1.0].as_slice(), &[1.1], &[1.21]];
        let overall = overall(rounds).unwrap();
        assert!((overall.value - 1.1).abs() < 1e-12);
        // Standard deviation of the logs is ln 1.1; t(0.975, 2) = 4.30265.
        let half = 4.302_65 * 1.1f64.ln() / 3f64.sqrt();
        assert!((overall.interval[1].ln() - 1.1f64.ln() - half).abs() < 1e-4);
    }

    fn cases(of: &[&[f64]]) -> Vec<Rounds> {
        let mut all = vec![Rounds::default(); of.len()];
        for (rounds, medians) in all.iter_mut().zip(of) {
            medians.iter().for_each(|median| rounds.add(&Summary::of(&[*median]).unwrap()));
        }
        all
    }

    #[test]
    fn cases_learn_from_each_other_how_much_rounds_scatter() {
        let alike: [&[f64]; 6] =
            [&[1.0, 1.02], &[2.0, 2.0001], &[3.0, 2.95], &[4.0, 4.1], &[5.0, 5.03], &[6.0]];
        let found = overalls(&cases(&alike));
        let relative = |i: usize| found[i].unwrap().interval[1] / found[i].unwrap().value - 1.0;
        let alone = overalls(&cases(&alike[1..2]))[0].unwrap();
        assert_eq!(alone.basis, Basis::Rounds);
        assert!(found.iter().flatten().all(|overall| overall.basis == Basis::Device));
        assert!(relative(1) > 10.0 * (alone.interval[1] / alone.value - 1.0), "two agreed by luck");
        assert!((0.02..0.2).contains(&relative(5)), "one round: {}", relative(5));
        assert!(
            overalls(&cases(&alike[..1]))[0].unwrap().interval[1] > 1.1,
            "alone, nothing helps"
        );
    }

    #[test]
    fn what_samples_add_to_the_variance_of_a_mean_falls_with_the_square_of_the_rounds() {
        let mut rounds = Rounds { count: 1, sampling: 0.36, ..Rounds::default() };
        rounds.merge(&Rounds { count: 2, sampling: 0.54, ..Rounds::default() });
        assert!((rounds.within() - 0.1).abs() < 1e-12);
    }

    #[test]
    fn rounds_without_a_value_neither_have_nor_move_one() {
        let with = overalls(&cases(&[&[1.0, 1.1], &[0.0, 0.0], &[], &[2.0, 2.1]]));
        let without = overalls(&cases(&[&[1.0, 1.1], &[2.0, 2.1]]));
        assert_eq!([with[0], with[3]], [without[0], without[1]]);
        assert_eq!([with[1], with[2]], [None, None]);
    }

    #[test]
    fn single_rounds_leave_room_for_the_drift_that_others_show() {
        let round = |i: usize, drift: f64| {
            let mut rounds = Rounds::default();
            let sample = |j: usize| (1.0 + i as f64) * if j > 9 { drift.exp() } else { 1.0 };
            let samples: Vec<f64> = (0..15).map(sample).collect();
            rounds.add(&Summary::of(&samples).unwrap());
            rounds
        };
        // Of twenty drifts up to 2 % the twentieth is the ⌈0.95·21⌉-th.
        let drifting: Vec<Rounds> = (0..20).map(|i| round(i, 1e-3 * (i + 1) as f64)).collect();
        // Of nineteen it is the last.
        for (cases, case, drift) in [(20, 0, 0.02f64), (20, 2, 0.02), (19, 0, 0.019)] {
            let found = overalls(&drifting[..cases])[case].unwrap();
            assert_eq!(found.basis, Basis::Drift);
            assert!((found.interval[0] / found.value - (-drift).exp()).abs() < 1e-9, "{found:?}");
        }
        // One case that has a second round takes nothing from the others.
        let mut mixed = drifting.clone();
        mixed[7].merge(&drifting[7]);
        let found = overalls(&mixed);
        assert_eq!(found[7].unwrap().basis, Basis::Rounds);
        assert_eq!(found[0], overalls(&drifting)[0]);
        let few = overalls(&drifting[..18])[0].unwrap();
        assert_eq!((few.basis, few.interval[0]), (Basis::Round, 1.0), "too few to tell");
    }

    #[test]
    fn merging_is_the_same_as_adding() {
        let rounds = [1.0, 1.3, 1.1, 1.2, 1.4].map(|x| Summary::of(&[x]).unwrap());
        let of = |rounds: &[Summary]| {
            let mut all = Rounds::default();
            rounds.iter().for_each(|round| all.add(round));
            all
        };
        let (whole, mut parts) = (of(&rounds), of(&rounds[..2]));
        parts.merge(&of(&rounds[2..]));
        parts.merge(&Rounds::default());
        assert!((whole.mean() - parts.mean()).abs() < 1e-12);
        assert!((whole.squares() - parts.squares()).abs() < 1e-12);
        assert_eq!(whole.count, parts.count);
        let two = of(&[1.0, 4.0].map(|x| Summary::of(&[x]).unwrap()));
        // Squares 2·(ln 2)², over n − 1 and n.
        assert!((two.between().unwrap() - 2f64.ln().powi(2)).abs() < 1e-12);
    }

    #[test]
    fn a_round_without_a_time_leaves_no_value() {
        assert_eq!(overall([[0.0].as_slice(), &[1.0]]), None);
        assert_eq!(overall([[].as_slice()]), None);
    }
}
