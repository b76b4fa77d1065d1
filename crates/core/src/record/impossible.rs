//! What no run can have measured: a record that says so was altered, and is not used.

use super::{Footer, Header, Measured, Noise, Outcome, Record, Sensed};
use crate::reason::Reason;
use crate::units::quoted;
use serde_json::Value;

/// Longer than any sample, in seconds: thirty years.
const LONGEST: f64 = 1e9;
/// Longer than anybody estimates a case to take, in seconds.
const AGES: f64 = 1e18;
/// Shorter than a tick of any clock, in seconds: nothing between this and zero is read from one.
const SHORTEST: f64 = 1e-12;
/// More operations or bytes than any launch has.
const MAX_WORK: f64 = 1e24;
/// Fewer than any launch has that has some, also where a count is a mean or an estimate.
const MIN_WORK: f64 = 1e-3;
/// Faster than any device's clock, in hertz.
const FASTEST_CLOCK: f64 = 1e12;
/// More operations or bytes a second than all computers have.
const MAX_RATE: f64 = 1e21;
/// More rounds than any run, or any baseline of many runs, has.
const MAX_ROUNDS: u32 = 1_000_000;
/// More launches than a sample of an experiment has.
const LARGEST_BATCH: f64 = 1e6;
/// Nearer to zero than any other figure of an experiment: what rounding leaves of two readings of a clock.
const MIN_FIGURE: f64 = 1e-24;
/// Figures of experiments that are no times, though they are fractions, by their names in the file.
const NO_TIMES: [&str; 6] = ["numbers", "bytes", "flops", "hertz", "watts", "bidirectional"];
/// Figures that may be below zero: readings of a clock that began with a recording, parameters, degrees.
const SIGNED: [&str; 4] = ["numbers", "started", "ended", "celsius"];

/// Whether a clock reads so many seconds of something that took any.
pub fn is_time(seconds: f64) -> bool {
    (SHORTEST..=LONGEST).contains(&seconds)
}

/// Whether a device's clock runs so fast; a driver that does not know it may say 0.
pub fn is_clock_rate(hertz: f64) -> bool {
    hertz == 0.0 || (1.0..=FASTEST_CLOCK).contains(&hertz)
}

/// Whether the timestamps of a device have such ticks.
pub fn is_tick(seconds: f64) -> bool {
    seconds == 0.0 || is_time(seconds)
}

/// Whether a launch can have so many operations or bytes.
pub fn is_work(amount: f64) -> bool {
    amount == 0.0 || (MIN_WORK..=MAX_WORK).contains(&amount)
}

/// Whether a run may have a round of this number.
pub fn is_round(round: u32) -> bool {
    round < MAX_ROUNDS
}

