//! Expected results in arrays of NumPy: from files, or from a command of the user's.

use super::expected::{Expected, written};
use crate::plan::{BufferPlan, Case};
use gpubench_core::error::{Error, Result};
use gpubench_core::npy;
use gpubench_core::text::{printable, read_bytes};
use gpubench_core::workload::Command;
use gpubench_device::ends_with_this_process;
use gpubench_reference::Data;
use process_wrap::std::{ChildWrapper, CommandWrap};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How often it is looked whether a command has ended.
const POLL: Duration = Duration::from_millis(10);
/// Bytes by which an array's file may be too long, so that its shape is what a message names.
const SLACK: u64 = 1 << 20;
/// Characters of what a command says last that a message shows.
const LAST_WORDS: usize = 400;

/// The arrays of every written buffer, from their files.
///
/// # Errors
/// `Usage` where a file holds something else, `Io` where it cannot be read.
pub(super) fn read(files: &[(String, PathBuf)], case: &Case) -> Result<Expected> {
    let of = |(position, buffer): (usize, &BufferPlan)| {
        let file = files.iter().find(|(name, _)| *name == buffer.name);
        let missing = || Error::Usage(format!("there is no file for buffer `{}`", buffer.name));
        let (_, path) = file.ok_or_else(missing)?;
        let bytes = fs::read(path).map_err(|error| Error::io(path, error))?;
        let data = array(&bytes, buffer);
        let data = data.map_err(|why| Error::Usage(format!("{}: {why}", path.display())))?;
        Ok((position, data))
    };
    written(case).map(of).collect()
}

fn array(file: &[u8], buffer: &BufferPlan) -> Result<Data, String> {
    let scalars = buffer.count * u64::from(buffer.element.width);
    let numbers = npy::numbers(file, buffer.element.scalar, scalars)?;
    Ok(Data::from_bytes(buffer.element.scalar, numbers))
}

/// What a command makes of the inputs of `case`; `numbers` are its sizes, constants and parameters. What they
/// exchange lies in `scratch`, which outlives this process where it is killed.
///
/// # Errors
/// `Usage` where it fails, takes too long, or writes something else than every written buffer: each
/// names the line of the suite.
pub(super) fn command(
    command: &Command,
    case: &Case,
    numbers: &[(String, f64)],
    initial: &[Data],
    scratch: &Path,
) -> Result<Expected> {
    let folder = tempfile::tempdir_in(scratch).map_err(|error| Error::io(scratch, error))?;
    let [inputs, outputs] = ["inputs", "outputs"].map(|name| folder.path().join(name));
    for folder in [&inputs, &outputs] {
        fs::create_dir(folder).map_err(|error| Error::io(folder, error))?;
    }
    write_inputs(&inputs, case, numbers, initial)?;
    let errors = folder.path().join("stderr");
    let wrong = |why: String| {
        let words = command.words.join(" ");
        Error::Usage(format!("{}: the command `{words}` {why}", command.place))
    };
    let status = run(command, [&inputs, &outputs], &errors).map_err(wrong)?;
    if !status.success() {
        return Err(wrong(format!("failed ({status}): {}", last_words(&errors))));
    }
    let of = |(position, buffer): (usize, &BufferPlan)| {
        let name = format!("{}.npy", buffer.name);
        let bytes = read_bytes(&outputs.join(&name), buffer.bytes().0.saturating_add(SLACK))
            .map_err(|why| wrong(format!("wrote no `{name}` that can be read: {why}")))?;
        let data = array(&bytes, buffer).map_err(|why| wrong(format!("wrote `{name}`: {why}")))?;
        Ok((position, data))
    };
    written(case).map(of).collect()
}

/// Every buffer that is filled, and the numbers.
fn write_inputs(
    folder: &Path,
    case: &Case,
    numbers: &[(String, f64)],
    initial: &[Data],
) -> Result<()> {
    let write = |name: String, bytes: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, bytes).map_err(|error| Error::io(path, error))
    };
    for (buffer, data) in case.buffers.iter().zip(initial).filter(|(b, _)| b.fill.is_some()) {
        let width = u64::from(buffer.element.width);
        let shape = if width == 1 { vec![buffer.count] } else { vec![buffer.count, width] };
        let file = npy::file(buffer.element.scalar, &shape, data.as_bytes());
        write(format!("{}.npy", buffer.name), &file)?;
    }
    let numbers: serde_json::Map<_, _> =
        numbers.iter().map(|(name, value)| (name.clone(), (*value).into())).collect();
    write("numbers.json".into(), &serde_json::to_vec(&numbers).unwrap_or_default())
}

/// Runs the command within its time; nothing of it reaches this process's own streams.
fn run(command: &Command, folders: [&Path; 2], errors: &Path) -> Result<ExitStatus, String> {
    let Some((program, arguments)) = command.words.split_first() else {
        return Err("has no words".into());
    };
    let stderr = File::create(errors).map_err(|error| error.to_string())?;
    let mut started = std::process::Command::new(program);
    started.args(arguments).args(folders).current_dir(&command.folder);
    started.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
    ends_with_this_process(&mut started);
    let mut child = in_a_group_of_its_own(started)
        .spawn()
        .map_err(|error| format!("cannot be started: {error}"))?;
    let status = ended(child.as_mut(), Duration::from_secs_f64(command.seconds));
    // What it started and left behind ends as well, and is waited for.
    let _ = child.start_kill().and_then(|()| child.wait());
    match status {
        Ok(Some(status)) => Ok(status),
        Ok(None) => Err(format!("did not end within {} s (`seconds`)", command.seconds)),
        Err(error) => Err(error.to_string()),
    }
}

