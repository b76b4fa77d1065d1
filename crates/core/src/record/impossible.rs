//! What no run can have measured: a record that says so was altered, and is not used.

use super::{Header, Measured, Outcome, Record};

/// Longer than any sample, in seconds: thirty years.
const LONGEST: f64 = 1e9;
/// More operations or bytes than any launch has.
const MAX_WORK: f64 = 1e24;

impl Record {
    /// Why this cannot be the record of a run, if it cannot.
    pub fn validation_error(&self) -> Option<String> {
        if let Some((name, value)) = self.key.size.iter().find(|(_, value)| *value < 0) {
            return Some(format!("the size `{name}` is {value}, which is less than nothing"));
        }
        let measured = self.measured.as_ref()?;
        if self.outcome == Outcome::Ok && measured.samples.is_empty() {
            return Some("it was measured, but there is no sample".into());
        }
        measured.validation_error()
    }
}

impl Measured {
    fn validation_error(&self) -> Option<String> {
        let never = |seconds: &&f64| !(0.0..=LONGEST).contains(*seconds);
        if let Some(seconds) = self.samples.iter().find(never) {
            return Some(format!("a sample of {seconds} s cannot have been measured"));
        }
        let counts = [("flops", self.flops), ("bytes", self.bytes)];
        let odd = |(_, count): &(&str, f64)| !(0.0..=MAX_WORK).contains(count);
        counts.into_iter().find(odd).map(|(name, count)| format!("{count} {name} are no work"))
    }
}

impl Header {
    /// Why this cannot be the header of a run, if it cannot.
    pub fn validation_error(&self) -> Option<String> {
        let time: Result<jiff::Timestamp, _> = self.started.parse();
        if time.is_err() {
            return Some(format!("it was started at {:?}, which is no time", self.started));
        }
        let odd = self.budget.filter(|seconds| !(0.0..=LONGEST).contains(seconds));
        odd.map(|seconds| format!("it was to take {seconds} s, which is no time"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::sample::{device, header, key, record};

    #[test]
    fn what_no_run_measures_is_reported() {
        let with = |change: fn(&mut Measured)| {
            let mut record = record(key("a", 1), 1.0);
            change(record.measured.as_mut().unwrap());
            record.validation_error()
        };
        assert_eq!(with(|_| ()), None);
        assert!(with(|m| m.samples[3] = -1.0).unwrap().contains("a sample of -1 s"));
        assert_eq!(with(|m| m.samples[3] = 0.0), None, "below the clock's resolution: flagged");
        assert!(with(|m| m.samples[3] = 1e308).is_some());
        assert!(with(|m| m.samples.clear()).unwrap().contains("no sample"));
        assert!(with(|m| m.flops = -5.0).unwrap().contains("-5 flops"));
        assert!(with(|m| m.bytes = 1e300).is_some());
        assert!(record(key("a", -5), 1.0).validation_error().unwrap().contains("`n` is -5"));
    }

    #[test]
    fn a_header_says_when_it_was_written() {
        let mut header = header(vec![device("sim")]);
        assert_eq!(header.validation_error(), None);
        header.started = "yesterday".into();
        assert!(header.validation_error().unwrap().contains("\"yesterday\""));
    }

    #[test]
    fn a_budget_is_a_time() {
        let header = |budget| Header { budget: Some(budget), ..header(vec![device("sim")]) };
        assert_eq!(header(60.0).validation_error(), None);
        assert!(header(-5.0).validation_error().unwrap().contains("-5 s"));
    }
}
