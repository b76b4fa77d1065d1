//! `gpubench model roofline`: model 3 on a kernel whose arithmetic intensity is raised step by step.

use super::held_out::{Errors, error, every_second, named, rows};
use super::{percent, show, table};
use crate::store::read_csv::{Row, Table};
use gpubench_core::error::Result;
use gpubench_core::units::fixed;
use gpubench_model::intensity_roofline::{IntensityRoofline, PARAMETERS, Point, fit};
use gpubench_model::least_squares::Solution;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

const COLUMNS: [&str; 3] = ["flop_per_byte", "gflop_s", "mhz"];
const GIGA: f64 = 1e9;
const MEGA: f64 = 1e6;

/// Arguments of `gpubench model roofline`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// CSV with a row a launch: flop_per_byte, gflop_s, and mhz, the clock, 0 in all rows where unknown
    file: PathBuf,
    /// Print JSON: {rows, held_out, median_error, max_error, by_intensity, parameters}
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Summary {
    rows: usize,
    /// Rows that the fit never saw.
    held_out: usize,
    /// Over them.
    #[serde(flatten)]
    errors: Errors,
    /// With every second intensity held out instead, on every physical GPU of the file.
    by_intensity: Option<Errors>,
    /// In operations, bytes and seconds.
    parameters: BTreeMap<&'static str, f64>,
    #[serde(skip)]
    cells: Vec<Vec<String>>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let table = Table::read(&args.file, &COLUMNS)?;
    let known = table.rows().next().is_some_and(|row| row.number("mhz").is_ok_and(|mhz| mhz > 0.0));
    let points = rows(&table, "gflop_s", |row| point(row, known))?;
    let (fitted, held_out) = every_second(&points);
    let solution = fit(&fitted)?;
    let summary = Summary {
        rows: points.len(),
        held_out: held_out.len(),
        errors: errors(&solution, &held_out),
        by_intensity: by_intensity(&points)?,
        parameters: named(&PARAMETERS, &solution),
        cells: held_out.iter().map(|point| cells(&solution, point)).collect(),
    };
    show(args.json, &summary, || text(&summary))
}

/// A row; its clock must be known where the first row's is.
fn point(row: Row<'_>, known: bool) -> Result<Point> {
    let mhz = row.number("mhz")?;
    if (mhz > 0.0) != known {
        let message = "the clock is known in some rows only";
        return Err(row.diagnostic("mhz", message, Some("write 0 in all rows to go without it")));
    }
    Ok(Point {
        intensity: row.positive("flop_per_byte")?,
        clock: if known { MEGA * mhz } else { 1.0 },
        rate: GIGA * row.positive("gflop_s")?,
    })
}

fn roof(solution: &Solution) -> IntensityRoofline {
    IntensityRoofline::of(&solution.values.iter().map(|x| x.value).collect::<Vec<_>>())
}

fn errors(solution: &Solution, held_out: &[Point]) -> Errors {
    let roof = roof(solution);
    Errors::of(held_out.iter().map(|p| error(roof.rate(p.intensity, p.clock), p.rate)))
}

/// None where a file has too few intensities for a fit on every second one.
fn by_intensity(points: &[Point]) -> Result<Option<Errors>> {
    let mut intensities: Vec<f64> = points.iter().map(|point| point.intensity).collect();
    intensities.sort_unstable_by(f64::total_cmp);
    intensities.dedup();
    let (fitted, held_out) = every_second(&intensities);
    if fitted.len() <= PARAMETERS.len() {
        return Ok(None);
    }
    let of = |which: &[f64]| -> Vec<Point> {
        points.iter().filter(|point| which.contains(&point.intensity)).copied().collect()
    };
    Ok(Some(errors(&fit(&of(&fitted))?, &of(&held_out))))
}

fn cells(solution: &Solution, point: &Point) -> Vec<String> {
    let predicted = roof(solution).rate(point.intensity, point.clock);
    let mhz = if point.clock > 1.0 { fixed(point.clock / MEGA, 0) } else { "–".into() };
    let rates = [predicted, point.rate].map(|rate| fixed(rate / GIGA, 0));
    let off = percent(predicted / point.rate - 1.0, 2);
    [vec![fixed(point.intensity, 3), mhz], rates.to_vec(), vec![off]].concat()
}

fn text(summary: &Summary) -> String {
    let headings = [">flop/byte", ">MHz", ">predicted GFLOP/s", ">measured GFLOP/s", ">error"];
    let p = &summary.parameters;
    let by_intensity = summary.by_intensity.map_or_else(String::new, |errors| {
        format!("every second intensity held out instead: {}\n", errors.text())
    });
    format!(
        "{}\n{} GB/s; {} operations a cycle, {} more for each byte; sharpness {}\n\
         {} of {} rows held out, every second one: {}\n{by_intensity}",
        table(&headings, summary.cells.iter().cloned()),
        fixed(p["bandwidth"] / GIGA, 0),
        fixed(p["per_cycle"], 0),
        fixed(p["overhead"], 2),
        fixed(p["sharpness"], 1),
        summary.held_out,
        summary.rows,
        summary.errors.text(),
    )
}
