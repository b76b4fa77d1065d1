//! What devices can do, in one look: what drivers report, ceilings, levels of memory and costs, a column a device.

mod ceilings;
mod costs;
mod curves;
mod levels;
mod reported;

use gpubench_analysis::{Aggregate, ReportInput, ReportedDevice, Roof, is_same};
use gpubench_core::record::profile::Profile;
use gpubench_document::{Cell, Column, Section, Table};

/// What is known of a device.
pub(crate) struct PortraitDevice<'m, 'a> {
    reported: &'m ReportedDevice<'a>,
    /// Its cases, those that did not run among them: a ceiling without a figure says why.
    cases: Vec<&'m Aggregate<'a>>,
    roof: Roof,
    profile: Option<&'m Profile>,
}

/// The devices of `input` of which `shows` holds, side by side; each with its profile, where its runs hold
/// one.
pub fn section(
    input: &ReportInput,
    profiles: &[Profile],
    shows: impl Fn(&ReportedDevice) -> bool,
) -> Section {
    let devices: Vec<PortraitDevice> = (0..input.reported_devices.len())
        .filter(|device| shows(&input.reported_devices[*device]))
        .map(|device| {
            let reported = &input.reported_devices[device];
            let cases = input.rows.iter().filter(|row| row.device == device);
            let cases: Vec<&Aggregate> = cases.collect();
            let roof = Roof::at_values(cases.iter().copied());
            let same = |profile: &&Profile| is_same(&profile.device, reported.device);
            let profile = profiles.iter().rev().find(same);
            PortraitDevice { reported, cases, roof, profile }
        })
        .collect();
    let section = Section::new("portrait", "What the devices can do")
        .text(
            "A ceiling is the best verified variant of a kernel that does nothing else; a level is a \
             cache, which ends where loads get slower, or a size at which bandwidth falls. A word says why there is no figure; what was not run has a dash: `gpubench run \
             ceilings` and `gpubench run characterise` measure all of it.",
        )
        .table(reported::table(&devices))
        .table(ceilings::table(&devices))
        .table(ceilings::variants(&devices))
        .table(levels::table(&devices))
        .table(costs::table(&devices));
    curves::plots(&devices).into_iter().fold(section, Section::plot)
}

/// A table with a column a device.
fn by_device(
    key: &str,
    title: &'static str,
    first: &'static str,
    devices: &[PortraitDevice],
) -> Table {
    let devices = devices.iter().map(|device| {
        let label = device.reported.label.as_str();
        Column::text(label, label.to_owned())
    });
    let columns: Vec<Column> =
        std::iter::once(Column::text("what", first)).chain(devices).collect();
    Table::new(key, title, columns)
}

/// A row of it, left out where no device has anything to say.
fn row(table: &mut Table, what: impl Into<Cell>, cells: Vec<Cell>) {
    if cells.iter().any(|cell| *cell != Cell::Missing) {
        table.row(std::iter::once(what.into()).chain(cells));
    }
}

#[cfg(test)]
mod tests;
