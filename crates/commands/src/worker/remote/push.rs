//! Sending a gpubench to a machine that has none, or another.

use super::super::group::Group;
use super::super::stderr_tail::StderrTail;
use super::link::{Link, NoLink};
use super::message::{Answer, Ask};
use super::route::{Route, SHORT, relay_words};
use gpubench_core::error::{Error, Result};
use gpubench_core::hash::sha256_of;
use gpubench_core::text::printable;
use gpubench_report::progress::say;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// How long sending may take.
const SENDING: Duration = Duration::from_secs(600);
/// How long anything else may take.
const STEP: Duration = Duration::from_secs(60);

/// Has the binary in `file` lie there, and gives its path: that of the route, else one named by its hash in the folder
/// in which the command begins.
///
/// # Errors
/// `Usage` where it does not arrive whole, or does not run there; `Io` where it cannot be read.
pub(super) fn ensure(route: &Route, file: &Path) -> Result<String> {
    let io = |error| Error::io(file, error);
    let hash = File::open(file).and_then(sha256_of).map_err(io)?;
    let binary = match &route.binary {
        // `dd of=~/…` is read as a folder of that name by most shells.
        Some(binary) if binary.contains('~') => {
            return Err(Error::Usage(format!(
                "{}: --push cannot send to `{}`: name the file without `~`, from the folder in which the command begins",
                route.name,
                printable(binary, 80)
            )));
        }
        Some(binary) => plain(binary)?.to_owned(),
        None => format!("./gpubench-{}", &hash[..12]),
    };
    if hash_there(route, &binary).is_ok_and(|found| found == hash) {
        return Ok(binary);
    }
    say(&format!("{}: sending {} to {binary}", route.name, file.display()));
    let part = format!("{binary}.part");
    let failed = |what: &str, why: String| {
        Error::Usage(format!("{}: {what} {binary} there: {why}", route.name))
    };
    // Plain words mean the same to a command that hands them to a shell and to one that does not.
    let steps: [(&[&str], bool, Duration); 3] = [
        (&["dd", "bs=65536", &format!("of={part}")], true, SENDING),
        (&["chmod", "755", &part], false, STEP),
        (&["mv", "-f", &part, &binary], false, STEP),
    ];
    for (words, takes_file, limit) in steps {
        let stdin = match takes_file {
            true => Stdio::from(File::open(file).map_err(io)?),
            false => Stdio::null(),
        };
        step(&route.command, words, stdin, limit).map_err(|why| failed(words[0], why))?;
    }
    match hash_there(route, &binary) {
        Ok(found) if found == hash => Ok(binary),
        Ok(_) => Err(failed("sending", "what arrived has another hash".into())),
        Err(no) => Err(failed("starting", no.why)),
    }
}

/// A path that no shell reads as anything else.
pub(super) fn plain(binary: &str) -> Result<&str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+~".contains(c);
    let other = || {
        let text = printable(binary, 80);
        Error::Usage(format!(
            "the binary `{text}`: letters, digits and / . _ - + ~ only, since a shell may read it"
        ))
    };
    (!binary.is_empty() && binary.chars().all(is_plain)).then_some(binary).ok_or_else(other)
}

/// SHA-256 of the binary that runs there.
fn hash_there(route: &Route, binary: &str) -> Result<String, NoLink> {
    let (mut link, _) = Link::open(&relay_words(route, binary), route.silence)?;
    match link.ask_once(Ask::Hash, "hashing the binary", SHORT) {
        Ok(Answer::Hash(hash)) => Ok(hash),
        Ok(other) => Err(NoLink { why: format!("it answered {other:?}"), code: None }),
        Err(outcome) => Err(NoLink { why: outcome.details().join(" "), code: None }),
    }
}

/// Runs a command there, to its end.
fn step(command: &[String], words: &[&str], stdin: Stdio, limit: Duration) -> Result<(), String> {
    let (program, arguments) = command.split_first().ok_or("the command has no words")?;
    let mut started = Command::new(program);
    started.args(arguments).args(words);
    started.stdin(stdin).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut group = Group::spawn(started).map_err(|error| error.to_string())?;
    let stderr_tail = StderrTail::default();
    let followed = group.stderr().map(|stderr| stderr_tail.follow(stderr));
    let status = group.wait(limit);
    group.kill();
    if let Some(Ok(followed)) = followed {
        followed.settle();
    }
    match status {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(format!("{status}: {}", stderr_tail.lines().join(" | "))),
        None => Err(format!("it took longer than {} s", limit.as_secs())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_a_shell_would_read_otherwise_is_rejected() {
        for good in ["gpubench", "/data/local/tmp/gpubench", "~/bin/gpubench-0.1_a+b"] {
            assert_eq!(plain(good).unwrap(), good);
        }
        for bad in ["", "a b", "a;b", "$HOME/x", "a'b", "a\nb", "ä"] {
            assert!(plain(bad).is_err(), "{bad}");
        }
    }
}
