//! What is measured by all three, one subject after the other.

use crate::Failure;
use crate::clpeak::{Clpeak, Figures};
use crate::host::{self, Rates, Type};
use crate::ours::{Figure, Ours, best, largest};
use crate::table::Reading;
use crate::unmap;
use gpubench::analyse::{CaseResult, DeviceCases};
use gpubench::gpu::MemoryKind;
use gpubench::workload::{CaseKey, Kind};

/// One of them.
pub struct Subject {
    pub what: &'static str,
    /// The option of clpeak's test.
    clpeak: Option<&'static str>,
    ours: Work,
    host: Code,
    /// A row of its own for what the host reaches with fewer instructions, as a compiler that knows no others would.
    restricted: Option<(&'static str, Type)>,
    rows: fn(&Subject, &DeviceCases, Option<&Figures>) -> Vec<Row>,
}

/// What gpubench runs.
enum Work {
    /// Of the suite `ceilings` what all these filters let through.
    Ceilings(&'static [&'static str]),
    Transfers,
}

/// The host's own code.
enum Code {
    None,
    Arithmetic(Type),
    Read,
    Triad,
    Copy,
}

/// A row without what the host reaches: gpubench's and clpeak's figure.
type Row = (&'static str, &'static str, Figure, Option<f64>);

const GOPS: &str = "GOP/s";
const GBPS: &str = "GB/s";
const MICROSECONDS: &str = "µs";

impl Subject {
    /// By all three, in an order that changes from round to round.
    pub fn measure(
        &self,
        ours: &Ours,
        clpeak: Option<&Clpeak>,
        round: usize,
    ) -> Result<Vec<Reading>, Failure> {
        let theirs = || clpeak.zip(self.clpeak).map(|(clpeak, option)| clpeak.test(option));
        let host = || if ours.is_cpu() { self.rates() } else { [None; 2] };
        let (theirs, cases, [host, restricted]) = if round.is_multiple_of(2) {
            let theirs = theirs();
            let cases = self.ours.run(ours)?;
            (theirs, cases, host())
        } else {
            let host = host();
            let cases = self.ours.run(ours)?;
            (theirs(), cases, host)
        };
        let rows = (self.rows)(self, &cases, theirs.as_ref());
        let further = self.restricted.map(|(what, _)| (what, rows[0].1, rows[0].2, None));
        let reading = |(what, unit, ours, clpeak), host| {
            let is_time = unit == MICROSECONDS;
            Reading { what, unit, ours, clpeak, host, is_time }
        };
        let rows = rows.into_iter().map(|row| reading(row, host));
        Ok(rows.chain(further.map(|row| reading(row, restricted))).collect())
    }

    /// The host's: all that it has, and less.
    fn rates(&self) -> [Option<f64>; 2] {
        [self.host.rate(), self.restricted.and_then(|(_, of)| Code::Arithmetic(of).rate())]
    }
}

impl Work {
    fn run(&self, ours: &Ours) -> Result<DeviceCases, Failure> {
        match self {
            Self::Ceilings(filters) => ours.ceilings(filters),
            Self::Transfers => ours.transfers(),
        }
    }
}

/// MiB of the host's arrays.
const MIB: usize = 256;

impl Code {
    fn rate(&self) -> Option<f64> {
        match *self {
            Self::None => None,
            Self::Arithmetic(of) => host::multiply_adds(of).as_ref().map(Rates::median),
            Self::Read => Some(host::read(MIB).median()),
            Self::Triad => host::triad(MIB).first().map(Rates::median),
            Self::Copy => Some(host::copy(MIB).median()),
        }
    }
}

