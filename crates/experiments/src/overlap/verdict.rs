//! Whether overlap is worth it: yes, no, or undecided, and what would settle it.

use super::saving::{Saving, Share, enough_turns, half_width};
use crate::stages::LITTLE;

/// Whether it is worth it to cut the problem into chunks on queues of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// Chunks on several queues took less time than the whole in order, and than the same chunks in order, by at least
    /// `LITTLE` of it.
    Yes,
    /// They cannot.
    No(Because),
    /// The turns do not say.
    Unknown(Settled),
}

/// Why it is not worth it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// The device has one queue, which hides nothing.
    OneQueue,
    /// One stage is nearly all.
    LittleToHide,
    /// No number of chunks saves that much.
    LittleHidden,
}

/// What would settle it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// A run of today: this one timed its stages and runs one behind the other.
    ByARunInTurn,
    /// Chunks on several queues, and the same in order to compare them with, which there are not or which took no time.
    ByComparison,
    /// So many turns in place of those that there were: fewer give no interval.
    ByEnoughTurns(usize),
    /// About so many turns in place of those of the one round that there was; `None` where no number can be named.
    ByMoreTurns(Option<usize>),
    /// About so many rounds in place of those that there were; `None` where no number can be named.
    ByMoreRounds(Option<usize>),
}

/// More turns or rounds than these nobody waits for.
const MAX_TURNS: f64 = 1e5;
const MAX_ROUNDS: usize = 1000;

/// What is known of a case.
pub(super) struct Case<'a> {
    /// Whether everything was timed in turn, in how many rounds, and how often in all of them.
    pub in_turn: bool,
    pub rounds: usize,
    pub turns: usize,
    /// Whether any run had several queues.
    pub several_queues: bool,
    pub ideal: Option<Share>,
    /// What each run that is evaluated saved.
    pub savings: &'a [Saving],
}

impl Case<'_> {
    pub fn verdict(&self) -> Verdict {
        if !self.several_queues {
            return Verdict::No(Because::OneQueue);
        }
        if !self.in_turn {
            return Verdict::Unknown(Settled::ByARunInTurn);
        }
        if self.ideal.is_some_and(|ideal| ideal.is_below(LITTLE)) {
            return Verdict::No(Because::LittleToHide);
        }
        if self.savings.is_empty() {
            return Verdict::Unknown(Settled::ByComparison);
        }
        let enough = enough_turns(self.savings.len());
        if self.turns < enough {
            return Verdict::Unknown(Settled::ByEnoughTurns(enough));
        }
        let shares: Vec<[Share; 2]> = self.savings.iter().filter_map(both).collect();
        if shares.iter().any(|both| both.iter().all(|share| share.reaches(LITTLE))) {
            return Verdict::Yes;
        }
        if shares.len() < self.savings.len() {
            return Verdict::Unknown(Settled::ByComparison);
        }
        if shares.iter().all(|both| both.iter().any(|share| share.is_below(LITTLE))) {
            return Verdict::No(Because::LittleHidden);
        }
        Verdict::Unknown(self.settled(&shares))
    }

    /// What would bring the most promising run to one side of the limit; above it both of its shares must be.
    fn settled(&self, shares: &[[Share; 2]]) -> Settled {
        let in_order = |[a, b]: [Share; 2]| if a.value <= b.value { [a, b] } else { [b, a] };
        let best = shares.iter().map(|both| in_order(*both));
        let best = best.max_by(|a, b| a[0].value.total_cmp(&b[0].value));
        let narrower = best.and_then(|[smaller, larger]| {
            let smaller_one = narrower(smaller)?;
            let is_below = smaller.value < LITTLE;
            Some(if is_below { smaller_one } else { smaller_one.max(narrower(larger)?) })
        });
        match self.rounds {
            1 => Settled::ByMoreTurns(narrower.and_then(|times| self.more_turns(times))),
            _ => Settled::ByMoreRounds(narrower.and_then(|times| self.more_rounds(times))),
        }
    }

    /// Turns of a round that make its intervals so many times narrower: these narrow as the root of their number.
    fn more_turns(&self, times: f64) -> Option<usize> {
        let turns = self.turns as f64 * times.powi(2);
        (turns < MAX_TURNS).then(|| (turns.ceil() as usize).max(self.turns + 1))
    }

    /// Rounds that make intervals between them so many times narrower, if rounds scatter as they do now.
    fn more_rounds(&self, times: f64) -> Option<usize> {
        let half_width = |rounds| half_width(rounds, self.savings.len());
        let wanted = half_width(self.rounds) / times;
        (self.rounds + 1..=MAX_ROUNDS).find(|&rounds| half_width(rounds) <= wanted)
    }
}

