//! gpubench's ceilings against those of `clpeak` (Debian package of that name) and, on a driver for
//! the CPU, against what the host's processor reaches by itself: in turn, on one machine, as a
//! Markdown table.
//!
//! ```text
//! cargo bench --bench peers [-- DEVICE [ROUNDS [SUBJECT]]]
//! ```
//!
//! DEVICE as for `gpubench run --device`, by default `opencl:0`; ROUNDS, by default 5; with SUBJECT only what begins so,
//! as `transfers`.
//!
//! A machine that others use is faster at one time than at another. So a round goes from subject to subject, and measures
//! one by all three within seconds, every second round the other way round; a share is one of figures of the same round.
//! The table has the medians of the rounds, and the lowest and highest share. clpeak counts with its best form, of
//! transfers with the mean of blocking and not; gpubench with the best size of its arithmetic in a type (`arithmetic/*` of
//! the suite `ceilings`), and with the largest size of what moves bytes. Run it on a machine that does nothing else.
//! `GPUBENCH=FILE` is the program that is measured, and `KEEP=FOLDER` keeps its result files.
//! `benches/ceilings_and_clpeak.sh` does so driver by driver.

mod clpeak;
#[path = "../host/mod.rs"]
mod host;
mod ours;
mod subjects;
mod table;
mod unmap;

use std::error::Error;

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with('-'));
    let device = arguments.next().unwrap_or_else(|| "opencl:0".into());
    let rounds = arguments.next().unwrap_or_else(|| "5".into());
    let rounds: usize = rounds.parse().map_err(|_| format!("ROUNDS: `{rounds}` is no number"))?;
    let wanted = arguments.next().unwrap_or_default();
    let subjects = || subjects::ALL.iter().filter(|subject| subject.what.starts_with(&wanted));
    if subjects().next().is_none() {
        return Err(format!("SUBJECT: nothing begins with `{wanted}`").into());
    }
    let ours = ours::Ours::new(&device)?;
    let clpeak = device.starts_with("opencl").then(|| clpeak::Clpeak::of(ours.name())).flatten();
    let mut table = table::Table::default();
    let measured = (0..rounds).try_for_each(|round| {
        subjects().try_for_each(|subject| {
            eprintln!("round {} of {rounds}: {}", round + 1, subject.what);
            table.add(subject.measure(&ours, clpeak.as_ref(), round)?);
            Ok(())
        })
    });
    println!("{}, {}, `{device}`, {rounds} rounds\n\n{table}", ours.name(), ours.driver());
    measured
}
