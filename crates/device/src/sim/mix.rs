//! What the kernels that characterise a device run, instruction by instruction: a simulated GPU
//! prices them by its description's costs of each.

use super::{Description, Grid, Needs};
use gpubench_core::class::Class;
use std::collections::BTreeSet;

/// Classes of the chains of floating-point instructions, in the order of their OP.
const FLOAT: [Class; 9] = [
    Class::FloatAdd,
    Class::FloatMul,
    Class::FloatFma,
    Class::FloatDiv,
    Class::FloatSqrt,
    Class::FloatExp,
    Class::FloatLog,
    Class::FloatTrigonometry,
    Class::FloatMinMax,
];
/// Classes of the chains of integer instructions.
const INT: [Class; 6] =
    [Class::IntAdd, Class::IntMul, Class::IntDiv, Class::Shift, Class::Logic, Class::Compare];

/// What each work-item of a group runs, one thing after the other, unless said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Mix {
    /// Passes of a loop.
    passes: f64,
    /// Instructions of one class, each needing the one before, and how many such chains.
    instructions: Option<(Class, f64, f64)>,
    /// The same of a second class.
    second_class: Option<(Class, f64, f64)>,
    /// Bytes of global memory that neighbours share evenly.
    even: f64,
    /// Words read from global memory: how many, words between neighbours, words beyond a place
    /// that is aligned.
    apart: Option<(f64, u64, u64)>,
    /// Loads by the first work-item alone, each needing the one before, and their working set.
    chase: Option<(f64, u64)>,
    /// Loads from local memory, each needing the one before, and words between neighbours.
    local: Option<(f64, u64)>,
    /// Exchanges of a word through local memory.
    exchanges: f64,
    /// Atomic additions, and whether each work-item has a place of its own.
    atomics: Option<(f64, bool)>,
}

impl Mix {
    /// Of the kernel that computes what `reference` does; `None` where its work is known as a
    /// whole only.
    pub fn of(reference: &str, numbers: &[(String, f64)]) -> Option<Self> {
        let number = |wanted: &str| numbers.iter().rev().find(|(name, _)| name == wanted);
        let number = |wanted: &str| number(wanted).map_or(0.0, |(_, value)| *value);
        let (passes, repeat) = (number("passes"), number("REPEAT"));
        let chain = |class: Class| {
            let width = number("V");
            let instructions = Some((class, passes * repeat, width));
            Self { passes, instructions, even: 8.0 * width, ..Self::default() }
        };
        let op = |classes: &[Class]| classes.get(number("OP") as usize).copied();
        let hops = 16.0 * passes * repeat;
        let loop_of = Self { passes, even: 8.0, ..Self::default() };
        Some(match reference {
            "float_chain" => chain(op(&FLOAT)?),
            "int_chain" => chain(op(&INT)?),
            "convert_chain" => {
                let logic = Some((Class::Logic, passes * repeat / 2.0, number("V")));
                Self { second_class: logic, ..chain(Class::Convert) }
            }
            "stream" => {
                let rows = [repeat + 1.0, repeat, 2.0 * repeat];
                let rows = rows.get(number("MODE") as usize)?;
                Self { even: 4.0 * number("V") * rows, ..Self::default() }
            }
            "chase" => {
                let chase = Some((hops, 4 * number("words") as u64));
                Self { passes, chase, ..Self::default() }
            }
            // A store takes what a load takes: a description has no latency of its own for it.
            "word_chain" => {
                let accesses = if number("WRITE") != 0.0 { 2.0 * hops } else { hops };
                let chase = Some((accesses, (number("words") * number("BYTES")) as u64));
                Self { passes, chase, ..Self::default() }
            }
            "stride" => {
                let apart = Some((repeat, number("STRIDE") as u64, number("OFFSET") as u64));
                Self { apart, even: 4.0, ..Self::default() }
            }
            "local_chase" => Self { local: Some((hops, number("STRIDE") as u64)), ..loop_of },
            "exchange" => Self { exchanges: passes * repeat, ..loop_of },
            "atomics" => {
                let atomics = Some((16.0 * repeat, number("SPREAD") != 0.0));
                Self { passes: 16.0 * repeat, atomics, ..Self::default() }
            }
            _ => return None,
        })
    }

