//! What a run measured of checkpoints.

use crate::cmd::results;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::text::{counted, printable};
use gpubench_core::units::seconds;
use gpubench_experiments::registry::{SaveSummary, cheapest_save};
use std::path::Path;

/// Characters of a case's and its device's name.
const NAME: usize = 200;

/// What a run measured of checkpoints.
#[derive(Debug)]
pub struct Measured {
    /// Seconds that a save costs.
    pub cost: f64,
    /// Seconds of going on from one.
    pub recovery: f64,
    /// Of what, in words.
    pub of: String,
}

/// What the run in `file` measured of the only case whose name and device have all of `terms`; of
/// several rounds, the first. Where it says what a save costs (`counts`), that must be significantly different from zero.
pub fn measured(file: &Path, terms: Option<&str>, counts: bool) -> Result<Measured> {
    let run = results::open(file)?;
    let terms = terms.unwrap_or_default().to_lowercase();
    let mut found: Vec<(String, SaveSummary)> = vec![];
    for record in &run.records {
        let Some(cheapest) = record.detail.as_ref().and_then(cheapest_save) else { continue };
        let device =
            run.header.devices.get(record.device).map_or_else(String::new, DeviceInfo::label);
        let name = printable(&format!("{} on {device}", record.key), NAME);
        if !found.iter().any(|(known, _)| *known == name) {
            found.push((name, cheapest));
        }
    }
    let is_wanted =
        |name: &str| terms.split_whitespace().all(|term| name.to_lowercase().contains(term));
    let wanted: Vec<_> = found.iter().filter(|(name, _)| is_wanted(name)).collect();
    let [(name, run)] = wanted[..] else {
        let (file, nothing) = (file.display(), wanted.is_empty());
        let listed = if nothing { found.iter().collect() } else { wanted };
        let names: String = listed.iter().map(|(name, _)| format!("\n  {name}")).collect();
        return Err(Error::Usage(match (nothing, names.is_empty()) {
            (_, true) => {
                format!("{file} has no case with measured checkpoints (`measure: checkpoint`)")
            }
            (true, _) => format!("{file} has no such case; it has{names}"),
            (false, _) => format!("{file} has several: say which with --case{names}"),
        }));
    };
    // Also where either is not a number.
    let significant = run.cost.is_finite() && run.cost > run.margin;
    if counts && !significant {
        return Err(Error::Usage(format!(
            "{name}: saving cost less than the run's samples scatter ({} ± {}); give an upper bound \
             with --cost",
            seconds(run.cost),
            seconds(run.margin)
        )));
    }
    let place = if run.to_file { "a file" } else { "memory" };
    let of = format!("{name}, {}, to {place}", counted(run.queues as usize, "queue"));
    Ok(Measured { cost: run.cost, recovery: run.restoring, of })
}
