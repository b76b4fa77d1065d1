//! Sections for occupancy sweeps: all of a device in one table, since they are read together.

use super::terminal::label;
use gpubench_core::gpu::{Clock, DeviceInfo};
use gpubench_core::record::{Header, Record};
use gpubench_core::text::printable;
use gpubench_core::units::{Bytes, seconds};
use gpubench_experiments::analysis::{
    OccupancySweepSummary, Residency, Shape, occupancy_sweep, residency,
};
use std::fmt::Write;

/// The occupancy sweeps of device number `device`, by name: of several rounds, the first that confirms
/// its steps, or else the first.
pub fn occupancy_sweeps(
    records: &[Record],
    device: usize,
) -> Vec<(&Record, OccupancySweepSummary)> {
    let mut all: Vec<(&Record, OccupancySweepSummary)> = Vec::new();
    for record in records.iter().filter(|record| record.device == device) {
        let raw = record.detail.as_ref().and_then(|detail| detail.read());
        let Some(summary) = raw.as_ref().and_then(occupancy_sweep) else { continue };
        match all.iter_mut().find(|(known, _)| known.key == record.key) {
            Some(known) if known.1.at_once().is_none() && summary.at_once().is_some() => {
                *known = (record, summary);
            }
            Some(_) => {}
            None => all.push((record, summary)),
        }
    }
    all.sort_by(|a, b| a.0.key.cmp(&b.0.key));
    all
}

/// What all occupancy sweeps of device number `device` say together.
pub fn device_residency(records: &[Record], device: usize) -> Option<Residency> {
    residency(occupancy_sweeps(records, device).iter().map(|(_, summary)| summary))
}

/// One section a device that was swept.
pub fn section(out: &mut String, header: &Header, records: &[Record]) {
    for (i, device) in header.devices.iter().enumerate() {
        let all = occupancy_sweeps(records, i);
        if all.is_empty() {
            continue;
        }
        let residency = device_residency(records, i);
        let _ = writeln!(out, "\nOccupancy sweep on {}: groups at full speed", label(device));
        table(out, &all, residency);
        conclusion(out, residency, device);
        if all.iter().any(|(record, _)| clock(record) == Some(Clock::Host)) {
            let _ = writeln!(out, "  times are the host's, launches included");
        }
    }
}

fn clock(record: &Record) -> Option<Clock> {
    record.measured.as_ref().map(|measured| measured.clock)
}

fn table(out: &mut String, all: &[(&Record, OccupancySweepSummary)], residency: Option<Residency>) {
    let _ = writeln!(
        out,
        "  {:<24}{:>10}{:>9}{:>9}{:>9}  wave",
        "workload", "work-items", "local", "at once", "a unit"
    );
    for (record, summary) in all {
        let each = match (residency, summary.at_once()) {
            (Some(residency), Some(at_once)) => (at_once / residency.units).to_string(),
            _ => "–".to_owned(),
        };
        let _ = writeln!(
            out,
            "  {:<24}{:>10}{:>9}{:>9}{:>9}  {}",
            printable(&record.key.workload, 23),
            summary.group_size,
            Bytes(summary.local_bytes).to_string(),
            at_once(summary.shape),
            each,
            height(summary)
        );
    }
}

fn at_once(shape: Shape) -> String {
    match shape {
        Shape::Steps { at_once, .. } => at_once.to_string(),
        Shape::Flat { max_tried } => format!("> {max_tried}"),
        Shape::Gradual { .. } => "–".to_owned(),
    }
}

fn height(summary: &OccupancySweepSummary) -> String {
    let wave = seconds(summary.wave);
    match summary.shape {
        Shape::Steps { confirmed: true, .. } => wave,
        Shape::Steps { confirmed: false, .. } => format!("{wave}, later steps disagree"),
        Shape::Flat { .. } => format!("{wave}, no step"),
        Shape::Gradual { half } => format!("{wave}, half more at {half}"),
    }
}

fn conclusion(out: &mut String, residency: Option<Residency>, device: &DeviceInfo) {
    let Some(residency) = residency else {
        let _ = writeln!(out, "  no occupancy sweep is confirmed: units and residency are unknown");
        return;
    };
    let driver = match device.compute_units {
        Some(units) => format!("the driver reports {units}"),
        None => "the driver does not say".to_owned(),
    };
    let _ = writeln!(
        out,
        "  units inferred: {} (from {} sweeps; {driver})",
        residency.units, residency.sweeps
    );
    let local = match residency.local_memory {
        0 => String::new(),
        bytes => format!(", {} of local memory", Bytes(bytes)),
    };
    let _ = writeln!(
        out,
        "  a unit was seen to hold {} groups, {} work-items{local}",
        residency.groups, residency.work_items
    );
}
