//! `gpubench model transfer`: model 8 from the rates of a link.

use super::prediction::Prediction;
use crate::cmd::number::{above_zero, at_least_zero};
use gpubench_core::error::{Error, Result};
use gpubench_model::transfer::{Duplex, Line, Link};

/// Arguments of `gpubench model transfer`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to upload, in the rates' unit of data
    #[arg(long, value_name = "AMOUNT", value_parser = at_least_zero)]
    upload: f64,
    /// What to download
    #[arg(long, value_name = "AMOUNT", value_parser = at_least_zero)]
    download: f64,
    /// S_S: what is uploaded per second while nothing is downloaded
    #[arg(long, value_name = "RATE", value_parser = above_zero)]
    upload_rate: f64,
    /// R_R: what is downloaded per second while nothing is uploaded
    #[arg(long, value_name = "RATE", value_parser = above_zero)]
    download_rate: f64,
    /// S_SR: what is uploaded per second while both run (default: as isolated)
    #[arg(long, value_name = "RATE", value_parser = above_zero)]
    upload_bidirectional: Option<f64>,
    /// R_SR: what is downloaded per second while both run
    #[arg(long, value_name = "RATE", value_parser = above_zero)]
    download_bidirectional: Option<f64>,
    /// Seconds of an empty upload
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = at_least_zero)]
    upload_latency: f64,
    /// Seconds of an empty download
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = at_least_zero)]
    download_latency: f64,
    /// Print JSON: {model, parts}
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let left = |option: &str, both: Option<f64>, isolated: f64| match both.unwrap_or(isolated) {
        both if both <= isolated => Ok(both / isolated),
        _ => {
            Err(Error::Usage(format!("{option} is more than the rate of that direction isolated")))
        }
    };
    let (up, down) = (args.upload_bidirectional, args.download_bidirectional);
    let duplex = Duplex {
        upload: left("--upload-bidirectional", up, args.upload_rate)?,
        download: left("--download-bidirectional", down, args.download_rate)?,
    };
    let link = Link {
        upload: Line { latency: args.upload_latency, bandwidth: args.upload_rate },
        download: Line { latency: args.download_latency, bandwidth: args.download_rate },
        duplex,
    };
    let (upload, download) =
        (link.upload.seconds(args.upload), link.download.seconds(args.download));
    let both = link.seconds(args.upload, args.download);
    Prediction::of("8 transfer, C13 eq. 4.18, 4.35")
        .seconds("upload", upload, "latency + x_s/S_S")
        .seconds("download", download, "latency + x_r/R_R")
        .seconds("one_after_the_other", upload + download, "x_s/S_S + x_r/R_R")
        .seconds("both", both, "H(x_s, x_r), 4.18, 4.35; latencies ours")
        .show(args.json)
}