impl Record {
    /// Why this cannot be the record of a run, if it cannot.
    pub fn validation_error(&self) -> Option<String> {
        if let Some((name, value)) = self.key.size.iter().find(|(_, value)| *value < 0) {
            return Some(format!("the size `{name}` is {value}, which is less than nothing"));
        }
        if !is_round(self.round) {
            return Some(format!("there is no round {}", self.round));
        }
        let detail = self.detail.as_ref();
        if let Some(number) = detail.and_then(|detail| outlandish("", detail.value())) {
            return Some(format!("a figure of {} cannot have been measured", quoted(number)));
        }
        if let Some(reading) = self.monitor.readings().find(|reading| !possible(*reading, 1.0)) {
            return Some(format!("a reading of {} cannot have been taken", quoted(reading)));
        }
        let celsius = self.monitor.cool_down.and_then(|pause| pause.celsius);
        let cooled = Sensed { celsius, ..Sensed::default() };
        let sensed = [self.monitor.sensors, self.monitor.host, cooled];
        if let Some(reading) = sensed.iter().find_map(Sensed::impossible) {
            return Some(format!("a sensor's {} cannot have been read", quoted(reading)));
        }
        if let Some(seconds) = self.outcome.impossible() {
            return Some(format!("{} s are no time that a case needs or has", quoted(seconds)));
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
        let batch = f64::from(self.batch.max(1));
        if let Some(seconds) = self.samples.iter().find(|seconds| !possible(**seconds, batch)) {
            return Some(format!("a sample of {} s cannot have been measured", quoted(*seconds)));
        }
        let typed = self.types.iter().map(|(_, count)| ("flops", *count));
        let counts = [("flops", self.flops), ("bytes", self.bytes)].into_iter().chain(typed);
        // Rates are of the median, which may be shorter than a tick of the clock.
        let median = gpubench_stats::median_of(self.samples.iter().copied()).unwrap_or(0.0);
        let is_odd = |count: f64| !is_work(count) || median > 0.0 && count / median > MAX_RATE;
        let mut odd = counts.filter(|(_, count)| is_odd(*count));
        odd.next().map(|(name, count)| {
            format!("{} {name} in {} s are no work", quoted(count), quoted(median))
        })
    }
}

/// Whether a clock reads so many seconds of each of a batch; what takes less than a tick it reads as zero.
fn possible(seconds: f64, batch: f64) -> bool {
    seconds == 0.0 || (SHORTEST / batch..=LONGEST).contains(&seconds)
}

impl Outcome {
    /// A time in the reason that is none, if there is one. What a case needs is an estimate: ages, maybe.
    fn impossible(&self) -> Option<f64> {
        let (Self::Skipped(reason) | Self::Unsupported(reason)) = self else { return None };
        let times = match reason {
            Reason::OverBudget { needed, available, .. } => [*needed, *available],
            Reason::Slow { launch, fastest } => [*launch, *fastest],
            Reason::TooLarge { .. } | Reason::Other(_) => return None,
        };
        let is_time = |seconds: f64| seconds == 0.0 || (SHORTEST..=AGES).contains(&seconds);
        times.into_iter().find(|seconds| !is_time(*seconds))
    }
}

/// A number in `value`, which has this name, that no experiment leaves, if there is one. What is written as a fraction is a
/// time, as long as its name says nothing else.
fn outlandish(name: &str, value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => {
            let is_signed = SIGNED.contains(&name);
            let is_time = number.is_f64() && !NO_TIMES.contains(&name);
            let smallest =
                if is_time && !is_signed { SHORTEST / LARGEST_BATCH } else { MIN_FIGURE };
            let range = smallest..=if is_time { LONGEST } else { MAX_WORK };
            let is_possible = |number: f64| {
                number == 0.0 || range.contains(&number) || is_signed && range.contains(&-number)
            };
            number.as_f64().filter(|number| !is_possible(*number))
        }
        Value::Array(items) => items.iter().find_map(|item| outlandish(name, item)),
        Value::Object(items) => items.iter().find_map(|(name, value)| outlandish(name, value)),
        _ => None,
    }
}

impl Noise {
    /// Why no runs can have taught this, if they cannot.
    pub fn validation_error(&self) -> Option<String> {
        let farthest = LONGEST / SHORTEST;
        let floor = self.floors.iter().map(|(_, floor)| *floor);
        if let Some(floor) = floor.into_iter().find(|floor| !(0.0..=farthest).contains(floor)) {
            return Some(format!("a noise floor of {} is none", quoted(floor)));
        }
        let readings = self.history.iter().flat_map(|past| {
            past.cases.iter().map(|(_, seconds)| *seconds).chain(past.compute).chain(past.memory)
        });
        let mut odd = readings.filter(|seconds| !is_time(*seconds));
        odd.next().map(|seconds| format!("its history has {} s, which is no time", quoted(seconds)))
    }
}

impl Footer {
    /// Why a run cannot have ended so, if it cannot.
    pub fn validation_error(&self) -> Option<String> {
        let times = [Some(self.wall), self.estimated].into_iter().flatten();
        let odd = times.into_iter().find(|seconds| *seconds != 0.0 && !is_time(*seconds));
        odd.map(|seconds| format!("a run of {} s, which is no time", quoted(seconds)))
    }
}