/// How many times narrower the interval must be to lie on the value's side of the limit.
fn narrower(share: Share) -> Option<f64> {
    let [low, high] = share.interval?;
    let side = if share.value < LITTLE { high - share.value } else { share.value - low };
    Some(side / (share.value - LITTLE).abs())
}

/// What a run saved of the time of the whole in order, and of the same chunks in order.
fn both(saving: &Saving) -> Option<[Share; 2]> {
    Some([saving.in_order?, saving.same_chunks?])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(value: f64, half: f64) -> Option<Share> {
        Some(Share { value, interval: Some([value - half, value + half]) })
    }

    fn verdict_of_rounds(rounds: usize, savings: &[[Option<Share>; 2]]) -> Verdict {
        let saving =
            |&[in_order, same_chunks]: &[_; 2]| Saving { in_order, same_chunks, hidden: None };
        let savings: Vec<Saving> = savings.iter().map(saving).collect();
        let (ideal, several_queues) = (share(0.5, 0.01), true);
        Case { in_turn: true, rounds, turns: 10, several_queues, ideal, savings: &savings }
            .verdict()
    }

    fn verdict(savings: &[[Option<Share>; 2]]) -> Verdict {
        verdict_of_rounds(1, savings)
    }

    #[test]
    fn both_comparisons_decide() {
        let (large, small, none) = (share(0.2, 0.1), share(0.02, 0.01), share(0.0, 0.01));
        assert_eq!(verdict(&[[large, large], [none, none]]), Verdict::Yes);
        // Chunks alone save as much: on one queue, too.
        assert_eq!(verdict(&[[large, none]]), Verdict::No(Because::LittleHidden));
        assert_eq!(verdict(&[[none, large], [small, small]]), Verdict::No(Because::LittleHidden));
    }

    #[test]
    fn what_straddles_the_limit_is_undecided_and_more_turns_are_named() {
        // 0.03 above the limit with an interval of 0.06 on either side: four times as many turns.
        let unsure = share(0.08, 0.06);
        let expected = Verdict::Unknown(Settled::ByMoreTurns(Some(40)));
        assert_eq!(verdict(&[[unsure, share(0.3, 0.01)]]), expected);
        // The other share needs more: 0.05 above with 0.2 on either side.
        let expected = Verdict::Unknown(Settled::ByMoreTurns(Some(160)));
        assert_eq!(verdict(&[[unsure, share(0.1, 0.2)]]), expected);
        let [at_the_limit, same] = [share(LITTLE, 0.06), share(0.3, 0.01)];
        let expected = Verdict::Unknown(Settled::ByMoreTurns(None));
        assert_eq!(verdict(&[[at_the_limit, same]]), expected);
    }

    #[test]
    fn what_rounds_leave_undecided_more_rounds_settle() {
        // 0.03 above the limit, and from two rounds 0.06 on either side: half as wide where t/√n is, which falls
        // from 12.706/√2 = 8.985 to 4.303/√3 = 2.484.
        let (unsure, sure) = (share(0.08, 0.06), share(0.3, 0.01));
        let more = |rounds| Verdict::Unknown(Settled::ByMoreRounds(rounds));
        assert_eq!(verdict_of_rounds(2, &[[unsure, sure]]), more(Some(3)));
        // From three rounds half of 2.484: 3.182/√4 = 1.591 is more, 2.776/√5 = 1.242 just not.
        assert_eq!(verdict_of_rounds(3, &[[unsure, sure]]), more(Some(5)));
        assert_eq!(verdict_of_rounds(3, &[[share(LITTLE, 0.06), sure]]), more(None));
    }

    #[test]
    fn what_is_compared_with_nothing_is_no_reason_for_a_no() {
        let none = share(0.0, 0.01);
        let expected = Verdict::Unknown(Settled::ByComparison);
        assert_eq!(verdict(&[]), expected);
        assert_eq!(verdict(&[[none, none], [none, None]]), expected);
    }

    #[test]
    fn too_little_time_and_old_runs_say_so() {
        let savings = [Saving::default(); 6];
        let case = |in_turn, turns, several_queues| {
            let ideal = Some(Share { value: 0.5, interval: None });
            Case { in_turn, rounds: 1, turns, several_queues, ideal, savings: &savings }.verdict()
        };
        assert_eq!(case(true, 7, true), Verdict::Unknown(Settled::ByEnoughTurns(8)));
        assert_eq!(case(false, 99, true), Verdict::Unknown(Settled::ByARunInTurn));
        assert_eq!(case(true, 7, false), Verdict::No(Because::OneQueue));
    }

    #[test]
    fn where_one_stage_is_nearly_all_there_is_little_to_hide() {
        let ideal = share(0.03, 0.01);
        let (in_turn, several_queues) = (true, true);
        let case = Case { in_turn, rounds: 1, turns: 9, several_queues, ideal, savings: &[] };
        assert_eq!(case.verdict(), Verdict::No(Because::LittleToHide));
    }
}
