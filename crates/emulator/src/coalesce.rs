//! What one access of a warp becomes: transactions of global memory, rounds of local memory.

use serde::{Deserialize, Serialize};

/// How the accesses of a warp's lanes are put together into transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coalescing {
    /// Every aligned segment that any lane of the warp touches is moved once.
    #[default]
    Warp,
    /// The same for either half of the warp (compute capability 1.2 and 1.3).
    HalfWarp,
    /// A half warp whose lanes take consecutive words of one aligned segment, in order, moves it
    /// once; any other moves one segment for each lane (compute capability 1.0 and 1.1).
    InOrder,
}

/// Counts transactions.
#[derive(Debug)]
pub(super) struct Segments {
    /// Words of one transaction.
    words: u32,
    rule: Coalescing,
    touched: Vec<u32>,
}

impl Segments {
    /// Of `bytes` bytes, a multiple of 4.
    pub(super) fn new(bytes: u32, rule: Coalescing) -> Self {
        Self { words: bytes / 4, rule, touched: vec![] }
    }

    /// Transactions of one access of a warp; lane `i` takes `width` words from its address on,
    /// `None` if it is not active.
    pub(super) fn transactions(&mut self, lanes: &[Option<u32>], width: u32) -> u64 {
        let halves = lanes.chunks(lanes.len().div_ceil(2).max(1));
        match self.rule {
            Coalescing::Warp => self.distinct(lanes, width),
            Coalescing::HalfWarp => halves.map(|half| self.distinct(half, width)).sum(),
            Coalescing::InOrder => halves.map(|half| self.in_order(half, width)).sum(),
        }
    }

    /// Whether accesses that differ only by a shift of all lanes become as many transactions. A
    /// transaction is a power of two, so that this holds of shifts that wrap as well.
    pub(super) fn are_same(&self, shift: u32) -> bool {
        match self.rule {
            Coalescing::Warp | Coalescing::HalfWarp => shift.is_multiple_of(self.words),
            Coalescing::InOrder => shift == 0,
        }
    }

    fn distinct(&mut self, lanes: &[Option<u32>], width: u32) -> u64 {
        self.touched.clear();
        let mut sorted = true;
        for &address in lanes.iter().flatten() {
            for segment in address / self.words..=(address + width - 1) / self.words {
                match self.touched.last() {
                    Some(&last) if last == segment => continue,
                    Some(&last) if last > segment => sorted = false,
                    _ => {}
                }
                self.touched.push(segment);
            }
        }
        if !sorted {
            self.touched.sort_unstable();
            self.touched.dedup();
        }
        self.touched.len() as u64
    }

    fn in_order(&mut self, lanes: &[Option<u32>], width: u32) -> u64 {
        let Some((first, base)) = lanes.iter().enumerate().find_map(|(i, a)| Some((i, (*a)?)))
        else {
            return 0;
        };
        let start = base.wrapping_sub(first as u32 * width);
        let fits = |(i, address): (usize, &Option<u32>)| {
            address.is_none_or(|address| address == start.wrapping_add(i as u32 * width))
        };
        if start.is_multiple_of(lanes.len() as u32 * width) && lanes.iter().enumerate().all(fits) {
            self.distinct(lanes, width)
        } else {
            lanes.iter().flatten().count() as u64
        }
    }
}

/// Counts rounds of local memory: in one round every bank serves one word, to as many lanes as
/// ask for it.
#[derive(Debug)]
pub(super) struct Banks {
    /// Distinct words asked of each bank, and how many they are.
    words: Vec<Vec<u32>>,
}

impl Banks {
    /// Of `count` banks, each four bytes wide.
    pub(super) fn new(count: u32) -> Self {
        Self { words: vec![vec![]; count as usize] }
    }

    /// Whether a whole warp's words are so near to each other that no two share a bank.
    pub(super) fn apart(&self, addresses: &[u32], width: u32) -> bool {
        let (mut low, mut high) = (u32::MAX, 0);
        for &address in addresses {
            low = low.min(address);
            high = high.max(address);
        }
        low <= high && (high - low + width) as usize <= self.words.len()
    }

