//! Who touched a word of memory last, so that races are seen.
//!
//! Work-items of a group are ordered by barriers only, groups by nothing. Two accesses to one word
//! race when at least one of them writes, not both are atomic, and no barrier lies between them.

/// An access as a shadow keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Touch {
    /// The work-item within its group.
    pub(super) lane: u32,
    /// Which access of the kernel's text.
    pub(super) site: u32,
    pub(super) atomic: bool,
}

/// The other side of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rival {
    /// Its work-item, unless it is of another group or one of many.
    pub(super) lane: Option<u32>,
    /// Whether it is of another group.
    pub(super) foreign: bool,
    pub(super) site: u32,
    pub(super) wrote: bool,
}

/// One word's last write and reads, each packed: interval, site, lane, flags. 0 stands for none.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    written: Vec<u64>,
    read: Vec<u64>,
    /// The interval between barriers that runs now; the first of this group's.
    now: u64,
    first: u64,
}

const ATOMIC: u64 = 1;
/// Several work-items of the group read in this interval.
const MANY: u64 = 2;
/// Another group read before.
const FOREIGN: u64 = 4;
const FLAGS: u32 = 3;
const LANE_BITS: u32 = 11;
const SITE_BITS: u32 = 18;
const INTERVAL: u32 = FLAGS + LANE_BITS + SITE_BITS;

impl Shadow {
    pub(super) fn new(words: usize) -> Self {
        Self { written: vec![0; words], read: vec![0; words], now: 1, first: 1 }
    }

    /// A barrier: what was, is ordered before what comes.
    pub(super) fn barrier(&mut self) {
        self.now += 1;
    }

    /// Another group begins. `kept`: on memory that both see.
    pub(super) fn next_group(&mut self, kept: bool) {
        self.now += 1;
        self.first = if kept { self.now } else { 0 };
    }

    #[inline]
    fn pack(&self, touch: Touch, flags: u64) -> u64 {
        let site = u64::from(touch.site).min((1 << SITE_BITS) - 1);
        let place = site << LANE_BITS | u64::from(touch.lane);
        self.now << INTERVAL | place << FLAGS | flags | if touch.atomic { ATOMIC } else { 0 }
    }

    fn rival(&self, entry: u64, wrote: bool) -> Rival {
        let foreign = entry >> INTERVAL < self.first || !wrote && entry & FOREIGN != 0;
        let lane = (entry >> FLAGS) as u32 & ((1 << LANE_BITS) - 1);
        Rival {
            lane: (!foreign).then_some(lane),
            foreign,
            site: (entry >> (FLAGS + LANE_BITS)) as u32 & ((1 << SITE_BITS) - 1),
            wrote,
        }
    }

    /// Whether the access that `entry` records is unordered with one of `touch` now.
    #[inline]
    fn clashes(&self, entry: u64, touch: Touch) -> bool {
        if entry == 0 || touch.atomic && entry & ATOMIC != 0 {
            return false;
        }
        let interval = entry >> INTERVAL;
        let lane = (entry >> FLAGS) as u32 & ((1 << LANE_BITS) - 1);
        let other = lane != touch.lane || entry & MANY != 0;
        interval < self.first || entry & FOREIGN != 0 || interval == self.now && other
    }

    /// Notes a read; the write that it races with, if there is one.
    #[inline]
    pub(super) fn read(&mut self, word: usize, touch: Touch) -> Option<Rival> {
        let written = *self.written.get(word)?;
        let rival = self.clashes(written, touch).then(|| self.rival(written, true));
        let before = self.read[word];
        if before >> INTERVAL == self.now && before & MANY != 0 && before & ATOMIC == 0 {
            return rival; // one more of many changes nothing
        }
        let mut flags = before & FOREIGN;
        if before != 0 && before >> INTERVAL < self.first {
            flags = FOREIGN;
        } else if before >> INTERVAL == self.now {
            let same = self.pack(touch, 0) >> FLAGS & ((1 << LANE_BITS) - 1)
                == before >> FLAGS & ((1 << LANE_BITS) - 1);
            flags |= if same { before & MANY } else { MANY };
        }
        self.read[word] = self.pack(touch, flags);
        rival
    }

    /// Notes a write; the write or read that it races with, if there is one.
    #[inline]
    pub(super) fn write(&mut self, word: usize, touch: Touch) -> Option<Rival> {
        let (written, read) = (*self.written.get(word)?, self.read[word]);
        let rival = if self.clashes(written, touch) {
            Some(self.rival(written, true))
        } else if self.clashes(read, touch) {
            Some(self.rival(read, false))
        } else {
            None
        };
        self.written[word] = self.pack(touch, 0);
        rival
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(lane: u32) -> Touch {
        Touch { lane, site: 9, atomic: false }
    }

    #[test]
    fn a_barrier_orders_what_would_race() {
        let mut shadow = Shadow::new(4);
        assert_eq!(shadow.write(0, by(0)), None);
        assert_eq!(shadow.read(0, by(0)), None);
        let rival = Rival { lane: Some(0), foreign: false, site: 9, wrote: true };
        assert_eq!(shadow.read(0, by(1)), Some(rival));
        shadow.barrier();
        assert_eq!(shadow.read(0, by(1)), None);
        assert!(shadow.write(0, by(2)).is_some_and(|rival| !rival.wrote));
    }

    #[test]
    fn a_write_races_with_any_of_many_readers() {
        let mut shadow = Shadow::new(1);
        assert_eq!(shadow.read(0, by(1)), None);
        assert_eq!(shadow.read(0, by(2)), None);
        assert!(shadow.write(0, by(2)).is_some());
        let mut alone = Shadow::new(1);
        assert_eq!(alone.read(0, by(2)), None);
        assert_eq!(alone.write(0, by(2)), None);
    }

    #[test]
    fn groups_race_on_what_both_see() {
        for (kept, races) in [(true, true), (false, false)] {
            let mut shadow = Shadow::new(1);
            shadow.next_group(kept);
            assert_eq!(shadow.write(0, by(1)), None);
            shadow.next_group(kept);
            shadow.barrier();
            assert_eq!(shadow.write(0, by(1)).is_some_and(|rival| rival.foreign), races);
        }
    }

    #[test]
    fn a_group_may_read_what_others_read_but_not_write_it() {
        let mut shadow = Shadow::new(1);
        shadow.next_group(true);
        shadow.read(0, by(1));
        shadow.next_group(true);
        assert_eq!(shadow.read(0, by(1)), None);
        assert!(shadow.write(0, by(1)).is_some_and(|rival| rival.foreign));
    }

    #[test]
    fn atomics_do_not_race_with_each_other() {
        let atomic = |lane| Touch { atomic: true, ..by(lane) };
        let mut shadow = Shadow::new(1);
        assert_eq!(shadow.write(0, atomic(1)), None);
        assert_eq!(shadow.write(0, atomic(2)), None);
        assert!(shadow.read(0, by(3)).is_some());
    }
}
