//! Models fitted to kernels: each gives back its own parameters where times obey it, mistakes are
//! reported, and the command line says the same. Nothing here is measured on hardware.
#![expect(clippy::unwrap_used, reason = "helpers of tests panic as tests do")]

mod commands;
#[path = "../common/mod.rs"]
mod common;
mod recovery;
mod searched;

use gpubench::backend::sim::{Description, Noise, Sim};

/// The last shipped description, whose units have 32 banks and more than one group.
fn gpu() -> Description {
    let mut gpu = Sim::default().descriptions().unwrap().pop().unwrap();
    gpu.noise = Noise::default();
    gpu
}
