//! The section of a domain in parts that exchange halos.

use gpubench_core::record::Halo;
use gpubench_core::units::{Bytes, seconds};
use gpubench_experiments::analysis::{Better, HaloSummary, halo};
use std::fmt::Write;

/// What a step takes undivided, in parts, and with either design; which is better.
pub fn section(out: &mut String, title: &str, raw: &Halo) {
    let Some(summary) = halo(raw) else { return };
    let _ = writeln!(out, "\nHalo exchange of {title}");
    let _ = writeln!(
        out,
        "  {}; a step undivided {}, in parts with nothing exchanged {}",
        cut(raw),
        seconds(summary.undivided),
        seconds(summary.parts)
    );
    let _ = writeln!(
        out,
        "  {:<24}{:>12}{:>12}{:>16}{:>10}  as undivided",
        "a step, halos", "median", "exchange", "bytes each way", "copies"
    );
    for row in rows(raw, &summary) {
        let _ = writeln!(
            out,
            "  {:<24}{:>12}{:>12}{:>16}{:>10}  {}",
            row.design,
            seconds(row.seconds),
            percent(row.share),
            Bytes(row.bytes).to_string(),
            row.copies,
            likeness(row.identical)
        );
    }
    if let Some(host) = summary.host {
        let _ =
            writeln!(out, "  in bulk, the host exchanges faces for {} of a step", seconds(host));
    }
    let _ = writeln!(out, "  better: {}", verdict(&summary));
}

/// One design.
pub(super) struct DesignRow {
    /// In words.
    pub design: &'static str,
    /// Median seconds of a step.
    pub seconds: f64,
    /// The share of it that exchanging takes.
    pub share: f64,
    /// Bytes to the host, and back again.
    pub bytes: u64,
    /// Copies to the host, and back again.
    pub copies: u64,
    /// Whether the result is the undivided domain's to the bit.
    pub identical: bool,
}

/// Both designs.
pub(super) fn rows(raw: &Halo, summary: &HaloSummary) -> [DesignRow; 2] {
    let names = ["packed on the device", "in bulk on the host"];
    let (times, shares) = ([summary.packed, summary.bulk], summary.shares());
    std::array::from_fn(|i| DesignRow {
        design: names[i],
        seconds: times[i],
        share: shares[i],
        bytes: raw.bytes[i],
        copies: raw.copies[i],
        identical: raw.identical[i],
    })
}

/// `64×64×64 cells in 1×1×2 parts (pinned memory)`.
pub(super) fn cut(raw: &Halo) -> String {
    let times = |[x, y, z]: [u64; 3]| format!("{x}×{y}×{z}");
    let memory = super::labels::memory_label(raw.host_memory);
    format!("{} cells in {} parts ({memory} memory)", times(raw.cells), times(raw.cuts))
}

/// The share of a step.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

pub(super) fn likeness(identical: bool) -> &'static str {
    if identical { "to the bit" } else { "within tolerance" }
}

/// Which design is better, and by how much.
pub(super) fn verdict(summary: &HaloSummary) -> String {
    let ratio = summary.ratio();
    match summary.better {
        Better::Packed => {
            format!("packed on the device, {ratio:.2} × as fast as in bulk on the host")
        }
        Better::Bulk => {
            format!("in bulk on the host, {ratio:.2} × as fast as packed on the device")
        }
        Better::Neither => "neither: their times cannot be distinguished".into(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use gpubench_core::gpu::{Clock, MemoryKind};
    use gpubench_core::record::Timed;

    /// A step that takes 1 ms undivided, 1.1 ms in parts, and as said with its exchange.
    pub(crate) fn raw(packed: f64, bulk: f64) -> Halo {
        let timed = |seconds: f64| Timed { walls: vec![seconds; 9], steps: vec![] };
        Halo {
            clock: Clock::Device,
            host_memory: MemoryKind::Pinned,
            cells: [64; 3],
            cuts: [1, 1, 2],
            undivided: timed(1e-3),
            parts: timed(1.1e-3),
            packed: timed(packed),
            bulk: timed(bulk),
            host: vec![2e-4; 9],
            bytes: [98_304, 10 << 20],
            copies: [4, 4],
            identical: [true, false],
        }
    }

    #[test]
    fn both_designs_and_the_better_one_are_reported() {
        let mut out = String::new();
        section(&mut out, "waves", &raw(1.25e-3, 2.5e-3));
        assert!(out.contains("64×64×64 cells in 1×1×2 parts (pinned memory)"), "{out}");
        assert!(out.contains("12 %        96.0 KiB         4  to the bit"), "{out}");
        assert!(out.contains("56 %        10.0 MiB         4  within tolerance"), "{out}");
        assert!(out.contains("the host exchanges faces for 200 µs of a step"), "{out}");
        assert!(out.contains("better: packed on the device, 2.00 × as fast"), "{out}");
        let mut out = String::new();
        section(&mut out, "waves", &raw(1.25e-3, 1.25e-3));
        assert!(out.contains("better: neither: their times cannot be distinguished"), "{out}");
    }
}
