//! When a device has failed too often to be tried again.

use gpubench_core::record::Outcome;

/// Failures in a row after which a device gets no more cases.
const ENOUGH: u32 = 3;

/// Counts the failures that the device (not the case) may be to blame for.
#[derive(Debug, Default)]
pub(super) struct CircuitBreaker {
    count: u32,
    quarantine: Option<String>,
}

impl CircuitBreaker {
    /// Notes the result of a case.
    pub fn note(&mut self, outcome: &Outcome) {
        match outcome.blames_device() {
            Some(true) => self.count += 1,
            Some(false) => self.count = 0,
            None => {}
        }
        if self.count == ENOUGH && self.quarantine.is_none() {
            self.quarantine = Some(format!(
                "the device is in quarantine after {ENOUGH} failures in a row, the last a {}",
                outcome.label()
            ));
        }
    }

    /// Why the device gets no more cases.
    pub fn quarantine(&self) -> Option<&str> {
        self.quarantine.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_in_a_row_are_enough() {
        let crash = Outcome::Crash { how: "killed by SIGSEGV".into(), stderr: vec![] };
        let timeout = Outcome::Timeout("build".into());
        let mut circuit_breaker = CircuitBreaker::default();
        for outcome in [&crash, &timeout, &Outcome::Ok, &crash, &timeout] {
            circuit_breaker.note(outcome);
        }
        assert_eq!(circuit_breaker.quarantine(), None);
        circuit_breaker.note(&Outcome::Skipped("budget".into()));
        circuit_breaker.note(&Outcome::DeviceLost("gone".into()));
        // What follows is skipped for that reason.
        circuit_breaker.note(&Outcome::Skipped("quarantine".into()));
        assert!(circuit_breaker.quarantine().is_some_and(|why| why.ends_with("a device lost")));
    }
}