    /// Rounds of one access of a warp, and the fewest in which any access could bring as many
    /// words.
    pub(super) fn rounds(&mut self, lanes: &[Option<u32>], width: u32) -> (u64, u64) {
        let banks = self.words.len();
        self.words.iter_mut().for_each(Vec::clear);
        let (mut max_per_bank, mut distinct) = (0usize, 0usize);
        for &address in lanes.iter().flatten() {
            for word in address..address + width {
                let bank = &mut self.words[word as usize % banks];
                if bank.last() != Some(&word) && !bank.contains(&word) {
                    bank.push(word);
                    max_per_bank = max_per_bank.max(bank.len());
                    distinct += 1;
                }
            }
        }
        (max_per_bank as u64, distinct.div_ceil(banks) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(of: impl Fn(u32) -> u32) -> Vec<Option<u32>> {
        (0..32).map(|lane| Some(of(lane))).collect()
    }

    fn transactions(rule: Coalescing, width: u32, of: impl Fn(u32) -> u32) -> u64 {
        Segments::new(128, rule).transactions(&lanes(of), width)
    }

    #[test]
    fn shifts_that_are_the_same_cost_the_same() {
        for rule in [Coalescing::Warp, Coalescing::HalfWarp, Coalescing::InOrder] {
            let same = |shift: &u32| Segments::new(128, rule).are_same(*shift);
            for shift in [0, 1, 32, 33, 64, 32u32.wrapping_neg()].iter().filter(|shift| same(shift))
            {
                for (width, stride) in [(1, 1), (1, 7), (2, 3), (4, 4)] {
                    let at = |i: u32| 5000 + stride * (i * 37 % 32);
                    let shifted = |i: u32| at(i).wrapping_add(*shift);
                    let cost = transactions(rule, width, at);
                    assert_eq!(transactions(rule, width, shifted), cost, "{rule:?} {shift}");
                }
            }
        }
        let warp = Segments::new(128, Coalescing::Warp);
        assert!(warp.are_same(64) && !warp.are_same(33));
    }

    #[test]
    fn segments_that_a_warp_touches_are_moved_once() {
        let warp = Coalescing::Warp;
        assert_eq!(transactions(warp, 1, |i| i), 1);
        assert_eq!(transactions(warp, 1, |i| 31 - i), 1);
        assert_eq!(transactions(warp, 1, |i| i + 1), 2);
        assert_eq!(transactions(warp, 1, |i| 2 * i), 2);
        assert_eq!(transactions(warp, 1, |i| 1024 * i), 32);
        assert_eq!(transactions(warp, 4, |i| 4 * i), 4);
        assert_eq!(transactions(warp, 1, |i| i % 2 * 1024), 2);
    }

    #[test]
    fn older_rules_cost_more() {
        assert_eq!(transactions(Coalescing::HalfWarp, 1, |i| i), 2);
        assert_eq!(transactions(Coalescing::InOrder, 1, |i| i), 2);
        assert_eq!(transactions(Coalescing::InOrder, 1, |i| 31 - i), 32);
        assert_eq!(transactions(Coalescing::InOrder, 1, |i| i + 1), 32);
    }

    #[test]
    fn banks_serve_one_word_a_round() {
        let rounds = |width, of: fn(u32) -> u32| Banks::new(32).rounds(&lanes(of), width);
        assert_eq!(rounds(1, |i| i), (1, 1));
        assert_eq!(rounds(1, |_| 7), (1, 1));
        assert_eq!(rounds(1, |i| 32 * i), (32, 1));
        assert_eq!(rounds(1, |i| 33 * i), (1, 1));
        assert_eq!(rounds(1, |i| 2 * i), (2, 1));
        assert_eq!(rounds(4, |i| 4 * i), (4, 4));
        assert_eq!(rounds(1, |i| i % 2), (1, 1));
        // What the short cut says is what counting says.
        let banks = Banks::new(32);
        let apart =
            |width, of: fn(u32) -> u32| banks.apart(&(0..32).map(of).collect::<Vec<_>>(), width);
        assert!(apart(1, |i| 40 + i) && apart(1, |i| i % 2 * 31) && apart(4, |i| i % 8 * 4));
        assert!(!apart(1, |i| i % 2 * 32) && !apart(2, |i| i));
        assert_eq!(rounds(4, |i| i % 8 * 4), (1, 1));
    }

    #[test]
    fn lanes_that_rest_move_nothing() {
        let none = [None; 32];
        assert_eq!(Segments::new(128, Coalescing::InOrder).transactions(&none, 1), 0);
        assert_eq!(Banks::new(32).rounds(&none, 1), (0, 0));
    }
}
