//! `gpubench tune --replay FILE`: strategies on a recorded space.

use super::{Args, kernel_tuner, recorded, show};
use crate::cmd::require_threads;
use crate::cmd::show::{print, text};
use crate::store::replace;
use gpubench_core::error::{Error, Result};
use gpubench_report::render::json::json;
use gpubench_tune::summarise;
use std::path::Path;

/// Variants of a search where nothing is said.
const VARIANTS: u32 = 50;
/// Searches where nothing is said.
const SEEDS: u32 = 100;

/// Runs the command on this file.
pub fn run(args: &Args, path: &Path) -> Result<()> {
    require_threads()?;
    let recorded = recorded::read(path)?;
    let file = path.display().to_string();
    let (all, seeds) = (recorded.space().len(), args.seeds.unwrap_or(SEEDS));
    let variants = args.variants.map_or(all.min(VARIANTS as usize), |count| count as usize);
    if variants > all {
        return Err(Error::Usage(format!(
            "{file} has {all} variants, so {variants} cannot be tried: --variants {all} at most"
        )));
    }
    let kind = args.strategy;
    let summary = summarise(&recorded, kind, variants, u64::from(seeds))
        .ok_or_else(|| Error::Usage("nothing to try: no seeds".into()))?;
    if let Some(path) = &args.t4 {
        let text = kernel_tuner::write(&recorded, &summary.first.tried);
        replace(path, &text)?;
    }
    let report = show::Report { file, kind, seeds, recorded: &recorded, summary: &summary };
    print(&if args.json { json(&report.data()) } else { text(&report.section()) })
}
