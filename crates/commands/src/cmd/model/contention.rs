//! `gpubench model contention`: model 7 with shared bandwidth, on pairs that memory may slow.

use super::{percent, show, table};
use crate::store::read_csv::{Row, Table};
use gpubench_core::error::Result;
use gpubench_core::text::printable;
use gpubench_core::units::fixed;
use gpubench_model::contention::{Draw, fit, max_slowdown};
use serde::Serialize;
use std::path::PathBuf;

const COLUMNS: [&str; 4] = ["first", "second", "estimated_slowdown", "actual_slowdown"];
/// What a field says that its source leaves open.
const NOT_REPORTED: &str = "not reported";
/// An estimate that is nearer is a hit.
const NEAR: f64 = 0.1;

/// Arguments of `gpubench model contention`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// CSV with a row a pair: first, second, estimated_slowdown (by slots alone) and actual_slowdown, each a
    /// number or `not reported`
    file: PathBuf,
    /// Print JSON: {pairs, reported, estimated, contended, beyond, slowdowns}
    #[arg(long)]
    json: bool,
}

/// A pair; a slowdown that is not reported is none.
struct Pair {
    name: String,
    estimated: Option<f64>,
    actual: Option<f64>,
}

impl Pair {
    fn read(row: Row<'_>) -> Result<Self> {
        let number = |column| match row.text(column)? {
            NOT_REPORTED => Ok(None),
            _ => row.positive(column).map(Some),
        };
        let name = |column| row.text(column).map(|text| printable(text, 20));
        Ok(Self {
            name: format!("{} {}", name("first")?, name("second")?),
            estimated: number("estimated_slowdown")?,
            actual: number("actual_slowdown")?,
        })
    }

    /// Both slowdowns, where both are reported.
    fn reported(&self) -> Option<(f64, f64)> {
        self.estimated.zip(self.actual)
    }
}

#[derive(Serialize)]
struct Summary {
    pairs: usize,
    /// Pairs of which both slowdowns are reported.
    reported: usize,
    /// The file's estimates, by slots alone.
    estimated: Accuracy,
    /// With contention; each pair by the draw that fits all others best.
    contended: Accuracy,
    /// Pairs slower than two kernels can be that each draw all bandwidth there is.
    beyond: Vec<String>,
    /// With contention, in the pairs' order; none where not reported.
    slowdowns: Vec<Option<f64>>,
}

#[derive(Serialize)]
struct Accuracy {
    /// Over the reported pairs.
    mean_abs_error: f64,
    max_abs_error: f64,
    /// The share of all pairs with an error of at most a tenth; what is not reported is a miss.
    hits: f64,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let file = Table::read(&args.file, &COLUMNS)?;
    let pairs: Vec<Pair> = file.rows().map(Pair::read).collect::<Result<_>>()?;
    let summary = summary(&pairs);
    show(args.json, &summary, || text(&pairs, &summary))
}

fn summary(pairs: &[Pair]) -> Summary {
    let slowdowns: Vec<Option<f64>> = (0..pairs.len())
        .map(|at| Some(drawn_by_others(pairs, at).slowdown(pairs[at].reported()?.0)))
        .collect();
    let accuracy = |predicted: &dyn Fn(usize) -> Option<f64>| {
        let error = |at: usize| Some((predicted(at)? / pairs[at].reported()?.1 - 1.0).abs());
        let errors: Vec<f64> = (0..pairs.len()).filter_map(error).collect();
        let hits = errors.iter().filter(|error| **error <= NEAR).count();
        Accuracy {
            mean_abs_error: errors.iter().sum::<f64>() / errors.len() as f64,
            max_abs_error: errors.iter().copied().fold(f64::NAN, f64::max),
            hits: hits as f64 / pairs.len() as f64,
        }
    };
    let beyond = |pair: &&Pair| {
        pair.reported().is_some_and(|(estimated, actual)| actual > max_slowdown(estimated))
    };
    Summary {
        pairs: pairs.len(),
        reported: pairs.iter().filter_map(Pair::reported).count(),
        estimated: accuracy(&|at| pairs[at].estimated),
        contended: accuracy(&|at| slowdowns[at]),
        beyond: pairs.iter().filter(beyond).map(|pair| pair.name.clone()).collect(),
        slowdowns,
    }
}

/// The draw that fits all pairs but the one `at` best.
fn drawn_by_others(pairs: &[Pair], at: usize) -> Draw {
    let others = pairs.iter().enumerate().filter(|(i, _)| *i != at);
    fit(&others.filter_map(|(_, pair)| pair.reported()).collect::<Vec<_>>())
}

fn text(pairs: &[Pair], summary: &Summary) -> String {
    let number = |x: Option<f64>| x.map_or_else(|| NOT_REPORTED.to_owned(), |x| fixed(x, 3));
    let row = |(pair, contended): (&Pair, &Option<f64>)| {
        let error = |x: Option<f64>| match x.zip(pair.actual) {
            Some((x, actual)) => percent(x / actual - 1.0, 1),
            None => "miss".to_owned(),
        };
        let slowdowns = [pair.estimated, *contended, pair.actual].map(number);
        let mut cells = vec![pair.name.clone()];
        cells.extend(slowdowns);
        cells.extend([error(pair.estimated), error(*contended)]);
        cells
    };
    let headings = ["pair", ">slots", ">contended", ">actual", ">error of slots", ">of contended"];
    let table = table(&headings, pairs.iter().zip(&summary.slowdowns).map(row));
    let line = |name: &str, of: &Accuracy| {
        format!(
            "{name}: mean absolute error {}, largest {}, {} of all pairs within 10 %\n",
            percent(of.mean_abs_error, 1),
            percent(of.max_abs_error, 1),
            percent(of.hits, 1),
        )
    };
    let beyond = match summary.beyond.as_slice() {
        [] => String::new(),
        names => format!("slower than sharing bandwidth can explain: {}\n", names.join(", ")),
    };
    format!(
        "{table}\n{}{}{beyond}",
        line("slots alone", &summary.estimated),
        line("contended, by the draw that fits the other pairs", &summary.contended),
    )
}
