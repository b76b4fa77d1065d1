//! Work per second, in the unit that says most of a case.

use gpubench_core::record::{Measured, is_on_whole_numbers};

/// Work per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// Floating-point operations per second.
    Flops(f64),
    /// Operations on whole numbers per second.
    Operations(f64),
    /// Bytes per second.
    Bandwidth(f64),
}

impl Rate {
    /// Of a case of `family` whose launches take `seconds`: bytes where the case is about memory or
    /// computes nothing, else operations; `None` where it counts neither, as a latency does.
    pub fn of(family: &str, measured: &Measured, seconds: f64) -> Option<Self> {
        let Measured { flops, bytes, ref types, .. } = *measured;
        let by_bytes = bytes > 0.0 && (family == "memory" || flops <= 0.0);
        let (work, unit): (f64, fn(f64) -> Self) = match () {
            () if by_bytes => (bytes, Self::Bandwidth),
            () if is_on_whole_numbers(flops, types) => (flops, Self::Operations),
            () => (flops, Self::Flops),
        };
        let rate = work / seconds;
        (work > 0.0 && rate.is_finite()).then(|| unit(rate))
    }

    /// The number, whatever its unit.
    pub fn value(self) -> f64 {
        match self {
            Self::Flops(rate) | Self::Operations(rate) | Self::Bandwidth(rate) => rate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::Scalar;
    use gpubench_core::record::sample;

    #[test]
    fn the_rate_is_of_what_the_case_is_about() {
        let of = |family: &str, flops: f64, bytes: f64, seconds: f64| {
            let measured = sample::record(sample::key("a", 1), seconds).measured.unwrap();
            Rate::of(family, &Measured { flops, bytes, ..measured }, seconds)
        };
        assert_eq!(of("compute", 10.0, 20.0, 2.0), Some(Rate::Flops(5.0)));
        assert_eq!(of("memory", 10.0, 20.0, 2.0), Some(Rate::Bandwidth(10.0)));
        assert_eq!(of("memory", 10.0, 0.0, 2.0), Some(Rate::Flops(5.0)));
        assert_eq!(of("compute", 0.0, 20.0, 2.0), Some(Rate::Bandwidth(10.0)));
        assert_eq!(of("compute", 0.0, 0.0, 2.0), None);
        assert_eq!(of("compute", 10.0, 20.0, 0.0), None);
        let mut whole = sample::record(sample::key("a", 1), 2.0).measured.unwrap();
        (whole.flops, whole.types) = (10.0, vec![(Scalar::I32, 10.0)]);
        assert_eq!(Rate::of("compute", &whole, 2.0), Some(Rate::Operations(5.0)));
        whole.types[0].1 = 5.0;
        assert_eq!(Rate::of("compute", &whole, 2.0), Some(Rate::Flops(5.0)), "half of them f32's");
    }
}
