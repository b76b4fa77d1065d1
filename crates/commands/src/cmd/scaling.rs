//! Tables of weak and strong scaling.

use gpubench_core::units::{fixed, seconds};
use std::fmt::Write;

/// How the problem grows with the ranks.
#[derive(Clone, Copy)]
pub(super) enum Scaling {
    /// Not at all: it is the whole one.
    Strong,
    /// A rank has as much to do as all ranks have of the whole one.
    Weak,
}

/// What one number of ranks took for either problem.
pub(super) struct OverRanks<T> {
    /// How many.
    pub ranks: usize,
    /// Of the whole problem.
    pub strong: T,
    /// Of one that gives a rank as much to do as all ranks have; `None` for all ranks, whose whole problem is that
    /// already.
    pub weak: Option<T>,
}

/// A line of a table.
pub(super) struct Scaled {
    /// How many.
    pub ranks: usize,
    /// What they worked on, in words.
    pub what: String,
    /// Operations of it all.
    pub work: f64,
    /// How long it took.
    pub seconds: f64,
}

/// A table of the runs of the whole problem, and one of those that give a rank as much to do; `line` knows which a
/// result is of.
pub(super) fn tables<T>(
    out: &mut String,
    [strong, weak]: [&str; 2],
    runs: &[OverRanks<T>],
    line: impl Fn(usize, &T, Scaling) -> Scaled,
) {
    let of_whole = runs.iter().map(|run| line(run.ranks, &run.strong, Scaling::Strong));
    table(out, strong, &of_whole.collect::<Vec<_>>());
    let each = |run: &OverRanks<T>| {
        line(run.ranks, run.weak.as_ref().unwrap_or(&run.strong), Scaling::Weak)
    };
    table(out, weak, &runs.iter().map(each).collect::<Vec<_>>());
}

/// One line a number of ranks. Speed-up is the rate of operations against that of the first line, which
/// is one rank's, and efficiency its share of as many times as there are ranks.
fn table(out: &mut String, title: &str, lines: &[Scaled]) {
    let Some(first) = lines.first() else { return };
    let _ = writeln!(out, "  {title}");
    let _ = writeln!(
        out,
        "  {:>6}  {:<24}{:>10}{:>10}{:>12}",
        "ranks", "problem", "time", "speed-up", "efficiency"
    );
    for line in lines {
        let rate = |line: &Scaled| line.work / line.seconds;
        let speedup = rate(line) / rate(first);
        let _ = writeln!(
            out,
            "  {:>6}  {:<24}{:>10}{:>10}{:>10} %",
            line.ranks,
            line.what,
            seconds(line.seconds),
            fixed(speedup, 2),
            fixed(100.0 * speedup * first.ranks as f64 / line.ranks as f64, 0)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn efficiency_is_the_rate_of_a_rank_against_one_alone() {
        let line = |ranks: usize, work: f64, seconds: f64| Scaled {
            ranks,
            what: format!("n = {work}"),
            work,
            seconds,
        };
        let mut out = String::new();
        table(&mut out, "strong", &[line(1, 8.0, 4.0), line(2, 8.0, 2.5), line(4, 32.0, 4.0)]);
        let lines: Vec<&str> = out.lines().skip(2).map(str::trim).collect();
        assert!(lines[0].ends_with("4.00 s      1.00       100 %"), "{out}");
        assert!(lines[1].ends_with("2.50 s      1.60        80 %"), "{out}");
        assert!(lines[2].ends_with("4.00 s      4.00       100 %"), "{out}");
    }
}
