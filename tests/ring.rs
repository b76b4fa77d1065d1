//! `gpubench ring` and `gpubench halo` where there is no MPI: the default build starts, and says what is missing.
#![cfg(unix)]

use gpubench_core::testing;
use std::path::Path;
use std::process::Command;

/// What `gpubench ring` says, and its exit code, beside a `gpubench-mpi` that is this script.
fn ring(script: Option<&str>) -> (Option<i32>, String) {
    // Beside the binary's own folder, so that a hard link can stand for it.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let link = folder.path().join("gpubench");
    std::fs::hard_link(env!("CARGO_BIN_EXE_gpubench"), &link).expect("a link");
    if let Some(script) = script {
        testing::script(script, &folder.path().join("gpubench-mpi"));
    }
    let output = Command::new(&link).args(["ring", "--n", "64"]).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code(), text + &String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_build_without_mpi_says_how_to_get_one_with_it() {
    let (code, said) = ring(None);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("libopenmpi-dev") && said.contains("--features mpi"), "{said}");
    let halo = Command::new(env!("CARGO_BIN_EXE_gpubench")).args(["halo", "--n", "513"]).output();
    let said = String::from_utf8_lossy(&halo.expect("it starts").stderr).into_owned();
    assert!(said.contains("513 is not in 1..=512"), "{said}");
}

/// What the dynamic linker says and returns where a library is missing.
#[test]
fn a_machine_without_mpi_gets_install_advice() {
    let linker = "echo 'error while loading shared libraries: libmpi.so.40' >&2; exit 127";
    let (code, said) = ring(Some(linker));
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("MPI is missing here; install") && said.contains("openmpi-bin"),
        "{said}"
    );
}

#[test]
fn arguments_and_exit_code_pass_through() {
    let (code, said) = ring(Some("echo \"got $*\"; exit 4"));
    assert_eq!(code, Some(4));
    assert!(said.contains("got ring --n 64"), "{said}");
    let missing = Path::new(env!("CARGO_BIN_EXE_gpubench"));
    let wrong = Command::new(missing).args(["ring", "--n", "0"]).output().expect("it starts");
    let said = String::from_utf8_lossy(&wrong.stderr);
    assert_eq!(wrong.status.code(), Some(2), "a matrix has a row");
    assert!(said.contains("0 is not in 1..=8192"), "{said}");
}
