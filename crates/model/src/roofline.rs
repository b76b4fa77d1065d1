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
    }
}
