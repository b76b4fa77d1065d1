//! What people read: one file a format.

pub mod comparison;
pub mod csv;
pub mod data;
pub mod devices;
pub mod environment;
pub mod export;
pub mod fit;
pub mod flags;
pub mod grid;
pub mod html;
pub mod labels;
pub mod markdown;
mod overview;
pub mod predict;
mod predicted_ranking;
pub mod profile;
pub mod progress;
pub mod ranking;
pub mod render;
pub mod roofline;
pub mod selection;
pub mod terminal;
#[cfg(test)]
mod testing;
pub mod trace;

use gpubench_analysis::ReportInput;
use gpubench_document::Section;

/// All sections of a report but ranking and comparison: the devices first, then what
/// `experiments` say, and how the runs were made.
pub fn sections(input: &ReportInput, experiments: &[Section]) -> Vec<Section> {
    let mut all = vec![devices::section(input), roofline::section(input)];
    all.extend(experiments.iter().cloned());
    all.extend([flags::section(input), environment::section(input)]);
    all.retain(|section| !section.is_empty());
    all
}
