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
    /// Its work-item within its group.
    pub(super) lane: u32,
    /// Its group by the order in which groups ran, where that is another one.
    pub(super) group: Option<u64>,
    pub(super) site: u32,
    pub(super) wrote: bool,
}

/// One word's last write and reads, each packed: interval, site, lane, flags. 0 stands for none.
///
/// Of many readers in an interval two of different lanes are kept, those that are not atomic
/// first: whoever writes races with one of them if it races with any.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    written: Vec<u64>,
    read: Vec<u64>,
    /// Another lane's read in the same interval. Empty until there is one.
    also_read: Vec<u64>,
    /// The last read by an earlier group, where its word was read again since. Empty until then.
    read_before: Vec<u64>,
    /// The interval between barriers that runs now; the first of this group's.
    now: u64,
    first: u64,
    /// The first interval of each group.
    groups: Vec<u64>,
}

const ATOMIC: u64 = 1;
/// Two lanes have read in this interval, neither of them atomically.
const FULL: u64 = 2;
/// Another group read before, see [`Shadow::read_before`].
const FOREIGN: u64 = 4;
const FLAGS: u32 = 3;
const LANE_BITS: u32 = 11;
const SITE_BITS: u32 = 18;
const INTERVAL: u32 = FLAGS + LANE_BITS + SITE_BITS;

impl Shadow {
    pub(super) fn new(words: usize) -> Self {
        let (written, read) = (vec![0; words], vec![0; words]);
        Self { written, read, now: 1, first: 1, ..Self::default() }
    }

    /// A barrier: what was, is ordered before what comes.
    pub(super) fn barrier(&mut self) {
        self.now += 1;
    }

    /// Another group begins. `kept`: on memory that both see.
    pub(super) fn next_group(&mut self, kept: bool) {
        self.now += 1;
        self.first = if kept { self.now } else { 0 };
        if kept {
            self.groups.push(self.now);
        }
    }

    #[inline]
    fn pack(&self, touch: Touch, flags: u64) -> u64 {
        let site = u64::from(touch.site).min((1 << SITE_BITS) - 1);
        let place = site << LANE_BITS | u64::from(touch.lane);
        self.now << INTERVAL | place << FLAGS | flags | if touch.atomic { ATOMIC } else { 0 }
    }

    fn rival(&self, entry: u64, wrote: bool) -> Rival {
        let interval = entry >> INTERVAL;
        let is_foreign = interval < self.first;
        let group = self.groups.partition_point(|first| *first <= interval) as u64;
        Rival {
            lane: lane(entry),
            group: is_foreign.then(|| group.saturating_sub(1)),
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
        interval < self.first || interval == self.now && lane(entry) != touch.lane
    }

    /// Notes a read; the write that it races with, if there is one.
    #[inline]
    pub(super) fn read(&mut self, word: usize, touch: Touch) -> Option<Rival> {
        let written = *self.written.get(word)?;
        let rival = self.clashes(written, touch).then(|| self.rival(written, true));
        let before = self.read[word];
        if before >> INTERVAL != self.now {
            let flags = if before != 0 && before >> INTERVAL < self.first {
                self.keep_foreign(word, before);
                FOREIGN
            } else {
                before & FOREIGN
            };
            self.read[word] = self.pack(touch, flags);
        } else if before & FULL == 0 {
            self.read_again(word, touch);
        }
        rival
    }

    /// A group's last read of a word, as another group comes to it.
    fn keep_foreign(&mut self, word: usize, entry: u64) {
        if self.read_before.is_empty() {
            self.read_before = vec![0; self.read.len()];
        }
        let kept = self.read_before[word];
        if kept == 0 || kept & ATOMIC != 0 {
            self.read_before[word] = entry;
        }
    }

    /// One more read of a word in this interval.
    fn read_again(&mut self, word: usize, touch: Touch) {
        let before = self.read[word];
        let second = self.second(word);
        let replaces = |entry: u64| entry & ATOMIC != 0 && !touch.atomic;
        if lane(before) == touch.lane {
            if replaces(before) {
                self.read[word] = self.pack(touch, before & FOREIGN);
            }
        } else if second == 0 || lane(second) == touch.lane {
            if second == 0 || replaces(second) {
                if self.also_read.is_empty() {
                    self.also_read = vec![0; self.read.len()];
                }
                self.also_read[word] = self.pack(touch, 0);
            }
        } else if replaces(before) {
            self.read[word] = self.pack(touch, before & FOREIGN);
        } else if replaces(second) {
            self.also_read[word] = self.pack(touch, 0);
        }
        let second = self.second(word);
        if second != 0 && (self.read[word] | second) & ATOMIC == 0 {
            self.read[word] |= FULL;
        }
    }

    /// Another lane's read of a word in this interval; 0: there is none.
    fn second(&self, word: usize) -> u64 {
        let entry = self.also_read.get(word).copied().unwrap_or(0);
        if entry >> INTERVAL == self.now { entry } else { 0 }
    }

    /// Notes a write; the write or read that it races with, if there is one.
    #[inline]
    pub(super) fn write(&mut self, word: usize, touch: Touch) -> Option<Rival> {
        let (written, read) = (*self.written.get(word)?, self.read[word]);
        let rival = if self.clashes(written, touch) {
            Some(self.rival(written, true))
        } else if read == 0 {
            None
        } else {
            let foreign = if read & FOREIGN != 0 { self.read_before[word] } else { 0 };
            let readers = [read, self.second(word), foreign];
            let clash = readers.into_iter().find(|&entry| self.clashes(entry, touch));
            clash.map(|entry| self.rival(entry, false))
        };
        self.written[word] = self.pack(touch, 0);
        rival
    }
}

fn lane(entry: u64) -> u32 {
    (entry >> FLAGS) as u32 & ((1 << LANE_BITS) - 1)
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
        let rival = Rival { lane: 0, group: None, site: 9, wrote: true };
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
        assert_eq!(shadow.write(0, by(2)).map(|rival| rival.lane), Some(1));
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
            assert_eq!(shadow.write(0, by(1)).is_some_and(|rival| rival.group == Some(0)), races);
        }
    }

    #[test]
    fn a_group_may_read_what_others_read_but_not_write_it() {
        let mut shadow = Shadow::new(1);
        shadow.next_group(true);
        shadow.read(0, by(1));
        shadow.next_group(true);
        assert_eq!(shadow.read(0, by(1)), None);
        assert!(shadow.write(0, by(1)).is_some_and(|rival| rival.group == Some(0)));
    }

    #[test]
    fn a_reader_that_is_not_atomic_is_not_forgotten() {
        let atomic = |lane| Touch { atomic: true, ..by(lane) };
        for readers in [[by(1), atomic(2), atomic(3)], [atomic(2), atomic(3), by(1)]] {
            let mut shadow = Shadow::new(1);
            for reader in readers {
                assert_eq!(shadow.read(0, reader), None);
            }
            assert_eq!(shadow.write(0, atomic(4)).map(|rival| rival.lane), Some(1));
        }
        // Of an earlier group, too.
        let mut shadow = Shadow::new(1);
        shadow.next_group(true);
        shadow.read(0, by(5));
        shadow.next_group(true);
        shadow.read(0, atomic(6));
        let rival = Rival { lane: 5, group: Some(0), site: 9, wrote: false };
        assert_eq!(shadow.write(0, atomic(6)), Some(rival));
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
