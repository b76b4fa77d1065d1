//! What people read: one file a format.

mod caches;
pub mod comparison;
pub mod csv;
pub mod data;
pub mod devices;
pub mod environment;
pub mod export_rows;
pub mod fit;
pub mod flags;
pub mod formats;
pub mod gate;
pub mod junit;
pub mod labels;
pub mod markdown;
pub mod page;
pub mod portrait;
pub mod predict;
mod predicted_ranking;
pub mod profile;
pub mod progress;
pub mod ranking;
mod ranking_verdict;
pub mod render;
pub mod results;
pub mod roofline;
pub mod selection;
pub mod terminal;
#[cfg(test)]
mod testing;
pub mod trace;

use comparison::Compared;
use gpubench_analysis::ReportInput;
use gpubench_analysis::rank::Ranking;
use gpubench_document::Section;

/// All sections of a report: the devices and how they compare, what was measured on them and what
/// to know of it, what `experiments` say, and how the runs were made.
pub fn sections(
    input: &ReportInput,
    experiments: Vec<Section>,
    ranking: &Ranking,
    compared: &[Compared],
) -> Vec<Section> {
    let mut all = vec![devices::section(input)];
    if !compared.is_empty() {
        all.push(comparison::section(compared));
    }
    // One device alone is no ranking.
    if input.reported_devices.len() > 1 {
        all.push(ranking::section(ranking));
    }
    all.extend([results::section(input), flags::section(input), roofline::section(input)]);
    all.extend(experiments);
    all.push(environment::section(input));
    all.retain(|section| !section.is_empty());
    all
}
