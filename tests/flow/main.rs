//! Whole runs of the real binary: what they leave, and what interrupts them.
#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;
mod interruptions;
mod results;

use common::suite;

/// A short run on the simulated GPUs: eight sizes on two devices.
const SIM: [&str; 6] = ["--device", "sim:Tesla C1060", "--device", "sim:Tesla K40c", "--seed", "7"];

fn flow() -> String {
    suite("flow/flow.yaml")
}

fn args<'a>(suite: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["run", suite], &SIM[..], more].concat()
}
