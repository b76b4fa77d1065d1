//! Work per second, in the unit that says most of a case.

use gpubench_core::record::Measured;

/// Work per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// Floating-point operations per second.
    Flops(f64),
    /// Bytes per second.
    Bandwidth(f64),
}

impl Rate {
    /// Of a case of `family` whose launches take `seconds`: bytes where the case is about memory or
    /// computes nothing, else operations; `None` where it counts neither, as a latency does.
    pub fn of(family: &str, measured: &Measured, seconds: f64) -> Option<Self> {
        let Measured { flops, bytes, .. } = *measured;
        let by_bytes = bytes > 0.0 && (family == "memory" || flops <= 0.0);
        let (work, unit): (f64, fn(f64) -> Self) =
            if by_bytes { (bytes, Self::Bandwidth) } else { (flops, Self::Flops) };
        let rate = work / seconds;
        (work > 0.0 && rate.is_finite()).then(|| unit(rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
    }
}
