//! The ring matrix product and elastic waves in slabs by `mpirun` on this machine; `./x test-mpi` runs it. Built with
//! `--features mpi` only.

mod common;

use common::{Place, text};
use std::fs::File;
use std::process::{Command, Output};

/// `gpubench ring` on a given number of ranks.
fn ring(place: &Place, ranks: u32, args: &[&str]) -> Output {
    over(place, ranks, "ring", args)
}

/// A command of gpubench on a given number of ranks.
fn over(place: &Place, ranks: u32, what: &str, args: &[&str]) -> Output {
    let mut command = Command::new("mpirun");
    command.args(["--oversubscribe", "-n", &ranks.to_string()]);
    command.args([env!("CARGO_BIN_EXE_gpubench"), what]).args(args);
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    place.surround(&mut command);
    common::finish(command.spawn().expect("mpirun is installed"))
}

/// A simulated device by its position: there always is one.
const SIM: &str = "sim:9";

/// The product's hash; what else was said is printed.
fn hash(output: &Output) -> String {
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
    println!("{stdout}");
    assert_eq!(stdout.matches("Ring matrix product").count(), 1, "one rank prints: {stdout}");
    let timed = stdout.matches("during the kernel").count() == 2;
    assert_ne!(timed, stdout.contains("simulated: 4 variants, no times"), "{stdout}");
    assert_eq!(timed, stdout.contains("weak scaling"), "{stdout}");
    let (_, hash) = stdout.split_once("SHA-256 of C ").expect("the product's hash");
    hash.trim().to_owned()
}

/// The same of elastic waves, which are the same on any number of ranks.
fn waves(output: &Output, ranks: &str) -> String {
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
    println!("{stdout}");
    assert_eq!(stdout.matches("Elastic waves").count(), 1, "one rank prints: {stdout}");
    let expected = if ranks == "1" {
        "verified; SHA-256".into()
    } else {
        format!("on {ranks} ranks the same to the bit")
    };
    assert!(stdout.contains(&expected), "{stdout}");
    let scaled = stdout.matches("scaling").count();
    assert_eq!(scaled, if stdout.contains("simulated") { 0 } else { 2 }, "{stdout}");
    let (_, hash) = stdout.split_once("SHA-256 of the fields ").expect("the fields' hash");
    hash.trim().to_owned()
}

fn waves_are_alike(place: &Place, device: &str) {
    let args = ["--n", "16", "--device", device];
    let alone = waves(&over(place, 1, "halo", &args), "1");
    for (ranks, expected) in [(2, "1, 2"), (4, "1, 2, 4")] {
        let several = waves(&over(place, ranks, "halo", &args), expected);
        assert_eq!(several, alone, "{ranks} ranks on {device}");
    }
}

fn products_are_alike(place: &Place, device: &str) {
    let [single, double] = ["f32", "f64"].map(|precision| {
        let args = ["--n", "256", "--device", device, "--precision", precision];
        let alone = hash(&ring(place, 1, &args));
        for ranks in [2, 4] {
            assert_eq!(hash(&ring(place, ranks, &args)), alone, "{ranks} ranks on {device}");
        }
        alone
    });
    assert_ne!(single, double);
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn ranks_on_opencl_compute_what_one_does() {
    let place = Place::new();
    waves_are_alike(&place, "opencl:0");
    products_are_alike(&place, "opencl:0");
}

#[test]
#[cfg_attr(not(feature = "require-wgpu"), ignore = "needs a wgpu driver")]
fn ranks_on_wgpu_compute_what_one_does() {
    let place = Place::new();
    waves_are_alike(&place, "wgpu:0");
    products_are_alike(&place, "wgpu:0");
}

#[test]
fn waves_in_slabs_are_one_ranks_to_the_bit() {
    let place = Place::new();
    waves_are_alike(&place, SIM);
    let uneven = over(&place, 3, "halo", &["--n", "16", "--device", SIM]);
    let stderr = text(&uneven.stderr);
    assert_eq!(uneven.status.code(), Some(2), "{stderr}");
    let expected = "3 ranks: 16 cells along z cannot be cut into 3 equal parts: take 2 or 4";
    assert_eq!(stderr.matches(expected).count(), 1, "{stderr}");
}

#[test]
fn one_two_and_four_ranks_compute_the_same_to_the_bit() {
    products_are_alike(&Place::new(), SIM);
}

#[test]
#[cfg_attr(
    not(any(feature = "require-opencl", feature = "require-wgpu")),
    ignore = "needs an OpenCL driver or a wgpu driver"
)]
fn ranks_without_a_device_named_share_what_there_is() {
    let place = Place::new();
    let output = ring(&place, 2, &["--n", "64"]);
    hash(&output);
}

#[test]
fn a_device_without_double_precision_ends_all_ranks_with_its_reason() {
    let sim = gpubench::backend::by_name("sim").expect("is there").devices().expect("are listed");
    let lacks = |device: &gpubench::gpu::DeviceInfo| device.features.iter().all(|f| f != "f64");
    let index = sim.iter().position(lacks).expect("one lacks it");
    let place = Place::new();
    let device = format!("sim:{index}");
    let output = ring(&place, 2, &["--n", "64", "--precision", "f64", "--device", &device]);
    assert_ne!(output.status.code(), Some(0));
    let stderr = text(&output.stderr);
    assert!(stderr.contains("needs `f64`, which the device does not offer"), "{stderr}");
}

#[test]
fn ranks_that_do_not_divide_n_are_reported_once() {
    let place = Place::new();
    let output = ring(&place, 3, &["--n", "256", "--device", SIM]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert_eq!(
        stderr.matches("3 ranks do not divide n = 256: take 255 or 258").count(),
        1,
        "{stderr}"
    );
}

#[test]
fn two_jobs_do_not_measure_one_device_at_once() {
    let place = Place::new();
    let work = |what: &str, more: &[&str]| {
        over(&place, 2, what, &[&["--n", "16", "--device", SIM], more].concat())
    };
    hash(&work("ring", &[]));
    // What the first job locked, another has.
    let files = std::fs::read_dir(place.folder.path().join("tmp")).unwrap().flatten();
    let is_lock = |path: &std::path::PathBuf| path.extension().is_some_and(|end| end == "lock");
    let locks: Vec<_> = files
        .map(|file| file.path())
        .filter(is_lock)
        .map(|path| File::open(path).unwrap())
        .collect();
    assert_eq!(locks.len(), 1, "two ranks share a device");
    locks[0].lock().unwrap();
    for what in ["ring", "halo"] {
        let output = work(what, &[]);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{stderr}");
        assert_eq!(stderr.matches("is being measured by another run").count(), 1, "{stderr}");
        assert_eq!(work(what, &["--no-lock"]).status.code(), Some(0), "{what}");
    }
}

#[test]
fn a_device_that_is_not_there_ends_all_ranks() {
    let place = Place::new();
    let output = ring(&place, 2, &["--n", "64", "--device", "opencl:77"]);
    assert_ne!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains("gpubench: rank"), "{}", text(&output.stderr));
}
