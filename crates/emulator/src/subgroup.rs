//! What the active work-items of a subgroup make of each other's values.

use super::machine::Machine;
use super::program::{Op, Row, SubgroupOp};

impl Machine<'_> {
    /// `to = op(from)` in active lanes. What a lane asks of one that is not there or not active, of
    /// which WGSL says nothing, is 0.
    pub(super) fn subgroup(&mut self, op: SubgroupOp, from: [Row; 2], to: Row) {
        let [values, others] = from.map(|row| self.row(row).to_vec());
        let size = self.subgroup as usize;
        for start in (0..self.lanes).step_by(size) {
            let end = (start + size).min(self.lanes);
            let active: Vec<usize> = (start..end).filter(|&lane| self.active.has(lane)).collect();
            let results = match op {
                SubgroupOp::Reduce(op, neutral) => {
                    let all = active.iter().fold(neutral, |all, &lane| with(op, all, values[lane]));
                    vec![all; active.len()]
                }
                SubgroupOp::Inclusive(op, neutral) => scan(op, neutral, &active, &values, true),
                SubgroupOp::Exclusive(op, neutral) => scan(op, neutral, &active, &values, false),
                SubgroupOp::Ballot => {
                    let bits = |from: usize| {
                        let here = active.iter().filter(|&&lane| (lane - start) / 32 == from / 32);
                        here.fold(0, |bits, &lane| {
                            bits | (values[lane] & 1) << ((lane - start) % 32)
                        })
                    };
                    active.iter().map(|&lane| bits(others[lane] as usize)).collect()
                }
                gather => {
                    let value = |&lane: &usize| {
                        let from =
                            source(gather, lane - start, others[lane] as usize, &active, start);
                        let found = active.iter().find(|&&l| Some(l - start) == from);
                        found.map_or(0, |&lane| values[lane])
                    };
                    active.iter().map(value).collect()
                }
            };
            for (lane, result) in active.into_iter().zip(results) {
                self.rows[to as usize * self.lanes + lane] = result;
            }
        }
    }
}

/// The lane, within its subgroup, that `lane` takes a value from.
fn source(
    op: SubgroupOp,
    lane: usize,
    other: usize,
    active: &[usize],
    start: usize,
) -> Option<usize> {
    match op {
        SubgroupOp::First => active.first().map(|first| first - start),
        SubgroupOp::Down => lane.checked_add(other),
        SubgroupOp::Up => lane.checked_sub(other),
        SubgroupOp::Xor => Some(lane ^ other),
        SubgroupOp::Quad => (other < 4).then_some(lane / 4 * 4 + other),
        _ => Some(other),
    }
}

fn scan(op: Op, neutral: u32, active: &[usize], values: &[u32], inclusive: bool) -> Vec<u32> {
    let mut sum = neutral;
    let next = |&lane: &usize| {
        let before = sum;
        sum = with(op, sum, values[lane]);
        if inclusive { sum } else { before }
    };
    active.iter().map(next).collect()
}

/// One operation on two numbers.
fn with(op: Op, a: u32, b: u32) -> u32 {
    let mut rows = [a, b, 0];
    op.run(&mut rows, 1, 2, [0, 1, 1]);
    rows[2]
}
