//! Records which commit the binary was built from, so that every result names it.
use std::path::Path;
use std::process::Command;

fn main() {
    // The second grows with every commit. Without a repository nothing changes.
    let repository = ["HEAD", "logs/HEAD"].map(|part| git(&["rev-parse", "--git-path", part]));
    println!("cargo:rerun-if-changed=build.rs");
    for path in repository.iter().flatten().filter(|path| Path::new(path).exists()) {
        println!("cargo:rerun-if-changed={path}");
    }
    let commit = git(&["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]);
    println!("cargo:rustc-env=GPUBENCH_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
}

/// What git answers, where there is a repository.
fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok().filter(|o| o.status.success())?;
    String::from_utf8(output.stdout).ok().map(|text| text.trim().to_owned())
}
