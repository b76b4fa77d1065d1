//! What people read: one file a format.

pub mod bandwidth;
mod caches;
pub mod comparison;
pub mod csv;
pub mod data;
mod device_picks;
pub mod devices;
pub mod environment;
pub mod export_rows;
pub mod fit;
pub mod flags;
pub mod formats;
pub mod gate;
pub mod junit;
mod knee;
pub mod labels;
pub mod markdown;
pub mod page;
pub mod portrait;
pub mod predict;
mod predicted_ranking;
pub mod profile;
pub mod progress;
pub mod ranking;
mod ranking_matrix;
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

/// All sections of a report: how the devices compare and what they are, what was measured on them and what
/// to know of it, what `experiments` say, and how the runs were made.
pub fn sections(
    input: &ReportInput,
    experiments: Vec<Section>,
    ranking: &Ranking,
    compared: &[Compared],
) -> Vec<Section> {
    // One device alone is no ranking.
    let ranked = (input.reported_devices.len() > 1).then(|| ranking::section(ranking));
    // The verdict comes first; where there is none, only why comes behind.
    let has_verdict = ranking.families.first().is_some_and(|overall| overall.rows.len() > 1);
    let (verdict, none) = if has_verdict { (ranked, None) } else { (None, ranked) };
    let mut all: Vec<Section> = verdict.into_iter().collect();
    if !compared.is_empty() {
        all.push(comparison::section(compared));
    }
    all.push(devices::section(input));
    all.extend(none);
    all.extend([
        results::section(input),
        flags::section(input),
        bandwidth::section(input),
        roofline::section(input),
    ]);
    all.extend(experiments);
    all.push(environment::section(input));
    all.retain(|section| !section.is_empty());
    all
}
