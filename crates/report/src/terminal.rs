//! Sections as text for a terminal, and where the time of a run went.

use crate::render;
use gpubench_core::gpu::Clock;
use gpubench_core::record::{Record, Wall};
use gpubench_core::units;
use gpubench_document::{Section, Unit, number};
use std::fmt::Write;

/// What was done since the run began or was resumed.
#[derive(Clone, Copy, Debug)]
pub struct Invocation<'a> {
    /// Seconds of wall time.
    pub seconds: f64,
    /// The records made in it.
    pub records: &'a [Record],
}

/// Sections below each other, in lines of at most `width` columns, or of any length.
pub fn text(sections: &[Section], width: Option<usize>) -> String {
    let text: String =
        sections.iter().map(|section| render::text::section(section, width)).collect();
    text.trim_start_matches('\n').to_owned()
}

/// Where the time went.
pub fn time(Invocation { seconds, records }: Invocation) -> String {
    let sum = |part: fn(&Wall) -> f64| records.iter().map(|r| part(&r.wall)).sum::<f64>();
    let mut parts = vec![
        ("build", sum(|w| w.build)),
        ("prepare", sum(|w| w.prepare)),
        ("first launches", sum(|w| w.launch)),
        ("verify", sum(|w| w.verify)),
        ("measure", sum(|w| w.measure)),
        ("reference kernel", sum(|w| w.reference_kernel)),
        ("discarded", sum(|w| w.discarded)),
        ("cool-down", sum(|w| w.cool_down)),
    ];
    let known = parts.iter().map(|(_, seconds)| seconds).sum::<f64>();
    let mut out = format!("\nTime: {}", units::seconds(seconds));
    // Machines that measure at the same time take more than the time that passes.
    let seconds = match known > 1.01 * seconds {
        true => {
            let _ = write!(out, ", in all machines {}", units::seconds(known));
            known
        }
        false => seconds,
    };
    parts.push(("other", seconds - known));
    let mut join = "=";
    for (name, part) in parts.into_iter().filter(|(_, part)| *part > 0.0) {
        let _ = write!(out, " {join} {name} {}", units::seconds(part));
        if matches!(name, "measure" | "reference kernel") {
            let _ = write!(out, " ({})", number(part / seconds, Unit::Fraction));
        }
        join = "+";
    }
    if let Some(share) = busy_share(records) {
        let share = number(share, Unit::Fraction);
        let _ = write!(out, "; while measuring, the device was busy {share}");
    }
    out + "\n"
}

/// The share of measuring in which the device was at work. A simulated device's work takes no
/// time here and says nothing.
fn busy_share(records: &[Record]) -> Option<f64> {
    let real = records
        .iter()
        .filter(|r| r.measured.as_ref().is_some_and(|measured| measured.clock != Clock::Simulated));
    let (busy, measure) = real.fold((0.0, 0.0), |(b, m), r| (b + r.wall.busy, m + r.wall.measure));
    (measure > 0.0).then(|| busy / measure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Sample;

    #[test]
    fn a_report_reads_well() {
        let sample = Sample::new();
        let (input, ranking) = (sample.input(), sample.ranking());
        let experiments = vec![render::sample::section()];
        let all = crate::sections(&input, experiments, &ranking, &sample.compared());
        let whole = text(&all, Some(80));
        assert!(whole.lines().all(|line| line.chars().count() <= 80), "{whole}");
        insta::assert_snapshot!(whole);
    }

    #[test]
    fn the_time_of_a_run_is_the_sum_of_its_parts() {
        let mut record =
            gpubench_core::record::sample::record(gpubench_core::record::sample::key("a", 1), 1e-3);
        record.wall.measure = 2.0;
        record.wall.busy = 1.0;
        let text = time(Invocation { seconds: 3.0, records: &[record] });
        assert!(text.contains("measure 2.00 s") && text.contains("other 500 ms"), "{text}");
        assert!(text.ends_with("the device was busy 50.0 %\n"), "{text}");
    }
}
