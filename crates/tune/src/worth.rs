//! What each parameter is worth: how much slower the best gets without its value.

use crate::replay::Recorded;
use serde::Serialize;

/// What a parameter is worth on a recorded space.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Worth {
    /// Its name.
    pub parameter: String,
    /// Its value in the best variant.
    pub best_value: f64,
    /// Best time with any other value, the others chosen anew, over the best; `None` where nothing else ran.
    pub other_values: Option<f64>,
    /// Best time with its worst value, the others chosen anew, over the best.
    pub worst_value: f64,
}

/// One a parameter, in the order of the space.
pub fn worths(recorded: &Recorded) -> Vec<Worth> {
    let space = recorded.space();
    let best = &space.variants()[recorded.best()];
    let ratio = |parameter: usize, value: f64| {
        let pairs = space.variants().iter().zip(recorded.outcomes());
        let times = pairs.filter(|(values, _)| values[parameter] == value);
        let fastest = times.filter_map(|(_, outcome)| outcome.estimate()).min_by(f64::total_cmp);
        fastest.map(|time| time / recorded.best_time())
    };
    let of = |(parameter, name): (usize, &String)| {
        let values = space.values(parameter);
        let others = values.iter().filter(|value| **value != best[parameter]);
        let others: Vec<f64> = others.filter_map(|value| ratio(parameter, *value)).collect();
        Worth {
            parameter: name.clone(),
            best_value: best[parameter],
            other_values: others.iter().copied().min_by(f64::total_cmp),
            worst_value: others.iter().copied().fold(1.0, f64::max),
        }
    };
    space.names().iter().enumerate().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{Interval, Outcome};
    use crate::space::Space;

    #[test]
    fn a_parameter_is_worth_what_its_other_values_cost() {
        let row = |tile: f64, flag: f64| vec![tile, flag];
        let variants =
            vec![row(1.0, 0.0), row(2.0, 0.0), row(4.0, 0.0), row(1.0, 1.0), row(8.0, 0.0)];
        let space = Space::new(vec!["tile".into(), "flag".into()], variants).unwrap();
        let measured = |time| Outcome::Measured(Interval { low: time, time, high: time });
        let outcomes = vec![measured(2.0), measured(3.0), measured(8.0), Outcome::Failed];
        // One launch of a slow one is enough for that.
        let outcomes = [outcomes, vec![Outcome::Slow(20.0)]].concat();
        let worths = worths(&Recorded::new(space, outcomes).unwrap());
        let plain = |worth: &Worth| (worth.best_value, worth.other_values, worth.worst_value);
        assert_eq!(plain(&worths[0]), (1.0, Some(1.5), 10.0));
        assert_eq!(plain(&worths[1]), (0.0, None, 1.0));
    }
}
