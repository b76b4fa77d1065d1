//! What several devices do at once: transfer states and plans, and split workloads.

use super::Section;
use crate::input::ReportInput;
use crate::labels::case_name;
use crate::multi_device::{split_section, states_section};
use gpubench_core::text::printable;
use maud::html;

/// Of every case the first round that was measured, in the terminal's words.
pub(super) fn section(input: &ReportInput) -> Option<Section> {
    let mut texts: Vec<String> = vec![];
    for reported_device in 0..input.reported_devices.len() {
        for row in input.of(reported_device).filter(|row| row.outcome.is_ok()) {
            let section_text = row.records.iter().find_map(|record| {
                let (mut text, title) = (String::new(), case_name(row.key));
                let detail = record.detail.as_ref()?;
                if let Some(raw) = detail.read() {
                    states_section(&mut text, &title, &raw);
                } else if let Some(raw) = detail.read() {
                    split_section(&mut text, &title, &raw);
                } else {
                    return None;
                }
                Some(text)
            });
            texts.extend(section_text);
        }
    }
    let clean = |text: &String| -> String {
        text.trim().lines().map(|line| printable(line, 400) + "\n").collect()
    };
    let body = html! {
        p {
            "Rates are of what moved while every device of the state was at it. A plan spends its time in states, one after the other; "
            "a split workload is calibrated in blocks, each partitioned by the speeds of those before."
        }
        @for text in &texts { pre { (clean(text)) } }
    };
    (!texts.is_empty()).then_some(Section { id: "multi-device", title: "Multiple devices", body })
}