/// The command as the first of a process group (on Windows, a job), which is killed as one.
fn in_a_group_of_its_own(command: std::process::Command) -> CommandWrap {
    let mut command = CommandWrap::from(command);
    #[cfg(unix)]
    command.wrap(process_wrap::std::ProcessGroup::leader());
    #[cfg(windows)]
    command.wrap(process_wrap::std::JobObject);
    command
}

/// How it ended; `None` where it had not after `limit`.
fn ended(child: &mut dyn ChildWrapper, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    loop {
        match child.try_wait()? {
            Some(status) => return Ok(Some(status)),
            None if begun.elapsed() >= limit => return Ok(None),
            None => std::thread::sleep(POLL),
        }
    }
}

/// The end of what it said.
fn last_words(errors: &Path) -> String {
    let text = fs::read(errors).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let last = text.trim().lines().last().unwrap_or("it said nothing");
    printable(last, LAST_WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::case::sample;
    use gpubench_core::workload::Fill;

    /// A case of four numbers in and out.
    fn case() -> Case {
        let mut case = sample::case("compute", "mine", 4);
        let input = BufferPlan {
            name: "x".into(),
            fill: Some(Fill::Index),
            access: gpubench_core::gpu::Access::Read,
            ..case.buffers[0].clone()
        };
        case.buffers.push(input);
        case
    }

    fn answer(script: &str, seconds: f64) -> Result<Expected, String> {
        answer_in(script, seconds, &std::env::temp_dir())
    }

    fn answer_in(script: &str, seconds: f64, scratch: &Path) -> Result<Expected, String> {
        let words = ["sh", "-c", script, "sh"].map(str::to_owned).to_vec();
        let folder = std::env::temp_dir();
        let place = "my.yaml:7".to_owned();
        let asked = Command { words, folder, seconds, place };
        let initial = [Data::F32(vec![0.0; 4]), Data::F32(vec![0.0, 1.0, 2.0, 3.0])];
        let numbers = [("n".to_owned(), 4.0)];
        command(&asked, &case(), &numbers, &initial, scratch).map_err(|error| error.to_string())
    }

    #[test]
    #[cfg(unix)]
    fn a_command_reads_the_inputs_and_writes_what_is_expected() {
        let script = r#"grep -q '"n":4.0' "$1/numbers.json" && cp "$1/x.npy" "$2/out.npy""#;
        let expected = answer(script, 10.0).unwrap();
        assert_eq!(expected, [(0, Data::F32(vec![0.0, 1.0, 2.0, 3.0]))]);
    }

    /// A killed worker takes nothing away; the run does.
    #[test]
    #[cfg(unix)]
    fn what_a_command_is_given_lies_where_the_run_takes_it_away() {
        let scratch = tempfile::tempdir().unwrap();
        let within = scratch.path().display();
        let script =
            format!(r#"case "$1$2" in {within}/*{within}/*) cp "$1/x.npy" "$2/out.npy";; esac"#);
        assert_eq!(answer_in(&script, 10.0, scratch.path()).unwrap().len(), 1);
    }

    #[test]
    #[cfg(unix)]
    fn a_command_that_goes_wrong_is_named_with_its_line() {
        for (script, words) in [
            ("echo no numpy >&2; exit 3", &["failed", "3", "no numpy"][..]),
            ("true", &["wrote no `out.npy`"]),
            ("echo hello > \"$2/out.npy\"", &["wrote `out.npy`", "no `.npy` file"]),
            ("mkfifo \"$2/out.npy\"", &["wrote no `out.npy`", "a pipe or a device"]),
            ("ln -s /dev/zero \"$2/out.npy\"", &["wrote no `out.npy`", "a pipe or a device"]),
            ("head -c 9000000 /dev/zero > \"$2/out.npy\"", &["the file is larger than 1 MiB"]),
            ("sleep 60", &["did not end within 0.2 s"]),
            ("kill -9 $$", &["failed", "signal: 9"]),
        ] {
            let why = answer(script, if script == "sleep 60" { 0.2 } else { 10.0 }).unwrap_err();
            assert!(why.starts_with("my.yaml:7: the command `sh"), "{why}");
            assert!(words.iter().all(|word| why.contains(word)), "{script}: {why}");
        }
    }

    /// What a command started in the background ends with it, whether it is too slow or done.
    #[test]
    #[cfg(target_os = "linux")]
    fn nothing_of_a_command_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        for (rest, seconds) in [("wait", 0.5), ("exit 3", 10.0)] {
            let script = format!("sleep 61 & echo $! > {}; {rest}", file.display());
            answer(&script, seconds).unwrap_err();
            let process = format!("/proc/{}", fs::read_to_string(&file).unwrap().trim());
            let state = || fs::read_to_string(format!("{process}/stat")).unwrap_or_default();
            let begun = Instant::now();
            // The system takes a moment to end it; a zombie has ended.
            while Path::new(&process).exists() && !state().contains(") Z ") {
                assert!(begun.elapsed() < Duration::from_secs(5), "{rest}: {}", state());
                std::thread::sleep(POLL);
            }
        }
    }

    #[test]
    fn files_hold_the_written_buffers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.npy");
        let files = [("out".to_owned(), path.clone())];
        let data = Data::F32(vec![1.0, 2.0, 3.0, 4.0]);
        let write = |scalar, shape: &[u64]| {
            fs::write(&path, npy::file(scalar, shape, data.as_bytes())).unwrap();
        };
        write(gpubench_core::gpu::Scalar::F32, &[2, 2]);
        assert_eq!(read(&files, &case()).unwrap(), [(0, data.clone())]);
        write(gpubench_core::gpu::Scalar::I32, &[4]);
        let why = read(&files, &case()).unwrap_err().to_string();
        assert!(why.contains("out.npy") && why.contains("np.float32"), "{why}");
    }
}
