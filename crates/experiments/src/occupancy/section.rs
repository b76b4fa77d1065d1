//! What reports say of occupancy sweeps: all of a device together, since together they show its units.

use super::analysis::{OccupancySweepSummary, Shape, occupancy_sweep};
use super::data::OccupancySweep;
use crate::residency::Residency;
use crate::results::{device_section, measured, residency_of, rounds};
use gpubench_analysis::{Aggregate, ReportInput};
use gpubench_core::gpu::{Clock, DeviceInfo};
use gpubench_document::{
    Axis, Cell, Column, Plot, Scale, Section, Sentence, Series, Style, Table, Unit,
};

/// One occupancy sweep: of several rounds, the first that confirms its steps, or else the first.
struct Case<'a> {
    row: &'a Aggregate<'a>,
    raw: OccupancySweep,
    summary: OccupancySweepSummary,
}

/// One section a device.
pub(super) fn section(input: &ReportInput) -> Section {
    let section = Section::new("occupancy", "Occupancy sweeps").text(
        "Groups that only wait take one time as long as all of them run at once, and twice that from \
         the first one on that has to wait. A step as wide as the device shows how many groups it \
         holds; widths of groups of several sizes together give its units.",
    );
    let devices = 0..input.reported_devices.len();
    devices.fold(section, |section, device| section.section(of(input, device)))
}

fn of(input: &ReportInput, device: usize) -> Section {
    let cases: Vec<Case> = measured(input, device).filter_map(case).collect();
    let section = device_section(input, device);
    if cases.is_empty() {
        return section;
    }
    let residency = residency_of(input, device);
    let section = match residency {
        Some(residency) => shown(section, residency, input.reported_devices[device].device),
        None => section.note("no sweep is confirmed: units and what they hold are unknown"),
    };
    let section = match cases.iter().any(|case| case.raw.clock == Clock::Host) {
        true => section.note("times are the host's, launches included"),
        false => section,
    };
    section.plot(plot(&cases)).table(table(&cases, residency))
}

fn case<'a>(row: &'a Aggregate<'a>) -> Option<Case<'a>> {
    let all =
        rounds(row).filter_map(|raw| Some(Case { row, summary: occupancy_sweep(&raw)?, raw }));
    // Of equals the last is taken: seen from behind, the first.
    all.rev().max_by_key(|case| case.summary.at_once().is_some())
}

/// What the sweeps show of the device together.
fn shown(section: Section, residency: Residency, device: &DeviceInfo) -> Section {
    let units = Sentence::new().value(residency.units.into(), Unit::Count).text(" (from ");
    let units = units.counted(residency.cases as u64, "sweep").text("; the driver ");
    let units = match device.compute_units {
        Some(_) if residency.of_driver => units.text("says so)"),
        Some(reported) => units.text("reports ").value(reported.into(), Unit::Count).text(")"),
        None => units.text("does not say)"),
    };
    let holds = Sentence::new().counted(residency.groups.into(), "group").text(", ");
    let holds = holds.counted(residency.work_items.into(), "work-item");
    let holds = match residency.local_memory {
        0 => holds,
        bytes => holds.text(", ").value(bytes as f64, Unit::Bytes).text(" of local memory"),
    };
    section.fact("units", "units inferred", units).fact("holds", "a unit was seen to hold", holds)
}

fn plot(cases: &[Case]) -> Plot {
    let x = Axis::new("work-groups", Unit::Count, Scale::Log10);
    let y = Axis::new("time of a launch over that of a full wave", Unit::Ratio, Scale::Linear);
    let title = "Fastest time of a launch against its number of work-groups";
    let plot = Plot::new("against_groups", title, x, y).tabled_in("sweeps");
    cases.iter().fold(plot, |plot, case| {
        let points = case.raw.points.iter().map(|(groups, samples)| {
            let fastest = samples.iter().copied().fold(f64::INFINITY, f64::min);
            (f64::from(*groups), fastest / case.summary.wave)
        });
        let name = case.row.key.workload.clone();
        plot.series(Series::new(name, Style::Joined).points(points))
    })
}

