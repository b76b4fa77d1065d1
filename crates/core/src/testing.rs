//! Programs that tests write and run.

use std::path::Path;
use std::process::Command;

/// An executable copy of `from` at `to`. A child writes it: what a thread of this process holds open for writing, the
/// children of its other threads inherit for a moment, and to run the file fails as busy meanwhile.
pub fn install(from: &Path, to: &Path) {
    let status = Command::new("install").args(["-m", "777"]).arg(from).arg(to).status();
    assert!(status.expect("`install` starts").success(), "{} is not writable", to.display());
}

/// The shell's program `script` at `to`.
pub fn script(script: &str, to: &Path) {
    let text = to.with_extension("text");
    std::fs::write(&text, format!("#!/bin/sh\n{script}\n")).expect("the folder is writable");
    install(&text, to);
}