    /// The grid of `groups` groups that run this.
    pub fn priced(&self, gpu: &Description, groups: u64, needs: Needs) -> Grid {
        let threads = needs.threads as f64;
        let mut bill = Bill { gpu, threads, ..Bill::of(gpu) };
        bill.run(Class::IntAdd, self.passes, 1.0);
        bill.run(Class::Compare, self.passes, 1.0);
        for (class, count, chains) in self.instructions.into_iter().chain(self.second_class) {
            bill.run(class, count, chains);
        }
        bill.load(self.even, self.even * threads);
        if let Some((count, stride, offset)) = self.apart {
            let warps = threads / f64::from(gpu.warp);
            let moved = transactions(gpu, stride, offset) * f64::from(gpu.memory.transaction);
            bill.load(4.0 * count, count * warps * moved);
        }
        if let Some((loads, working_set)) = self.chase {
            bill.seconds += loads * gpu.load_latency(working_set);
        }
        if let Some((loads, stride)) = self.local {
            bill.local(loads, stride);
        }
        if self.exchanges > 0.0 {
            bill.run(Class::IntAdd, self.exchanges, 1.0);
            bill.seconds += self.exchanges * (gpu.barrier() + 2.0 * gpu.local_latency());
        }
        if let Some((count, apart)) = self.atomics {
            let rate = gpu.atomics()[usize::from(apart)];
            // A rate of the whole device, as bandwidth is: each takes the time of so many bytes.
            bill.bytes += count * threads * gpu.memory.bandwidth / rate;
        }
        let flops = bill.unit * gpu.compute.flops_per_cycle * gpu.clock;
        Grid { groups, needs, seconds: bill.seconds, flops, bytes: bill.bytes }
    }
}

/// What one group adds up to.
#[derive(Clone, Copy)]
struct Bill<'a> {
    gpu: &'a Description,
    /// Work-items in whole warps.
    threads: f64,
    /// Seconds of the group where nothing else runs.
    seconds: f64,
    /// Seconds for which it would take a whole unit.
    unit: f64,
    /// Bytes that it moves.
    bytes: f64,
}

impl<'a> Bill<'a> {
    fn of(gpu: &'a Description) -> Self {
        Self { gpu, threads: 0.0, seconds: 0.0, unit: 0.0, bytes: 0.0 }
    }

    /// `chains` chains of `count` instructions each by every work-item.
    fn run(&mut self, class: Class, count: f64, chains: f64) {
        let price = self.gpu.price(class);
        self.seconds += count * price.latency / self.gpu.clock;
        self.unit += self.threads * count * chains / price.per_cycle / self.gpu.clock;
    }

    /// `each` bytes requested by every work-item, for which the memory moves `moved`.
    fn load(&mut self, each: f64, moved: f64) {
        let memory = &self.gpu.memory;
        let transaction = f64::from(memory.transaction);
        self.bytes += (moved / transaction).ceil() * transaction;
        self.seconds += (each / memory.in_flight).ceil() * memory.latency;
    }

    /// `count` loads from local memory by every work-item, `stride` words from its neighbour's.
    fn local(&mut self, count: f64, stride: u64) {
        let gpu = self.gpu;
        let mut banks = vec![0u64; gpu.unit.banks as usize];
        for lane in 0..u64::from(gpu.warp) {
            banks[(lane * stride % u64::from(gpu.unit.banks)) as usize] += 1;
        }
        let rounds = banks.into_iter().max().unwrap_or(1) as f64;
        let min_rounds = f64::from(gpu.warp.div_ceil(gpu.unit.banks));
        self.seconds += count * (gpu.local_latency() + (rounds - min_rounds) / gpu.clock);
        self.unit += count * rounds * self.threads / f64::from(gpu.warp) / gpu.clock;
    }
}

/// Transactions that the words of a warp take, `stride` words apart from word `offset` on.
fn transactions(gpu: &Description, stride: u64, offset: u64) -> f64 {
    let transaction = u64::from(gpu.memory.transaction);
    let segment = |lane: u64| 4 * (lane * stride + offset) / transaction;
    (0..u64::from(gpu.warp)).map(segment).collect::<BTreeSet<_>>().len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::Sim;

    fn gtx_260() -> Description {
        Sim::default().descriptions().unwrap().remove(0)
    }

    #[test]
    fn warps_take_the_transactions_that_their_words_lie_in() {
        let gpu = gtx_260();
        assert_eq!((gpu.warp, gpu.memory.transaction), (32, 32));
        for (stride, offset, expected) in
            [(1, 0, 4.0), (1, 1, 5.0), (2, 0, 8.0), (8, 0, 32.0), (64, 3, 32.0)]
        {
            assert_eq!(transactions(&gpu, stride, offset), expected, "{stride} {offset}");
        }
    }

    #[test]
    fn kernels_of_other_suites_are_priced_as_a_whole() {
        assert_eq!(Mix::of("matmul", &[]), None);
        assert_eq!(Mix::of("float_chain", &[("OP".into(), 99.0)]), None);
    }
}