fn table(cases: &[Case], residency: Option<Residency>) -> Table {
    let of_unit = |case: &Case| {
        let (groups, residency) = case.summary.at_once().zip(residency)?;
        Some(u64::from(groups / residency.units))
    };
    Table::of("sweeps", "What every sweep shows", cases)
        .column(Column::text("workload", "workload"), |case| case.row.key.workload.clone())
        .column(Column::new("work_items", "work-items", Unit::Count), |case| {
            u64::from(case.summary.group_size)
        })
        .column(Column::new("local", "local memory", Unit::Bytes), |case| {
            case.summary.local_bytes as f64
        })
        .column(Column::new("a_unit", "a unit", Unit::Count), |case| of_unit(case))
        .column(Column::new("wave", "a wave", Unit::Seconds), |case| case.summary.wave)
        .column(Column::text("at_once", "groups at once"), |case| at_once(case.summary.shape))
        .table()
}

fn at_once(shape: Shape) -> Cell {
    let groups = |groups: u32| Sentence::new().value(groups.into(), Unit::Count);
    match shape {
        Shape::Steps { at_once, confirmed: true } => u64::from(at_once).into(),
        Shape::Steps { at_once, confirmed: false } => {
            groups(at_once).text("? later steps do not confirm it").into()
        }
        Shape::Flat { max_tried } => {
            Sentence::from("more than ").then(groups(max_tried)).text(": no step seen").into()
        }
        Shape::Gradual { half } => {
            Sentence::from("no step: time has risen by half at ").then(groups(half)).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::testing::{record_of, section_of_records};
    use gpubench_core::record::{Record, sample};

    /// A kernel whose launches take `time`, in waves of 100 µs.
    fn sweep(group_size: u32, groups: &[u32], time: impl Fn(u32) -> f64) -> Record {
        let points = groups.iter().map(|&groups| (groups, vec![1e-4 * time(groups); 2]));
        let (clock, local_bytes) = (Clock::Device, 1024);
        let raw = OccupancySweep { clock, group_size, local_bytes, points: points.collect() };
        record_of::<super::super::Occupancy>(sample::key("spin", group_size.into()), &raw)
    }

    /// A device that holds `at_once` groups of this size.
    fn steps(group_size: u32, at_once: u32) -> Record {
        let [second, third] = [2 * at_once, 3 * at_once];
        let groups = [1, at_once / 2, at_once, at_once + 1, second, second + 1, third];
        sweep(group_size, &groups, |groups| f64::from(groups.div_ceil(at_once)))
    }

    fn section_of(records: &[Record]) -> Section {
        section_of_records::<super::super::Occupancy>(records).unwrap()
    }

    fn text(section: &Section) -> String {
        gpubench_report::render::text::section(section, Some(80))
    }

    #[test]
    fn sweeps_of_a_device_read_well() {
        let flat = sweep(32, &[1, 2, 4], |_| 1.0);
        let gradual = sweep(128, &[1, 20, 40, 60, 61], |groups| 1f64.max(f64::from(groups) / 40.0));
        let section = section_of(&[steps(64, 48), steps(256, 24), flat, gradual]);
        insta::assert_snapshot!(text(&section));
    }

    #[test]
    fn of_several_rounds_the_first_that_confirms_its_steps_counts() {
        let again = |round, record: Record| Record { round, ..record };
        let unclear = || sweep(64, &[1, 48, 49], |groups| f64::from(groups.div_ceil(48)));
        let shape = |section: &Section| {
            let table = section.find_table("sweeps").unwrap();
            let place = table.columns().iter().position(|column| column.key() == "at_once");
            table.rows()[0][place.unwrap()].clone()
        };
        let lone = section_of(&[unclear()]);
        assert_eq!(shape(&lone), at_once(Shape::Steps { at_once: 48, confirmed: false }));
        assert!(text(&lone).contains("no sweep is confirmed"));
        let section = section_of(&[unclear(), again(1, steps(64, 48)), again(2, steps(64, 32))]);
        assert_eq!(shape(&section), Cell::Count(48));
        let units = "units inferred: 4 (from 1 sweep; the driver says so)";
        assert!(text(&section).contains(units));
    }
}
