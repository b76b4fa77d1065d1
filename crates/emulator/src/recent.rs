//! The last time that the text's accesses were run: in a loop most come again, shifted as a whole,
//! and their result is known.

use super::mask::Mask;

/// Lanes compared in one go.
const LANES_PER_CHUNK: usize = 64;

/// One access of a group's lanes, and its result. By default there was none.
#[derive(Clone, Debug, Default)]
pub(super) struct Recent<T> {
    addresses: Vec<u32>,
    mask: Mask,
    result: T,
}

impl<T: Copy> Recent<T> {
    pub(super) fn remember(&mut self, addresses: &[u32], mask: &Mask, result: T) {
        self.addresses.clear();
        self.addresses.extend_from_slice(addresses);
        (self.mask, self.result) = (*mask, result);
    }

    /// Its result, where the same lanes now go to the same addresses but for a shift, in
    /// words, that changes nothing.
    pub(super) fn again(
        &self,
        addresses: &[u32],
        mask: &Mask,
        changes_nothing: impl Fn(u32) -> bool,
    ) -> Option<T> {
        let shift = addresses.first()?.wrapping_sub(*self.addresses.first()?);
        let now = addresses.chunks(LANES_PER_CHUNK);
        let is_again = changes_nothing(shift)
            && *mask == self.mask
            && now
                .zip(self.addresses.chunks(LANES_PER_CHUNK))
                .all(|(now, then)| shifted(now, then, shift));
        is_again.then_some(self.result)
    }
}

/// Without a branch for each lane, so that several are compared by one instruction.
fn shifted(now: &[u32], then: &[u32], shift: u32) -> bool {
    let differs = |(now, then): (&u32, &u32)| now.wrapping_sub(*then) ^ shift;
    now.iter().zip(then).map(differs).fold(0, |any, one| any | one) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_comes_again_where_all_lanes_are_shifted_alike() {
        let (all, all_but_one) = (Mask::first(100), Mask::first(99));
        let then: Vec<u32> = (0..100).map(|lane| 500 + 3 * lane).collect();
        let shifted = |by: i32| -> Vec<u32> {
            then.iter().map(|address| address.wrapping_add_signed(by)).collect()
        };
        let mut recent = Recent::default();
        let even = |shift: u32| shift.is_multiple_of(2);
        assert_eq!(recent.again(&then, &all, even), None);
        recent.remember(&then, &all, 7);
        assert_eq!(recent.again(&then, &all, even), Some(7));
        assert_eq!(recent.again(&shifted(-32), &all, even), Some(7));
        assert_eq!(recent.again(&shifted(31), &all, even), None);
        assert_eq!(recent.again(&then, &all_but_one, even), None);
        let mut other = shifted(2);
        other[99] += 2;
        assert_eq!(recent.again(&other, &all, even), None);
    }
}
