//! The sequence of compute and memory tasks of one warp.

use super::Class;
use serde::{Deserialize, Serialize};

/// A calculate period: a run of computing instructions, then a run of accesses to global memory,
/// of the group's first warp. Local memory and barriers count as computing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Period {
    /// Instructions by class, those without any left out.
    pub compute: Vec<(Class, u64)>,
    /// Instructions that read global memory.
    pub reads: u64,
    /// Instructions that write it.
    pub writes: u64,
    /// Lanes that took part, summed over the accesses.
    pub lanes: u64,
    /// Bytes that they requested.
    pub bytes: u64,
    /// Transactions that it became.
    pub transactions: u64,
    /// How often the period comes in a row.
    pub times: u64,
}

const CLASSES: usize = Class::ALL.len();

/// Puts periods together.
#[derive(Default)]
pub(super) struct Tracer {
    compute: [u64; CLASSES],
    now: Period,
    done: Vec<Period>,
}

impl Tracer {
    pub(super) fn compute(&mut self, mix: &[(Class, u32)]) {
        for &(class, count) in mix {
            if matches!(class, Class::GlobalRead | Class::GlobalWrite) {
                continue;
            }
            if self.now.lanes > 0 {
                self.end();
            }
            self.compute[class as usize] += u64::from(count);
        }
    }

    pub(super) fn memory(&mut self, write: bool, lanes: u64, bytes: u64, transactions: u64) {
        if write {
            self.now.writes += 1;
        } else {
            self.now.reads += 1;
        }
        self.now.lanes += lanes;
        self.now.bytes += bytes;
        self.now.transactions += transactions;
    }

    fn end(&mut self) {
        let mut period = std::mem::take(&mut self.now);
        let compute = std::mem::take(&mut self.compute);
        period.compute =
            Class::ALL.into_iter().zip(compute).filter(|(_, count)| *count > 0).collect();
        period.times = 1;
        match self.done.last_mut() {
            Some(last) if (Period { times: 1, ..last.clone() }) == period => last.times += 1,
            _ => self.done.push(period),
        }
    }

    /// All periods, the last perhaps without any access.
    pub(super) fn finish(mut self) -> Vec<Period> {
        if self.now.lanes > 0 || self.compute != [0; CLASSES] {
            self.end();
        }
        self.done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_end_where_computing_begins_again() {
        let mut tracer = Tracer::default();
        for _ in 0..3 {
            tracer.compute(&[(Class::FloatAdd, 2), (Class::GlobalRead, 1)]);
            tracer.memory(false, 32, 128, 1);
            tracer.memory(false, 32, 128, 4);
        }
        tracer.compute(&[(Class::IntAdd, 1)]);
        let periods = tracer.finish();
        assert_eq!(periods.len(), 2);
        assert_eq!((periods[0].times, periods[0].reads, periods[0].transactions), (3, 2, 5));
        assert_eq!(periods[0].compute, [(Class::FloatAdd, 2)]);
        assert_eq!((periods[1].times, periods[1].lanes), (1, 0));
    }
}
