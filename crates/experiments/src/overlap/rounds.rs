//! The rounds of a case, made comparable: each with the runs that all of them timed.

use super::data::{Overlap, OverlapRun};
use std::collections::BTreeSet;

/// Chunks and queues of a run.
type Configuration = (u32, u32);

/// The rounds of a case that count.
#[derive(Clone, Debug, PartialEq)]
pub struct CommonRounds {
    /// All turns, as if they were of one round; its steps are the first round's.
    pub all: Overlap,
    /// Each round, with the runs that all of these rounds timed.
    pub rounds: Vec<Overlap>,
    /// Numbers of chunks that some round did not time.
    pub skipped: Vec<u32>,
    /// Rounds that do not count.
    pub uncounted: Uncounted,
}

/// How many rounds do not count, by the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uncounted {
    /// They timed stages and runs one behind the other.
    pub not_in_turn: usize,
    /// They timed no run that all rounds before them did.
    pub nothing_common: usize,
}

impl CommonRounds {
    /// Of a case's rounds. Where none was timed in turn, the first stands for all. `None` of none.
    pub fn of(rounds: impl IntoIterator<Item = Overlap>) -> Option<Self> {
        let (in_turn, others): (Vec<_>, Vec<_>) =
            rounds.into_iter().partition(|round| round.turns.is_some());
        let total = in_turn.len() + others.len();
        let candidates =
            if in_turn.is_empty() { others.into_iter().take(1).collect() } else { in_turn };
        let candidate_count = candidates.len();
        let (rounds, common) = with_common_runs(candidates);
        let uncounted = Uncounted {
            not_in_turn: total - candidate_count,
            nothing_common: candidate_count - rounds.len(),
        };
        let skipped = skipped(&rounds, &common);
        let rounds: Vec<Overlap> =
            rounds.into_iter().map(|round| with_runs(round, &common)).collect();
        Some(Self { all: joined(&rounds)?, rounds, skipped, uncounted })
    }
}

/// The rounds that have runs in common, and which these are.
fn with_common_runs(candidates: Vec<Overlap>) -> (Vec<Overlap>, BTreeSet<Configuration>) {
    let mut common: Option<BTreeSet<Configuration>> = None;
    let mut rounds = vec![];
    for round in candidates {
        let own: BTreeSet<Configuration> = round.runs.iter().map(configuration).collect();
        let shared = match &common {
            Some(common) => common & &own,
            None => own,
        };
        if rounds.is_empty() || !shared.is_empty() {
            common = Some(shared);
            rounds.push(round);
        }
    }
    (rounds, common.unwrap_or_default())
}

/// The numbers of chunks that a round had no time for, and those that another did not time.
fn skipped(rounds: &[Overlap], common: &BTreeSet<Configuration>) -> Vec<u32> {
    let own =
        rounds.iter().filter_map(|round| round.turns.as_ref()).flat_map(|turns| &turns.skipped);
    let runs = rounds.iter().flat_map(|round| &round.runs).map(configuration);
    let elsewhere = runs.filter(|run| !common.contains(run)).map(|(chunks, _)| chunks);
    let all: BTreeSet<u32> = own.copied().chain(elsewhere).collect();
    all.into_iter().collect()
}

/// The round with these runs only, in their order.
fn with_runs(round: Overlap, wanted: &BTreeSet<Configuration>) -> Overlap {
    let of = |wanted| round.runs.iter().find(|run| configuration(run) == wanted).cloned();
    let runs = wanted.iter().filter_map(|&wanted| of(wanted)).collect();
    Overlap { runs, ..round }
}

/// All turns of rounds that have the same runs in the same order.
fn joined(rounds: &[Overlap]) -> Option<Overlap> {
    let (first, more) = rounds.split_first()?;
    let mut all = first.clone();
    for round in more {
        for (timed, more) in all.timed_mut().into_iter().zip(round.timed()) {
            timed.walls.extend(&more.walls);
        }
    }
    Some(all)
}

fn configuration(run: &OverlapRun) -> Configuration {
    (run.chunks, run.queues)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlap::data::Turns;
    use gpubench_core::gpu::{Clock, MemoryKind};
    use gpubench_core::record::Timed;

    /// A round of two turns of these runs, which had no time for `skipped`.
    fn round(runs: &[Configuration], skipped: &[u32]) -> Overlap {
        let timed = || Timed { walls: vec![1.0, 2.0], steps: vec![] };
        let run = |&(chunks, queues): &Configuration| OverlapRun { chunks, queues, timed: timed() };
        Overlap {
            clock: Clock::Device,
            host_memory: MemoryKind::Pinned,
            rows: 64,
            bytes: [1, 1],
            upload: timed(),
            kernel: timed(),
            download: timed(),
            runs: runs.iter().map(run).collect(),
            turns: Some(Turns { allowed: 1.0, skipped: skipped.to_vec() }),
        }
    }

    fn configurations(of: &Overlap) -> Vec<Configuration> {
        of.runs.iter().map(configuration).collect()
    }

    #[test]
    fn rounds_that_skipped_different_chunks_count_by_the_runs_that_all_timed() {
        let whole = round(&[(1, 1), (1, 3), (2, 1), (2, 3), (4, 1), (4, 3)], &[]);
        let short = round(&[(1, 1), (1, 3), (4, 1), (4, 3)], &[2]);
        let common = CommonRounds::of([whole.clone(), short.clone(), whole.clone()]).unwrap();
        for round in common.rounds.iter().chain([&common.all]) {
            assert_eq!(configurations(round), [(1, 1), (1, 3), (4, 1), (4, 3)]);
        }
        assert!(common.all.timed().all(|timed| timed.walls == [1.0, 2.0].repeat(3)));
        assert_eq!((common.rounds.len(), &common.skipped[..]), (3, &[2][..]));
        assert_eq!(common.uncounted, Uncounted::default());
        // Whichever came first.
        let common = CommonRounds::of([short, whole]).unwrap();
        assert_eq!((common.rounds.len(), &common.skipped[..]), (2, &[2][..]));
    }

    #[test]
    fn rounds_that_cannot_count_are_counted_by_the_reason() {
        let runs = [(1, 1), (1, 3), (4, 1), (4, 3)];
        let (in_turn, unlike) = (round(&runs, &[]), round(&[(8, 1)], &[]));
        let old = Overlap { turns: None, ..in_turn.clone() };
        let all = [old.clone(), in_turn.clone(), unlike, in_turn.clone()];
        let common = CommonRounds::of(all).unwrap();
        assert_eq!(common.rounds, [in_turn.clone(), in_turn]);
        assert_eq!(common.uncounted, Uncounted { not_in_turn: 1, nothing_common: 1 });
        assert!(common.skipped.is_empty());
        let common = CommonRounds::of([old.clone(), old.clone()]).unwrap();
        assert_eq!((common.all, common.rounds), (old.clone(), vec![old]));
        assert_eq!(common.uncounted, Uncounted { not_in_turn: 1, nothing_common: 0 });
        assert_eq!(CommonRounds::of([]), None);
    }
}
