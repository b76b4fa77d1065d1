//! Model 3, roofline: what bounds a kernel, and how far is it from the ideal time?
//!
//! Source: V13 §5.3.3.1. The ceilings are the device's *measured* ones.
//! [`super::smooth_roofline`] is the form that is fitted per device.

/// A device's measured ceilings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ceilings {
    /// Operations per second.
    pub peak: f64,
    /// Bytes per second.
    pub bandwidth: f64,
}

/// What a kernel is bound by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Arithmetic.
    Compute,
    /// Memory.
    Memory,
}

/// A kernel's rate of what bounds it. Each bound has a unit of its own, so that none is ever read in
/// another's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BoundRate {
    /// Operations per second of a kernel that is bound by arithmetic.
    Compute(f64),
    /// Bytes per second of a kernel that is bound by memory.
    Memory(f64),
}

impl BoundRate {
    /// What bounds the kernel.
    pub fn bound(self) -> Bound {
        match self {
            Self::Compute(_) => Bound::Compute,
            Self::Memory(_) => Bound::Memory,
        }
    }
}

/// A share of a ceiling: from 0 to 1, since what is above a ceiling is no share of it.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Share(f64);

/// How near a kernel comes to its ceiling.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Reached {
    /// This share of it.
    Share(Share),
    /// It is faster than the ceiling: something served it that the ceiling is not of, such as a cache.
    Above,
}

impl Share {
    /// The whole.
    pub const ALL: Self = Self(1.0);

    /// Its value, from 0 to 1.
    pub fn value(self) -> f64 {
        self.0
    }

    /// The geometric mean; `None` of nothing.
    pub fn mean(shares: &[Self]) -> Option<Self> {
        let sum: f64 = shares.iter().map(|share| share.0.ln()).sum();
        (!shares.is_empty()).then(|| Self((sum / shares.len() as f64).exp().min(1.0)))
    }
}

impl Reached {
    /// Of what would ideally take `ideal` seconds and takes `measured`; `None` where these are no times.
    pub fn of(ideal: f64, measured: f64) -> Option<Self> {
        // The case that is the ceiling reaches all of it, whatever the last digit says.
        const ROUNDING: f64 = 1e-9;
        let share = ideal / measured;
        let is_share = share.is_finite() && share >= 0.0;
        is_share.then(|| match share <= 1.0 + ROUNDING {
            true => Self::Share(Share(share.min(1.0))),
            false => Self::Above,
        })
    }

    /// The share; all of it where the kernel is above.
    pub fn share(self) -> Share {
        match self {
            Self::Share(share) => share,
            Self::Above => Share::ALL,
        }
    }
}

impl Ceilings {
    /// The device's critical intensity `i_c`, in operations per byte.
    pub fn critical_intensity(self) -> f64 {
        self.peak / self.bandwidth
    }

    /// What bounds a kernel of so many operations and bytes: arithmetic when its intensity
    /// `i_a = operations / bytes` is above the device's.
    pub fn bound(self, operations: f64, bytes: f64) -> Bound {
        // Compared as a product, so that a kernel without memory accesses needs no exception.
        if operations > self.critical_intensity() * bytes { Bound::Compute } else { Bound::Memory }
    }

    /// What bounds a kernel, and its rate of that.
    pub fn bound_rate(self, operations: f64, bytes: f64, seconds: f64) -> BoundRate {
        match self.bound(operations, bytes) {
            Bound::Compute => BoundRate::Compute(operations / seconds),
            Bound::Memory => BoundRate::Memory(bytes / seconds),
        }
    }

    /// How near a kernel comes to what bounds it.
    pub fn reached(self, operations: f64, bytes: f64, seconds: f64) -> Option<Reached> {
        Reached::of(self.ideal_seconds(operations, bytes), seconds)
    }

    /// The least seconds that so many operations and bytes can take.
    pub fn ideal_seconds(self, operations: f64, bytes: f64) -> f64 {
        (operations / self.peak).max(bytes / self.bandwidth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slower_side_bounds() {
        let device = Ceilings { peak: 1000e9, bandwidth: 100e9 };
        assert_eq!(device.critical_intensity(), 10.0);
        assert_eq!(device.bound(2e9, 1e8), Bound::Compute);
        assert_eq!(device.ideal_seconds(2e9, 1e8), 2e-3);
        assert_eq!(device.bound(1e8, 1e9), Bound::Memory);
        assert_eq!(device.ideal_seconds(1e8, 1e9), 1e-2);
        assert_eq!(device.bound(1.0, 0.0), Bound::Compute);
        assert_eq!(device.bound(0.0, 1.0), Bound::Memory);
        assert_eq!(device.bound(1e9, 1e8), Bound::Memory, "at the critical intensity itself");
    }

    #[test]
    fn a_rate_is_of_what_bounds_it() {
        let device = Ceilings { peak: 1000e9, bandwidth: 100e9 };
        let computes = device.bound_rate(2e9, 1e8, 4e-3);
        assert_eq!((computes, computes.bound()), (BoundRate::Compute(5e11), Bound::Compute));
        let copies = device.bound_rate(1e8, 1e9, 2e-2);
        assert_eq!((copies, copies.bound()), (BoundRate::Memory(5e10), Bound::Memory));
    }

    #[test]
    fn no_share_is_above_its_ceiling() {
        let device = Ceilings { peak: 3e11, bandwidth: 7e9 };
        for seconds in [1e-9, 1e-4, 1.0 / 7.0, 1.0, f64::MIN_POSITIVE] {
            for (operations, bytes) in [(1e9, 1.0), (1.0, 1e9), (3e10, 7e8), (0.0, 1e3)] {
                let reached = device.reached(operations, bytes, seconds);
                let is_share = |share: Share| (0.0..=1.0).contains(&share.value());
                assert!(reached.is_none_or(|reached| is_share(reached.share())));
            }
        }
        assert_eq!(device.reached(0.0, 7e9, 1.0), Some(Reached::Share(Share::ALL)));
        assert_eq!(device.reached(0.0, 7e9, 0.31), Some(Reached::Above), "321 % of it");
        assert_eq!(device.reached(0.0, 7e9, 0.0), None);
        let quarter = Reached::of(0.25, 1.0).unwrap().share();
        assert_eq!(Share::mean(&[Share::ALL, quarter]).map(Share::value), Some(0.5));
        assert_eq!(Share::mean(&[]), None);
    }
}
