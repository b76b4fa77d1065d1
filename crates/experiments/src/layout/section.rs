//! What reports say of buffers whose layout is transformed before their use: what each way takes, and
//! from how many uses on the transform pays.

use super::analysis::{
    Agreement, BreakEven, LayoutTransformSummary, MAX_USES, UsesSummary, layout_transform,
};
use super::data::LayoutTransform;
use crate::results::{DetailedCase, detailed_cases};
use gpubench_analysis::ReportInput;
use gpubench_document::{Cell, Column, Section, Sentence, Table, Unit};

/// A table of all cases, then one section a case.
pub(super) fn section(input: &ReportInput) -> Section {
    let all = detailed_cases(input).filter_map(|case: DetailedCase<LayoutTransform>| {
        Some((case.section(), layout_transform(&case.data)?))
    });
    let cases: Vec<(Section, LayoutTransformSummary)> = all.collect();
    let section = Section::new("layout", "Layout transform").text(
        "A kernel that reads in strides, beside one that transforms its buffer's layout and one \
         that uses the transformed buffer, in turn. The transform pays from so many uses on as make up for \
         its own time: predicted from the three times alone (model 11), and measured where sequences \
         of uses in a row, the transform first, begin to take less than those in strides. Both are \
         estimated in every turn; intervals are of 95 %.",
    );
    let section = agreements(section, &cases).table(table(&cases));
    let uses = |(case, summary): (Section, LayoutTransformSummary)| {
        case.folded().table(uses(&summary.uses))
    };
    cases.into_iter().map(uses).fold(section, Section::section)
}

/// How many of the cases were predicted. Undecided ones are not.
fn agreements(section: Section, cases: &[(Section, LayoutTransformSummary)]) -> Section {
    let all: Vec<Agreement> = cases.iter().filter_map(|(_, of)| of.agreement()).collect();
    let number = |which: &[Agreement]| all.iter().filter(|of| which.contains(of)).count() as u64;
    let never = number(&[Agreement::PaysInNeither]);
    let count = all.len() as u64 - never;
    if all.is_empty() {
        return section;
    }
    let of = |which: &[Agreement]| {
        let of = Sentence::new().value(number(which) as f64, Unit::Count).text(" of ");
        of.counted(count, "case")
    };
    let intervals = [Agreement::WithinOne, Agreement::WithinIntervals];
    let counted = |number: u64| (number > 0).then_some(number);
    section
        .fact("within_one", "predicted within one use", of(&[Agreement::WithinOne]))
        .fact("within_intervals", "within one use or the intervals", of(&intervals))
        .fact("undecided", "undecided among them", counted(number(&[Agreement::Undecided])))
        .fact(
            "never",
            Sentence::from("others: does not pay in ")
                .counted(MAX_USES as u64, "use")
                .text(", as predicted"),
            counted(never),
        )
}

fn table(cases: &[(Section, LayoutTransformSummary)]) -> Table {
    let title = "One use, the transform, and from how many uses on it pays";
    Table::of("cases", title, cases)
        .column(Column::text("case", "case"), |(case, _)| case.title.clone())
        .column(Column::new("strided", "in strides", Unit::Seconds), |(_, of)| of.strided)
        .column(Column::new("contiguous", "transformed", Unit::Seconds), |(_, of)| of.contiguous)
        .column(Column::new("saved", "saved", Unit::Fraction), |(_, of)| of.saved_fraction)
        .column(Column::new("transform", "transform", Unit::Seconds), |(_, of)| of.transform)
        .column(Column::new("predicted", "predicted", Unit::Count), |(_, of)| {
            uses_or_never(of.predicted.uses)
        })
        .column(Column::text("predicted_interval", "interval"), |(_, of)| interval(of.predicted))
        .column(Column::text("measured", "measured"), |(_, of)| measured(of))
        .column(Column::text("measured_interval", "interval"), |(_, of)| of.measured.map(interval))
        .column(Column::text("agrees", "agrees"), |(_, of)| of.agreement().map(agrees))
        .table()
}

fn uses_or_never(uses: f64) -> Cell {
    BreakEven::count(uses).map_or("never".into(), Cell::Count)
}

/// Both ends of an interval, in whole uses.
fn interval(of: BreakEven) -> Sentence {
    let end = |sentence: Sentence, uses: f64| match BreakEven::count(uses) {
        Some(uses) => sentence.value(uses as f64, Unit::Count),
        None => sentence.text("never"),
    };
    let [low, high] = of.interval;
    end(end(Sentence::new(), low).text(" to "), high)
}

/// From how many uses on it paid; nothing where none were run.
fn measured(summary: &LayoutTransformSummary) -> Cell {
    let (Some(measured), Some([_, max_uses])) = (summary.measured, summary.range()) else {
        return Cell::Missing;
    };
    match BreakEven::count(measured.uses) {
        Some(uses) if uses <= max_uses.into() => Cell::Count(uses),
        _ => Sentence::from("not in ").counted(max_uses.into(), "use").into(),
    }
}

fn agrees(agreement: Agreement) -> &'static str {
    match agreement {
        Agreement::WithinOne => "within one use",
        Agreement::WithinIntervals => "within intervals",
        Agreement::Apart => "no",
        Agreement::PaysInNeither => "pays in neither",
        Agreement::Undecided => "undecided",
    }
}

fn uses(uses: &[UsesSummary]) -> Table {
    Table::of("uses", "Uses in a row, timed in turn with those of one attempt", uses)
        .column(Column::new("attempt", "attempt", Unit::Count), |one| u64::from(one.attempt + 1))
        .column(Column::new("uses", "uses", Unit::Count), |one| u64::from(one.count))
        .column(Column::new("strided", "in strides", Unit::Seconds), |one| one.strided)
        .column(Column::new("transformed", "transformed first", Unit::Seconds), |one| {
            one.transformed
        })
        .column(Column::text("pays", "pays"), |one| one.paid())
        .table()
}

#[cfg(test)]
mod tests {
    use super::super::analysis::tests::raw;
    use super::*;
    use crate::results::testing::section_of;

    fn section_with(contiguous: f64, uses: &[(u32, f64, f64)]) -> Option<Section> {
        section_of::<crate::layout::Layout>(&raw(contiguous, uses))
    }

    #[test]
    fn every_way_and_every_number_of_uses_are_reported() {
        let section = section_with(0.4, &[(2, 1.0, 1.2), (4, 2.0, 2.0), (6, 3.0, 2.8)]).unwrap();
        assert_eq!(section.find_table("uses").unwrap().rows().len(), 3);
        insta::assert_snapshot!(gpubench_report::render::text::section(&section, Some(100)));
    }

    #[test]
    fn a_transform_that_never_pays_is_said_so() {
        let cells = |section: Section| section.find_table("cases").unwrap().rows()[0][5..].to_vec();
        let never = section_with(0.5, &[(64, 32.0, 32.4), (128, 64.0, 64.4)]).unwrap();
        let text = gpubench_report::render::text::section(&never, Some(100));
        assert!(text.contains("does not pay in 128 uses, as predicted: 1"), "{text}");
        let in_128 = Sentence::from("not in ").counted(128, "use");
        let open = || Cell::from(Sentence::from("never").text(" to ").text("never"));
        let wanted = ["never".into(), open(), in_128.into(), open(), "pays in neither".into()];
        assert_eq!(cells(never), wanted);
        let unmeasured = cells(section_with(0.4, &[]).unwrap());
        assert_eq!(unmeasured.len(), 2, "no column of dashes: {unmeasured:?}");
        assert_eq!(section_with(f64::NAN, &[]), None);
    }
}
