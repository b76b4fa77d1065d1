//! `gpubench model layout-transform`: model 11 from strides and times.

use super::prediction::Prediction;
use crate::cmd::number::at_least_zero;
use gpubench_core::error::{Error, Result};
use gpubench_model::layout_transform::{View, break_even_uses};

/// Arguments of `gpubench model layout-transform`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Seconds (or any unit, the same for all three) of the transform
    #[arg(long, value_name = "TIME", value_parser = at_least_zero)]
    transform: f64,
    /// One use of the strided array
    #[arg(long, value_name = "TIME", value_parser = at_least_zero)]
    strided: f64,
    /// One use of the contiguous array
    #[arg(long, value_name = "TIME", value_parser = at_least_zero)]
    contiguous: f64,
    /// Elements of the array, for the view that the transform permutes
    #[arg(long, value_name = "ELEMENTS", requires = "stride")]
    length: Option<usize>,
    /// The stride d, or d_i,d_j of two nested loops
    #[arg(long, value_name = "D", value_delimiter = ',', num_args = 1..=2, requires = "length")]
    stride: Vec<usize>,
    /// Print JSON: {model, parts}
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let saved = args.strided - args.contiguous;
    let mut prediction = Prediction::of("11 layout transform, L14 ch. 6");
    prediction = prediction.part("saved_per_use", saved, "", "T_strided − T_contiguous");
    prediction = match break_even_uses(args.transform, args.strided, args.contiguous) {
        Some(uses) => {
            let equation = "ceil(T_transform/(T_strided − T_contiguous))";
            prediction.part("uses", uses as f64, "", equation)
        }
        None => prediction.part("uses", "never: contiguous is not faster", "", "ch. 6"),
    };
    if let Some(view) = view(args)? {
        let numbers = |of: [usize; 3]| of.map(|x| x as f64).to_vec();
        prediction = prediction
            .part("lengths", numbers(view.lengths), "", "ch. 6, fastest dimension first")
            .part("order", numbers(view.order.map(|at| at + 1)), "", "ch. 6, from 1");
    }
    prediction.show(args.json)
}

fn view(args: &Args) -> Result<Option<View>> {
    let Some(length) = args.length else { return Ok(None) };
    let view = match args.stride[..] {
        [stride] => View::single(length, stride),
        [d_i, d_j] => View::double(length, d_i, d_j),
        _ => return Err(Error::Usage("--stride takes one or two strides".into())),
    };
    view.map(Some).map_err(|why| Error::Usage(format!("--stride: {why}")))
}
