//! Which lanes are active.

/// Most work-items in a group.
pub const MAX_LANES: u32 = 1024;
const WORDS: usize = MAX_LANES as usize / 64;

/// A set of lanes, and how many they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mask {
    bits: [u64; WORDS],
}

impl Mask {
    pub(super) const EMPTY: Self = Self { bits: [0; WORDS] };

    /// The first `lanes` lanes.
    pub(super) fn first(lanes: usize) -> Self {
        let mut bits = [0; WORDS];
        for (i, word) in bits.iter_mut().enumerate() {
            let here = lanes.saturating_sub(64 * i).min(64);
            *word = if here == 64 { u64::MAX } else { (1 << here) - 1 };
        }
        Self { bits }
    }

    /// Lanes whose value is not 0.
    pub(super) fn of(row: &[u32]) -> Self {
        let mut bits = [0; WORDS];
        for (word, values) in bits.iter_mut().zip(row.chunks(64)) {
            *word = values
                .iter()
                .enumerate()
                .fold(0, |word, (lane, &value)| word | u64::from(value != 0) << lane);
        }
        Self { bits }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bits == [0; WORDS]
    }

    pub(super) fn len(&self) -> u64 {
        self.bits.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    pub(super) fn and(&self, other: &Self) -> Self {
        self.with(other, |a, b| a & b)
    }

    pub(super) fn or(&self, other: &Self) -> Self {
        self.with(other, |a, b| a | b)
    }

    pub(super) fn without(&self, other: &Self) -> Self {
        self.with(other, |a, b| a & !b)
    }

    fn with(&self, other: &Self, f: impl Fn(u64, u64) -> u64) -> Self {
        let mut bits = self.bits;
        for (a, b) in bits.iter_mut().zip(other.bits) {
            *a = f(*a, b);
        }
        Self { bits }
    }

    pub(super) fn has(&self, lane: usize) -> bool {
        self.bits[lane / 64] >> (lane % 64) & 1 == 1
    }

    /// Its lanes in order.
    pub(super) fn lanes(&self) -> impl Iterator<Item = usize> + '_ {
        self.bits.iter().enumerate().flat_map(|(i, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let lane = left.trailing_zeros() as usize;
                (left != 0).then(|| {
                    left &= left - 1;
                    64 * i + lane
                })
            })
        })
    }

    /// How many of the warps, each `width` lanes (a power of two), have a lane in it.
    pub(super) fn warps(&self, width: u32) -> u64 {
        if width >= 64 {
            let words = self.bits.chunks(width as usize / 64);
            return words.filter(|words| words.iter().any(|&word| word != 0)).count() as u64;
        }
        let one = (1u64 << width) - 1;
        let parts = |word: u64| (0..64 / width).filter(move |i| word >> (i * width) & one != 0);
        self.bits.iter().filter(|&&w| w != 0).map(|&word| parts(word).count() as u64).sum()
    }

    /// Lanes of all warps that have a lane in it; the group has `lanes` lanes, and its last warp
    /// may be short.
    pub(super) fn slots(&self, width: u32, lanes: usize) -> u64 {
        let width = width as usize;
        let last = (lanes - 1) / width * width;
        let short = if self.any_within(last, lanes) { last + width - lanes } else { 0 };
        self.warps(width as u32) * width as u64 - short as u64
    }

    /// Whether all lanes from `first` to before `end` are in it.
    pub(super) fn all_within(&self, first: usize, end: usize) -> bool {
        let (word, bits) = (self.bits[first / 64] >> (first % 64), end - first);
        if first / 64 == (end - 1) / 64 && bits < 64 {
            let wanted = (1u64 << bits) - 1;
            return word & wanted == wanted;
        }
        (first..end).all(|lane| self.has(lane))
    }

    /// Whether any lane from `first` to before `end` is in it.
    pub(super) fn any_within(&self, first: usize, end: usize) -> bool {
        (first..end).any(|lane| self.has(lane))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_and_warps_are_counted() {
        let mask = Mask::first(70);
        assert_eq!((mask.len(), mask.warps(32), mask.warps(64), mask.warps(8)), (70, 3, 2, 9));
        assert_eq!(mask.warps(128), 1);
        assert_eq!(mask.lanes().collect::<Vec<_>>(), (0..70).collect::<Vec<_>>());
        assert_eq!(Mask::first(1024).len(), 1024);
        let odd: Vec<u32> = (0..70).map(|lane| lane % 2).collect();
        let odd = Mask::of(&odd);
        assert_eq!(odd.len(), 35);
        assert_eq!(mask.without(&odd).or(&odd), mask);
        assert!(mask.and(&Mask::EMPTY).is_empty());
        assert!(odd.has(69) && !odd.has(68));
        assert!(mask.all_within(0, 64) && mask.all_within(64, 70) && mask.all_within(8, 16));
        assert!(!mask.all_within(64, 71) && !odd.all_within(32, 64) && mask.all_within(0, 70));
    }
}
