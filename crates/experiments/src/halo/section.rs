//! What reports say of domains in parts that exchange halos: both designs beside each other.

use super::analysis::{Better, HaloSummary, halo};
use super::data::Halo;
use crate::results::{DetailedCase, detailed_cases};
use gpubench_analysis::ReportInput;
use gpubench_document::{Column, Section, Sentence, Table, Unit};

/// One section a case.
pub(super) fn section(input: &ReportInput) -> Section {
    let section = Section::new("halo", "Halo exchange").text(
        "A domain is cut into parts, and after every pass each part gets what its neighbours have at \
         their borders: packed by a kernel and copied face by face, or with whole fields copied to \
         the host and exchanged there.",
    );
    detailed_cases(input).filter_map(|case| one(&case)).fold(section, Section::section)
}

fn one(case: &DetailedCase<Halo>) -> Option<Section> {
    let summary = halo(&case.data)?;
    let section = case
        .section()
        .fact("cut", "cut", cut(&case.data))
        .figure("undivided", "a step undivided", summary.undivided, Unit::Seconds)
        .figure("parts", "a step in parts without exchange", summary.parts, Unit::Seconds)
        .figure("host", "of a step in bulk, the host exchanging faces", summary.host, Unit::Seconds)
        .fact("better", "better", better(&summary));
    Some(section.table(table(&case.data, &summary)))
}

/// `64×64×64 cells in 1×1×2 parts, through pinned memory`.
fn cut(raw: &Halo) -> Sentence {
    let product = |counts: [u64; 3]| {
        let counts = counts.map(|count| Sentence::new().value(count as f64, Unit::Count));
        Sentence::new().list("×", counts)
    };
    let cells = product(raw.cells).text(" cells in ").then(product(raw.cuts));
    cells.text(" parts, through ").text(raw.host_memory.label()).text(" memory")
}

/// Packed on the device, and in bulk.
const DESIGNS: [&str; 2] = ["packed on the device", "in bulk on the host"];

fn better(summary: &HaloSummary) -> Sentence {
    let [packed, bulk] = DESIGNS;
    let (better, other) = match summary.better {
        Better::Packed => (packed, bulk),
        Better::Bulk => (bulk, packed),
        Better::Neither => return "neither: their times cannot be distinguished".into(),
    };
    let ratio = Sentence::from(better).text(", ").value(summary.ratio(), Unit::Ratio);
    ratio.text(" as fast as ").text(other)
}

fn table(raw: &Halo, summary: &HaloSummary) -> Table {
    let title = "A step by each design; bytes and copies to the host, and as many back";
    let (times, shares) = ([summary.packed, summary.bulk], summary.shares());
    let table = Table::of("designs", title, 0..DESIGNS.len())
        .column(Column::text("design", "halos"), |i| DESIGNS[*i])
        .column(Column::new("seconds", "median", Unit::Seconds), |i| times[*i])
        .column(Column::new("exchange", "exchange", Unit::Fraction), |i| shares[*i])
        .column(Column::new("bytes", "bytes", Unit::Bytes), |i| raw.bytes[*i] as f64)
        .column(Column::new("copies", "copies", Unit::Count), |i| raw.copies[*i])
        .column(Column::text("as_undivided", "as undivided"), |i| match raw.identical[*i] {
            true => "to the bit",
            false => "within tolerance",
        })
        .table();
    let best = (0..DESIGNS.len()).filter(|i| times[*i] <= times[1 - i]);
    best.fold(table, |table, i| table.with_best(i, "seconds"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::testing::section_of;
    use gpubench_core::gpu::{Clock, MemoryKind};
    use gpubench_core::record::Timed;
    use gpubench_report::render::text;

    /// A step that takes 1 ms undivided, 1.1 ms in parts, and as said with its exchange.
    fn raw(packed: f64, bulk: f64) -> Halo {
        let timed = |seconds: f64| Timed { walls: vec![seconds; 9], steps: vec![] };
        Halo {
            clock: Clock::Device,
            host_memory: MemoryKind::Pinned,
            cells: [64; 3],
            cuts: [1, 1, 2],
            undivided: timed(1e-3),
            parts: timed(1.1e-3),
            packed: timed(packed),
            bulk: timed(bulk),
            host: vec![2e-4; 9],
            bytes: [98_304, 10 << 20],
            copies: [4, 4],
            identical: [true, false],
        }
    }

    #[test]
    fn both_designs_and_the_better_one_are_reported() {
        let section = |raw| section_of::<crate::halo::Halo>(&raw).unwrap();
        let packed = section(raw(1.25e-3, 2.5e-3));
        assert_eq!(packed.find_table("designs").unwrap().bests(), [(0, 1)]);
        insta::assert_snapshot!(text::section(&packed, Some(80)));
        let bulk = text::section(&section(raw(2.5e-3, 1.25e-3)), None);
        assert!(bulk.contains("better: in bulk on the host, 2.00 × as fast as packed"), "{bulk}");
        let equal = text::section(&section(raw(1.25e-3, 1.25e-3)), None);
        assert!(equal.contains("better: neither: their times cannot be distinguished"), "{equal}");
    }
}