/// All of them.
pub const ALL: &[Subject] = &[
    Subject {
        restricted: Some(("f32, of the host's 256 bits, not fused", Type::F32Unfused)),
        ..arithmetic("f32", Some("--compute-sp"), &["arithmetic/f32"], Code::Arithmetic(Type::F32))
    },
    Subject {
        restricted: Some(("f64, of the host's own, not fused", Type::F64Unfused)),
        ..arithmetic("f64", Some("--compute-dp"), &["arithmetic/f64"], Code::Arithmetic(Type::F64))
    },
    arithmetic("f16", Some("--compute-hp"), &["arithmetic/f16"], Code::Arithmetic(Type::F16)),
    arithmetic("i32", Some("--compute-integer"), &["arithmetic/i32"], Code::None),
    arithmetic(
        "i32, of clpeak's 24 bits",
        Some("--compute-intfast"),
        &["arithmetic/i32"],
        Code::None,
    ),
    arithmetic("i16", Some("--compute-short"), &["arithmetic/i16"], Code::None),
    arithmetic("i8", Some("--compute-char"), &["arithmetic/i8"], Code::None),
    Subject {
        restricted: Some(("i8 dot product, of the host's without VNNI", Type::I8Pairs)),
        ..arithmetic("i8 dot product", None, &["arithmetic/dot_i8"], Code::Arithmetic(Type::I8))
    },
    Subject {
        what: "read",
        clpeak: Some("--global-bandwidth"),
        ours: Work::Ceilings(&["read", "n=67108864"]),
        host: Code::Read,
        restricted: None,
        rows: |subject, ours, clpeak| {
            vec![(subject.what, GBPS, best(ours, bytes), clpeak.and_then(highest))]
        },
    },
    Subject {
        what: "triad",
        clpeak: None,
        ours: Work::Ceilings(&["triad", "n=67108864"]),
        host: Code::Triad,
        restricted: None,
        rows: |subject, ours, _| vec![(subject.what, GBPS, best(ours, bytes), None)],
    },
    Subject {
        what: "launch",
        clpeak: Some("--kernel-latency"),
        ours: Work::Ceilings(&["launch", "n=65536"]),
        host: Code::None,
        restricted: None,
        rows: |subject, ours, clpeak| {
            let latency = clpeak.and_then(|figures| figures.of("/Kernel launch latency").next());
            let ours = largest(ours, |_| true, |_, seconds| seconds * 1e6);
            vec![(subject.what, MICROSECONDS, ours, latency)]
        },
    },
    Subject {
        what: "transfers",
        clpeak: Some("--transfer-bandwidth"),
        ours: Work::Transfers,
        host: Code::Copy,
        restricted: None,
        rows: |_, ours, clpeak| {
            let unmap = clpeak.and_then(|_| unmap::after_reading(&ours.device));
            if clpeak.is_some() && unmap.is_none() {
                eprintln!("no time of an unmap: clpeak's mapped download stays empty");
            }
            let row = |(what, measure, kind, labels)| {
                let wanted =
                    |key: &CaseKey| key.measure == measure && key.host_memory == Some(kind);
                let clpeak = clpeak.and_then(|figures| in_sequence(figures, labels, unmap));
                (what, GBPS, largest(ours, wanted, bytes), clpeak)
            };
            TRANSFERS.map(row).into()
        },
    },
];

/// Multiply-adds of a type.
const fn arithmetic(
    what: &'static str,
    clpeak: Option<&'static str>,
    filters: &'static [&'static str],
    host: Code,
) -> Subject {
    let rows = |subject: &Subject, ours: &DeviceCases, clpeak: Option<&Figures>| {
        let rate = best(ours, |case, seconds| case.flops / seconds / 1e9);
        vec![(subject.what, GOPS, rate, clpeak.and_then(highest))]
    };
    Subject { what, clpeak, ours: Work::Ceilings(filters), host, restricted: None, rows }
}

/// Of all forms of a test.
fn highest(figures: &Figures) -> Option<f64> {
    figures.under_headings().reduce(f64::max)
}

/// Transfers and clpeak's labels for their steps. Ours by mapping are a map, a copy and an unmap. clpeak times them apart, but
/// for the map before it writes, for which the one before it reads stands here, and the unmap of what it read.
const TRANSFERS: [(&str, Kind, MemoryKind, &[&str]); 4] = [
    ("upload, pageable", Kind::new("upload"), MemoryKind::Pageable, &["enqueueWriteBuffer"]),
    ("download, pageable", Kind::new("download"), MemoryKind::Pageable, &["enqueueReadBuffer"]),
    (
        "upload, mapped",
        Kind::new("upload"),
        MemoryKind::Mapped,
        &["enqueueMapBuffer", "memcpy to mapped", "enqueueUnmap"],
    ),
    (
        "download, mapped",
        Kind::new("download"),
        MemoryKind::Mapped,
        &["enqueueMapBuffer", "memcpy from mapped", UNMAP],
    ),
];

/// The step that clpeak does not time and [`unmap`] does.
const UNMAP: &str = "unmap of what was read";

/// The rate of steps one behind the other, each of which moves all bytes, by clpeak's rate of each: the mean of blocking
/// and not, where it prints both.
fn in_sequence(figures: &Figures, labels: &[&str], unmap: Option<f64>) -> Option<f64> {
    let rate = |label: &&str| {
        if *label == UNMAP {
            return unmap;
        }
        let label = format!("Transfer bandwidth (GBPS)/{label}");
        let rates: Vec<f64> = figures.of(&label).collect();
        (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
    };
    let rates: Option<Vec<f64>> = labels.iter().map(rate).collect();
    Some(1.0 / rates?.iter().map(|rate| 1.0 / rate).sum::<f64>())
}

fn bytes(case: &CaseResult, seconds: f64) -> f64 {
    case.bytes / seconds / 1e9
}