impl Header {
    /// Why this cannot be the header of a run, if it cannot.
    pub fn validation_error(&self) -> Option<String> {
        if self.rounds > MAX_ROUNDS {
            return Some(format!("it was to have {} rounds", self.rounds));
        }
        let time: Result<jiff::Timestamp, _> = self.started.parse();
        if time.is_err() {
            return Some(format!("it was started at {:?}, which is no time", self.started));
        }
        if self.cool_down.is_some_and(|asked| !asked.is_possible()) {
            return Some("its cool-down is none that can be asked for".into());
        }
        let mut clocks = self.devices.iter().filter_map(|device| device.clock_hz);
        if let Some(hz) = clocks.find(|hz| !is_clock_rate(*hz)) {
            return Some(format!("a device's clock runs at {} Hz", quoted(hz)));
        }
        let mut ticks = self.devices.iter().filter_map(|device| device.timestamp_resolution);
        if let Some(seconds) = ticks.find(|seconds| !is_tick(*seconds)) {
            return Some(format!("a device's clock has ticks of {} s", quoted(seconds)));
        }
        let odd = self.budget.filter(|seconds| !(0.0..=LONGEST).contains(seconds));
        odd.map(|seconds| format!("it was to take {} s, which is no time", quoted(seconds)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::sample::{device, header, key, record};
    use crate::record::{Monitor, Past};

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
        for (seconds, text) in [(1e308, "1e308 s"), (1e-290, "1e-290 s"), (5e-324, "5e-324 s")] {
            let mut record = record(key("a", 1), seconds);
            assert!(record.validation_error().unwrap().contains(text));
            record.measured.as_mut().unwrap().batch = u32::MAX;
            assert!(record.validation_error().is_some(), "of however many launches");
        }
        let in_batches = |m: &mut Measured| (m.samples[3], m.batch) = (1e-13, 1000);
        assert_eq!(with(in_batches), None, "a tenth of a nanosecond in all");
        assert!(with(|m| m.samples.clear()).unwrap().contains("no sample"));
        assert!(with(|m| m.flops = -5.0).unwrap().contains("-5 flops"));
        assert!(with(|m| m.bytes = 1e300).is_some());
        assert!(with(|m| m.bytes = 1e-290).unwrap().contains("1e-290 bytes in 1 s are no work"));
        assert_eq!(with(|m| m.flops = 0.5), None, "half an operation, by somebody's estimate");
        assert!(with(|m| m.bytes = 1e24).is_some(), "more than anything moves in a second");
        let mixed = |m: &mut Measured| {
            m.bytes = 1e24;
            m.samples = vec![1e-12, 1e-12, 1e3];
        };
        assert!(with(mixed).is_some(), "rates are of the median");
        let mut guarded = record(key("a", 1), 1.0);
        guarded.monitor.reference_kernel = Some([3e-4, 1.8e19]);
        assert!(guarded.validation_error().unwrap().contains("a reading of 1.8e19"));
        guarded.monitor = Monitor { joules: Some(-1.0), ..Monitor::default() };
        assert!(guarded.validation_error().unwrap().contains("a reading of -1"));
        let host = Sensed { celsius: Some(-5.0), ..Sensed::default() };
        guarded.monitor = Monitor { host, ..Monitor::default() };
        assert_eq!(guarded.validation_error(), None, "cold, but it can be");
        guarded.monitor.host.hertz = Some(1e300);
        assert!(guarded.validation_error().unwrap().contains("a sensor's 1e300"));
        assert!(record(key("a", -5), 1.0).validation_error().unwrap().contains("`n` is -5"));
    }

    #[test]
    fn what_a_case_needs_and_has_is_a_time() {
        let because = |needed, available| {
            let why =
                Reason::OverBudget { what: "a launch".into(), needed, available, option: None };
            let record = Record { outcome: Outcome::Skipped(why), ..record(key("a", 1), 1.0) };
            record.validation_error()
        };
        assert_eq!(because(3e12, 0.0), None);
        assert!(because(1e300, 1.0).unwrap().contains("1e300 s are no time"));
        assert!(because(1.0, -5e-324).is_some());
    }

    #[test]
    fn figures_of_experiments_are_bounded_too() {
        let of = |json: &str| Record {
            detail: Some(serde_json::from_str(json).unwrap()),
            ..record(key("a", 1), 1.0)
        };
        let sane = r#"{"future":{"a":[0,2.5e-9,{"bytes":1e24}],"c":"1e-300","d":null,"ended":-1e-6,"n":1000000000000}}"#;
        assert_eq!(of(sane).validation_error(), None);
        for number in ["1e-290", "-5e-324", "1e308", "1e20", "-3", "-2.5e-9", "1e-19"] {
            let error = of(&format!(r#"{{"future":{{"a":[{{"b":{number}}}]}}}}"#));
            assert!(error.validation_error().unwrap().contains(number));
        }
    }

    #[test]
    fn no_run_has_more_rounds() {
        let of = |round| Record { round, ..record(key("a", 1), 1.0) }.validation_error();
        assert_eq!(of(999_999), None);
        assert!(of(1_000_000).unwrap().contains("no round 1000000"));
        let of = |rounds| Header { rounds, ..header(vec![device("sim")]) }.validation_error();
        assert_eq!(of(1_000_000), None);
        assert!(of(u32::MAX).unwrap().contains("4294967295 rounds"));
    }

    #[test]
    fn noise_is_of_times() {
        let of = |floor: f64, seconds: f64, memory: Option<f64>| {
            let (started, driver) = ("2026-01-01T00:00:00Z".to_owned(), "1.0".to_owned());
            let cases = vec![(key("a", 1), seconds)];
            let history = vec![Past { started, driver, compute: None, memory, cases }];
            Noise { runs: 2, floors: vec![(key("a", 1), floor)], history }.validation_error()
        };
        assert_eq!(of(0.03, 1e-3, Some(1e-3)), None);
        assert_eq!(of(0.0, 1e-12, None), None);
        for floor in [-0.01, 1e308, f64::NAN] {
            assert!(of(floor, 1e-3, None).unwrap().contains("a noise floor of"), "{floor}");
        }
        for seconds in [0.0, -1.0, 5e-324, 1e308] {
            assert!(of(0.0, seconds, None).unwrap().contains("which is no time"), "{seconds}");
            assert!(of(0.0, 1.0, Some(seconds)).is_some(), "{seconds}");
        }
    }

    #[test]
    fn a_header_says_when_it_was_written() {
        let mut header = header(vec![device("sim")]);
        assert_eq!(header.validation_error(), None);
        header.started = "yesterday".into();
        assert!(header.validation_error().unwrap().contains("\"yesterday\""));
    }

    #[test]
    fn a_run_ends_after_a_time() {
        let of = |wall, estimated| {
            Footer { ended: String::new(), wall, estimated, records: 0 }.validation_error()
        };
        assert_eq!([of(0.0, None), of(129.7, Some(3.0))], [None, None]);
        assert!(of(1e300, None).unwrap().contains("a run of 1e300 s, which is no time"));
        assert!(of(-7.0, None).is_some() && of(1.0, Some(1e-290)).is_some());
    }

    #[test]
    fn a_device_has_a_clock_that_there_can_be() {
        let at = |clock_hz| {
            let device = crate::gpu::DeviceInfo { clock_hz, ..device("sim") };
            header(vec![self::device("sim"), device]).validation_error()
        };
        assert_eq!([at(None), at(Some(0.0)), at(Some(7.45e8))], [None, None, None]);
        for (hz, text) in [(-5.0, "-5 Hz"), (5e-324, "5e-324 Hz"), (1e300, "1e300 Hz")] {
            assert!(at(Some(hz)).unwrap().contains(text), "{hz}");
        }
        let of = |timestamp_resolution| {
            let device = crate::gpu::DeviceInfo { timestamp_resolution, ..device("sim") };
            header(vec![device]).validation_error()
        };
        assert_eq!([of(None), of(Some(0.0)), of(Some(1e-9))], [None, None, None]);
        assert!(of(Some(-7.0)).unwrap().contains("ticks of -7 s") && of(Some(1e300)).is_some());
    }

    #[test]
    fn a_budget_is_a_time() {
        let header = |budget| Header { budget: Some(budget), ..header(vec![device("sim")]) };
        assert!(header(1e308).validation_error().unwrap().contains("take 1e308 s"));
        assert_eq!(header(60.0).validation_error(), None);
        assert!(header(-5.0).validation_error().unwrap().contains("-5 s"));
    }

    #[test]
    fn sizes_pauses_and_their_ends_are_possible_or_not() {
        assert_eq!(
            record(key("a", 0), 1.0).validation_error(),
            None,
            "nothing is no less than nothing"
        );
        let mut warm = record(key("a", 1), 1.0);
        let pause = |celsius| crate::record::CooledDown { seconds: 1.0, celsius: Some(celsius) };
        warm.monitor.cool_down = Some(pause(50.0));
        assert_eq!(warm.validation_error(), None);
        warm.monitor.cool_down = Some(pause(1e6));
        assert!(warm.validation_error().unwrap().contains("a sensor's 1000000"));
        let asked =
            |text: &str| Header { cool_down: text.parse().ok(), ..header(vec![device("sim")]) };
        assert_eq!(asked("30").validation_error(), None);
        let odd = Some(crate::record::CoolDown::Seconds(1e9));
        let odd = Header { cool_down: odd, ..asked("30") };
        assert!(odd.validation_error().unwrap().contains("cool-down"));
    }
}
