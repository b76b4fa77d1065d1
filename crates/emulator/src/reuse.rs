//! What the first work-item reads, and reads again. A compiler that unrolls the loops around its loads reads each place
//! once and keeps it in a register until its last use.

use super::program::{Program, Space};
use std::collections::{BTreeMap, HashMap};

/// When a place was read for the first and for the last time, in reads of any place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Uses {
    first: u64,
    last: u64,
}

/// The places that each access of the text reads.
#[derive(Debug)]
pub(super) struct Reads {
    now: u64,
    places: Vec<HashMap<u32, Uses>>,
}

/// Of one variable. A vector counts by its first word; writes in between are not looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reuse {
    /// In how many different places it is read.
    pub places: u64,
    /// The most of them that, at one time, were read and will be read again: registers that hold them would save
    /// these loads.
    pub held: u64,
}

impl Reads {
    pub(super) fn new(accesses: usize) -> Self {
        Self { now: 0, places: vec![HashMap::new(); accesses] }
    }

    /// An access of the text reads a place.
    pub(super) fn add(&mut self, access: u32, place: u32) {
        let now = self.now;
        let uses = self.places[access as usize].entry(place);
        uses.or_insert(Uses { first: now, last: now }).last = now;
        self.now += 1;
    }

    /// By the names of variables in global and local memory that were read.
    pub(super) fn by_variable(&self, program: &Program) -> BTreeMap<String, Reuse> {
        let mut all: BTreeMap<&str, HashMap<u32, Uses>> = BTreeMap::new();
        for (access, places) in program.accesses.iter().zip(&self.places) {
            if matches!(access.place.space, Space::Buffer(_) | Space::Local) && !places.is_empty() {
                let of = all.entry(access.place.name.as_str()).or_default();
                for (&place, &uses) in places {
                    let known = of.entry(place).or_insert(uses);
                    known.first = known.first.min(uses.first);
                    known.last = known.last.max(uses.last);
                }
            }
        }
        all.into_iter().map(|(name, places)| (name.to_owned(), reuse(&places))).collect()
    }
}

fn reuse(places: &HashMap<u32, Uses>) -> Reuse {
    let again = places.values().filter(|uses| uses.last > uses.first);
    // No two reads are at one time, so that a place's end and another's begin never are.
    let mut changes: Vec<(u64, bool)> =
        again.flat_map(|uses| [(uses.first, true), (uses.last, false)]).collect();
    changes.sort_unstable();
    let (mut now, mut held) = (0u64, 0u64);
    for (_, begins) in changes {
        now = if begins { now + 1 } else { now - 1 };
        held = held.max(now);
    }
    Reuse { places: places.len() as u64, held }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(order: &[u32]) -> Reuse {
        let mut reads = Reads::new(1);
        order.iter().for_each(|&place| reads.add(0, place));
        reuse(&reads.places[0])
    }

    #[test]
    fn what_is_read_again_is_held_until_then() {
        assert_eq!(of(&[1, 2, 3]), Reuse { places: 3, held: 0 });
        assert_eq!(of(&[1, 2, 3, 1, 2, 3]), Reuse { places: 3, held: 3 });
        assert_eq!(of(&[1, 1, 2, 2, 3, 3]), Reuse { places: 3, held: 1 });
        // 2 is held over the second read of 1, and 1 until its third.
        assert_eq!(of(&[1, 2, 1, 2, 1]), Reuse { places: 2, held: 2 });
        assert_eq!(of(&[]), Reuse::default());
    }
}
