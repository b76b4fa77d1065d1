//! How long fitting and predicting take: `cargo bench --bench fit`.
//!
//! A run of 2,000 records (667 kernels and sizes, three rounds) fitted by every model, on the profile
//! of a simulated GPU; and the suite `all` predicted on the ten shipped descriptions by the program
//! itself, emulation included. Nothing is asserted: times depend on the machine.

use gpubench::analyse::fit::{Device, End, Launch, Model, View, evaluate};
use gpubench::backend::sim::Sim;
use gpubench::emulate::Rules;
use gpubench::error::{Error, Result};
use gpubench::kernel_counts::{KernelCounts, Wanted};
use gpubench::measure::load;
use gpubench::model::hybrid::Multiples;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Kernels and sizes of a run of 2,000 records in three rounds.
const LAUNCHES: usize = 667;
/// What the hybrid takes as true: launch, sharpness, cache, then seconds each.
const HYBRID: [f64; 14] =
    [5e-6, 2.0, 3e7, 2e-12, 2e-11, 4e-11, 4e-12, 3e-12, 9e-12, 2e-12, 4e-12, 1e-9, 6e-12, 1e-9];

fn main() -> Result<()> {
    let gpus = Sim::default().descriptions()?;
    let gpu = gpus.last().ok_or(Error::NoDevice)?;
    let device = Device::new(&gpu.profile(0), End::Middle)?;
    let begun = Instant::now();
    let some = counted(device.rules)?;
    let seconds = begun.elapsed().as_secs_f64();
    println!("emulation: one group of each of {} kernels and sizes in {seconds:.2} s", some.len());
    let launches = many(&some, &device)?;
    let mut all = 0.0;
    for model in Model::ALL {
        let begun = Instant::now();
        let evaluation = evaluate(model, &launches, Some(&device), 1)?;
        let seconds = begun.elapsed().as_secs_f64();
        all += seconds;
        let score = evaluation.leave_one_size_out.map_or(f64::NAN, |score| score.accuracy);
        println!("{}: {seconds:.2} s (a size left out: {score:.2})", model.name);
    }
    println!("all models on {} launches: {all:.2} s", launches.len());
    predict()
}

/// Every kernel of the suite `all`, counted.
fn counted(rules: Rules) -> Result<Vec<Launch>> {
    let mut kernel_counts = KernelCounts::new(&load("all")?, 1);
    let wanted = kernel_counts.kernels();
    let kernels: Vec<_> = wanted.iter().map(|one| one.kernel.clone()).collect();
    kernel_counts.count(&kernels, &[rules]);
    let launch = |one: &Wanted| Ok(one.launch(kernel_counts.of(&one.kernel, rules)?));
    wanted
        .iter()
        .map(launch)
        .collect::<std::result::Result<_, String>>()
        .map_err(Error::Unsupported)
}

/// The same kernels under several names and numbers of groups, with times that scatter by a tenth.
fn many(some: &[Launch], device: &Device) -> Result<Vec<Launch>> {
    let mut all = vec![];
    for i in 0..LAUNCHES {
        let mut launch = some[i % some.len()].clone();
        let turn = i / some.len();
        if turn > 0 {
            launch.key.workload += &format!(" {turn}");
            launch.kernel += &format!(" {turn}");
        }
        if let Ok(counted) = &mut launch.counted {
            counted.groups *= 1.0 + turn as f64;
        }
        launch.bytes *= 1.0 + turn as f64;
        launch.buffers *= 1.0 + turn as f64;
        let scatter =
            1.0 + 0.2 * (f64::from((i as u32).wrapping_mul(2_654_435_761) >> 16) / 65536.0 - 0.5);
        let view = View::new(Model::HYBRID, &launch, Some(device))?;
        launch.seconds = view.seconds(&HYBRID, Multiples::ONE.scaled(scatter));
        all.push(launch);
    }
    Ok(all)
}

/// The program itself, from start to end.
fn predict() -> Result<()> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/crates/device/src/sim/devices");
    let entries = std::fs::read_dir(folder).map_err(|error| Error::io(folder, error))?;
    let profiles: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpubench"));
    command.args(["predict", "all", "--profile"]).args(&profiles).stdout(Stdio::null());
    command.stderr(Stdio::null());
    let begun = Instant::now();
    let status = command.status().map_err(|error| Error::io("gpubench", error))?;
    let seconds = begun.elapsed().as_secs_f64();
    println!("predict all on {} profiles: {seconds:.2} s ({status})", profiles.len());
    Ok(())
}
