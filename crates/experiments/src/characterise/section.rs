//! What reports say of words: the latency of a load, and of a store that a load waits for, by the word's size.
//! What else characterises a device is in its profile.

use super::data::Characterised;
use super::profile::probe::Probe;
use crate::results::{device_section, measured, rounds};
use gpubench_analysis::ReportInput;
use gpubench_core::record::profile::Value;
use gpubench_document::{Column, Quantity, Section, Table, Unit};

/// One table a device that has words.
pub(super) fn section(input: &ReportInput) -> Section {
    let devices = 0..input.reported_devices.len();
    let tables = devices.filter_map(|device| {
        let words = words(input, device);
        (!words.is_empty()).then(|| device_section(input, device).table(table(&words)))
    });
    let section = Section::new("words", "Latency by word size").text(
        "One work-item, one access after the other: a load whose place depends on the word loaded before (read), \
         and a store with a load of the same word behind it (write), which a cache or a queue of stores may \
         answer. Each is the difference between 16 and 48 steps a pass, with a few whole-number instructions.",
    );
    tables.fold(section, Section::section)
}

/// The latency of a word.
struct Word {
    bytes: f64,
    /// Bytes that the words lie in.
    within: f64,
    writes: bool,
    latency: Value,
}

/// Every word that was measured: reads before writes, each by the memory that it lies in and its size.
fn words(input: &ReportInput, device: usize) -> Vec<Word> {
    let word = |rounds: Vec<Characterised>| {
        let probe = Probe { rounds };
        let (bytes, writes) = (probe.number("BYTES")?, probe.number("WRITE")? != 0.0);
        let steps = 16.0 * probe.number("passes")? * probe.repeated()?;
        let within = bytes * probe.number("words")?;
        Some(Word { bytes, within, writes, latency: probe.cost(|_| true, 1)?.times(1.0 / steps) })
    };
    let rows = measured(input, device);
    let mut all: Vec<Word> = rows.filter_map(|row| word(rounds(row).collect())).collect();
    let place = |word: &Word| (word.writes, word.within.to_bits(), word.bytes.to_bits());
    all.sort_by_key(place);
    all
}

fn table(words: &[Word]) -> Table {
    Table::of("words", "Latency by word size and direction", words)
        .column(Column::text("direction", "direction"), |of| match of.writes {
            true => "write",
            false => "read",
        })
        .column(Column::new("within", "within", Unit::Bytes), |of| of.within)
        .column(Column::new("bytes", "word", Unit::Bytes), |of| of.bytes)
        .column(Column::new("latency", "latency", Unit::Seconds), |of| {
            Quantity::between(of.latency.value, of.latency.interval)
        })
        .table()
}

#[cfg(test)]
mod tests {
    use crate::characterise::Characterise;
    use crate::characterise::data::{Characterised, VariantTimes};
    use crate::results::testing::{record_of, section_of_records};
    use gpubench_core::gpu::Clock;
    use gpubench_core::record::{Record, sample};

    /// A word whose step takes so many nanoseconds, in launches of 10 µs besides.
    fn record(name: &str, numbers: &[(&str, f64)], step: f64) -> Record {
        let variant = |repeat: f64| {
            let seconds = 1e-5 + 16.0 * 256.0 * repeat * step * 1e-9;
            let samples = (0..9).map(|i| seconds * (1.0 + 1e-4 * f64::from(i - 4))).collect();
            let all = numbers.iter().chain(&[("passes", 256.0)]).copied();
            let numbers = all.chain([("REPEAT", repeat)]).map(|(name, n)| (name.to_owned(), n));
            VariantTimes { numbers: numbers.collect(), group_size: 1, points: vec![(1, samples)] }
        };
        let variants = vec![variant(1.0), variant(3.0)];
        let data = Characterised { clock: Clock::Device, resolution: 1e-9, variants };
        record_of::<Characterise>(sample::key(name, 1 << 26), &data)
    }

    #[test]
    fn words_are_shown_by_direction_and_size() {
        let of = |name: &str, bytes: f64, write: f64, step: f64| {
            record(name, &[("BYTES", bytes), ("WRITE", write), ("words", 1024.0)], step)
        };
        let records = [
            of("word/write_4", 4.0, 1.0, 50.0),
            of("word/read_16", 16.0, 0.0, 120.0),
            of("word/read_4", 4.0, 0.0, 100.0),
            record("chase", &[("words", 1024.0)], 7.0),
        ];
        let section = section_of_records::<Characterise>(&records).unwrap();
        let text = gpubench_report::render::text::section(&section, Some(80));
        let lines: Vec<&str> = text.lines().filter(|line| line.contains(" ns")).collect();
        let order = [("read", "4", "100"), ("read", "16", "120"), ("write", "4", "50.0")];
        assert_eq!(lines.len(), order.len(), "{text}");
        for (line, (direction, bytes, latency)) in lines.iter().zip(order) {
            let found = line.contains(direction) && line.contains(bytes) && line.contains(latency);
            assert!(found, "{line}");
        }
        assert!(
            section_of_records::<Characterise>(&records[3..]).is_none(),
            "a chase has a profile"
        );
    }
}
