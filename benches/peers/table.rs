//! Rows over rounds.

use crate::ours::Figure;
use std::fmt;

/// A row's figures in one round.
pub struct Reading {
    pub what: &'static str,
    pub unit: &'static str,
    pub ours: Figure,
    pub clpeak: Option<f64>,
    pub host: Option<f64>,
    /// Whether less is better, so that a share is theirs of ours.
    pub is_time: bool,
}

impl Reading {
    /// Of a peer's figure in the same round.
    fn share(&self, theirs: Option<f64>) -> Option<f64> {
        let (ours, theirs) = self.ours.ok().zip(theirs)?;
        Some(if self.is_time { theirs / ours } else { ours / theirs })
    }
}

/// All rows, each with its rounds, in the order in which they came first.
#[derive(Default)]
pub struct Table {
    rows: Vec<Vec<Reading>>,
}

impl Table {
    pub fn add(&mut self, readings: Vec<Reading>) {
        for reading in readings {
            let row = self.rows.iter_mut().find(|row| row[0].what == reading.what);
            match row {
                Some(row) => row.push(reading),
                None => self.rows.push(vec![reading]),
            }
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| | gpubench | clpeak | host alone | of clpeak's | of the host's |")?;
        writeln!(f, "|---|--:|--:|--:|--:|--:|")?;
        self.rows.iter().try_for_each(|row| writeln!(f, "{}", line(row)))
    }
}

fn line(row: &[Reading]) -> String {
    let Reading { what, unit, .. } = row[0];
    let figures = |of: fn(&Reading) -> Option<f64>| {
        let figures = Ordered::new(row.iter().filter_map(of));
        figures.median().map_or("–".into(), |x| format!("{x:.3} {unit}"))
    };
    let shares = |of: fn(&Reading) -> Option<f64>| {
        let shares = Ordered::new(row.iter().filter_map(|reading| reading.share(of(reading))));
        shares.to_string()
    };
    let failed = row.iter().filter_map(|reading| reading.ours.err()).collect::<Vec<_>>();
    let ours = match failed.as_slice() {
        [] => figures(|reading| reading.ours.ok()),
        all if all.len() == row.len() => all[0].to_owned(),
        some => format!("{} ({})", figures(|reading| reading.ours.ok()), some.join(", ")),
    };
    let (clpeak, host) = (figures(|reading| reading.clpeak), figures(|reading| reading.host));
    let of_clpeak = shares(|reading| reading.clpeak);
    format!(
        "| {what} | {ours} | {clpeak} | {host} | {of_clpeak} | {} |",
        shares(|reading| reading.host)
    )
}

/// Figures of the rounds, the smallest first.
struct Ordered(Vec<f64>);

impl Ordered {
    fn new(figures: impl Iterator<Item = f64>) -> Self {
        let mut figures: Vec<f64> = figures.collect();
        figures.sort_by(f64::total_cmp);
        Self(figures)
    }

    fn median(&self) -> Option<f64> {
        let (below, above) =
            (self.0.get(self.0.len().wrapping_sub(1) / 2), self.0.get(self.0.len() / 2));
        below.zip(above).map(|(below, above)| below.midpoint(*above))
    }
}

impl fmt::Display for Ordered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.first(), self.median(), self.0.last()) {
            (Some(low), Some(median), Some(high)) => {
                write!(f, "{median:.3} ({low:.3} to {high:.3})")
            }
            _ => write!(f, "–"),
        }
    }
}
