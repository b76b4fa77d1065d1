//! What a record holds of it.

use gpubench_core::gpu::Clock;
use gpubench_core::record::Data;
use gpubench_core::workload::Kind;
use serde::{Deserialize, Serialize};

/// Submissions of one launch and of several, on the host's clock (simulated: on the simulator's). Samples of one
/// position are of one turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Submissions {
    /// The clock of all samples.
    pub clock: Clock,
    /// Seconds from submitting one launch until the host knows that it has ended; for OpenCL, which records no
    /// commands, from enqueueing it.
    pub one: Vec<f64>,
    /// The same of several launches in one submission.
    pub several: Vec<f64>,
    /// How many.
    pub count: u32,
    /// The first launch of kernels that were just built.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first: Vec<f64>,
}

impl Data for Submissions {
    const KIND: Kind = Kind::new("launch");
}

impl Submissions {
    /// What costs how much: each with its seconds in every turn.
    pub(super) fn costs(&self) -> Vec<(&'static str, Vec<f64>)> {
        let more = f64::from(self.count.max(2) - 1);
        let turns = || self.one.iter().zip(&self.several);
        let each = |(one, several): (&f64, &f64)| (several - one) / more;
        let mut costs = vec![
            ("one launch, submitted until ended", self.one.clone()),
            ("each further launch in a submission", turns().map(each).collect()),
            ("a submission less its launch", turns().map(|of| of.0 - each(of)).collect()),
        ];
        if !self.first.is_empty() {
            costs.push(("the first launch of a new kernel", self.first.clone()));
        }
        costs
    }
}

#[test]
fn a_submission_is_divided_into_its_launches_and_the_rest() {
    let (one, several) = (vec![11e-6, 12e-6], vec![20e-6, 30e-6]);
    let first = vec![50e-6];
    let of = Submissions { clock: Clock::Host, one: one.clone(), several, count: 10, first };
    let [all, each, rest, first] = &of.costs()[..] else { panic!("four costs") };
    assert_eq!(first.1, [50e-6]);
    assert_eq!(Submissions { first: vec![], ..of.clone() }.costs().len(), 3);
    assert_eq!(all.1, one);
    let near = |found: &[f64], wanted: [f64; 2]| {
        assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
    };
    near(&each.1, [1e-6, 2e-6]);
    near(&rest.1, [10e-6, 10e-6]);
}
