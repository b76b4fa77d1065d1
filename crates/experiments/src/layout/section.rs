//! What reports say of buffers whose layout is transformed before their use: what each way takes, and
//! from how many uses on the transform pays.

use super::analysis::{LayoutTransformSummary, UsesSummary, layout_transform};
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
    let section = Section::new("layout", "Layout transform")
        .text(
            "A kernel that reads in strides, beside one that transforms its buffer's layout and one \
             that uses the transformed buffer. The transform pays after as many uses as make up for \
             its own time: predicted from the three times alone (model 11), and measured with that \
             number of uses in a row.",
        )
        .table(table(&cases));
    let uses = |(case, summary): (Section, LayoutTransformSummary)| {
        case.folded().table(uses(&summary.uses))
    };
    cases.into_iter().map(uses).fold(section, Section::section)
}

fn table(cases: &[(Section, LayoutTransformSummary)]) -> Table {
    let title = "One use, the transform, and after how many uses it pays";
    Table::of(
        "cases",
        title,
        cases,
        [
            (Column::text("case", "case"), |(case, _)| case.title.clone().into()),
            (Column::new("strided", "in strides", Unit::Seconds), |(_, of)| of.strided.into()),
            (Column::new("contiguous", "transformed", Unit::Seconds), |(_, of)| {
                of.contiguous.into()
            }),
            (Column::new("saved", "saved", Unit::Fraction), |(_, of)| of.saved_fraction.into()),
            (Column::new("transform", "transform", Unit::Seconds), |(_, of)| of.transform.into()),
            (Column::new("predicted", "predicted", Unit::Count), |(_, of)| {
                of.predicted.map_or("never".into(), Cell::Count)
            }),
            (Column::text("measured", "measured"), |(_, of)| measured(of)),
        ],
    )
}

/// After how many uses it paid; nothing where none were run.
fn measured(summary: &LayoutTransformSummary) -> Cell {
    let never = |all: &UsesSummary| Sentence::from("not in ").counted(all.count.into(), "use");
    match summary.measured {
        Some(uses) => Cell::Count(uses.into()),
        None => summary.uses.last().map(never).into(),
    }
}

fn uses(uses: &[UsesSummary]) -> Table {
    Table::of(
        "uses",
        "Uses in a row",
        uses,
        [
            (Column::new("uses", "uses", Unit::Count), |one| u64::from(one.count).into()),
            (Column::new("strided", "in strides", Unit::Seconds), |one| one.strided.into()),
            (Column::new("transformed", "transformed first", Unit::Seconds), |one| {
                one.transformed.into()
            }),
            (Column::text("pays", "pays"), |one| one.paid().into()),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::data::Uses;
    use crate::results::testing::section_of;
    use gpubench_core::gpu::Clock;

    fn section_with(contiguous: f64, uses: &[(u32, f64, f64)]) -> Option<Section> {
        let uses = uses.iter().map(|&(count, strided, transformed)| Uses {
            count,
            strided: vec![strided; 3],
            transformed: vec![transformed; 3],
        });
        section_of::<crate::layout::Layout>(&LayoutTransform {
            clock: Clock::Device,
            strided: vec![0.5],
            transform: vec![0.35],
            contiguous: vec![contiguous],
            uses: uses.collect(),
        })
    }

    #[test]
    fn every_way_and_every_number_of_uses_are_reported() {
        let section = section_with(0.4, &[(1, 0.5, 0.75), (3, 1.5, 1.6), (4, 2.0, 1.95)]).unwrap();
        assert_eq!(section.find_table("uses").unwrap().rows().len(), 3);
        insta::assert_snapshot!(gpubench_report::render::text::section(&section, Some(80)));
    }

    #[test]
    fn a_transform_that_never_pays_is_said_so() {
        let cells = |section: Section| section.find_table("cases").unwrap().rows()[0][5..].to_vec();
        let never = section_with(0.5, &[(1, 0.5, 0.9), (64, 32.0, 32.4)]).unwrap();
        let in_64 = Sentence::from("not in ").counted(64, "use");
        assert_eq!(cells(never), ["never".into(), in_64.into()]);
        assert_eq!(cells(section_with(0.4, &[]).unwrap()), [Cell::Count(4)], "no column of dashes");
        assert_eq!(section_with(f64::NAN, &[]), None);
    }
}
