//! The threads of a driver that computes on the processor: each is kept on a processor of its own.
#![cfg(target_os = "linux")]

mod common;

use common::{Place, text};

/// In the first process of a run, which builds its kernels. In one of three runs at least, since other tests may keep
/// a thread from its work.
fn are_placed(backend: &str) {
    let processors = std::thread::available_parallelism().expect("known").get();
    if processors < 2 {
        return eprintln!("not tested: there is one processor");
    }
    let wanted = format!("kept on a processor of its own threads={processors}");
    let says: Vec<_> = (0..3).map(|_| log_of_one_round(backend)).collect();
    assert!(says.iter().any(|log| log.contains(&wanted)), "{says:?}");
}

fn log_of_one_round(backend: &str) -> String {
    let place = Place::new();
    let case = ["--filter", "triad", "--filter", "n=65536", "--rounds", "1", "--budget", "3"];
    let mut run =
        place.gpubench(&[&["run", "micro", "--backend", backend][..], &case[..]].concat());
    let output = run.env("GPUBENCH_LOG", "debug").output().expect("the binary starts");
    let log = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{log}");
    log
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn threads_of_opencl_are_placed() {
    are_placed("opencl");
}

#[test]
#[cfg_attr(not(feature = "require-vulkan"), ignore = "needs a Vulkan driver")]
fn threads_of_vulkan_are_placed() {
    are_placed("vulkan");
}
