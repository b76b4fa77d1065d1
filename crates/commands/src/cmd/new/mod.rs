//! `gpubench new`: a suite for a kernel that exists, with questions where only its author knows.

mod write;

use super::compile::{located, without_log};
use super::show::print;
use crate::worker;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Constant, KernelSource, Language, Origin, Settings, Signature};
use gpubench_core::record::Outcome;
use gpubench_core::text::counted;
use gpubench_report::progress::say;
use gpubench_suite::{NAME_RULE, is_name, read_kernel, wgsl_signatures};
use std::path::{Path, PathBuf};

/// Arguments of `gpubench new`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A file in OpenCL C (`.cl`) or WGSL (`.wgsl`)
    kernel: PathBuf,
    /// The suite to write, in a folder that holds the kernel (default: next to the kernel); `-` is stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// A constant without which the kernel does not compile: a whole number
    #[arg(long = "constant", short = 'D', value_name = "NAME=NUMBER", value_parser = constant)]
    constants: Vec<(String, i64)>,
}

fn constant(text: &str) -> Result<(String, i64), String> {
    let wrong = || "expected a name and a whole number, such as TILE=16".to_owned();
    let (name, number) = text.split_once('=').ok_or_else(wrong)?;
    let number: i32 = number.parse().map_err(|_| wrong())?;
    is_name(name).then(|| (name.to_owned(), i64::from(number))).ok_or_else(wrong)
}

/// Runs the command.
///
/// # Errors
/// `Usage` where the file is no kernel or the suite is there already, `Suite` with what the compiler says,
/// `NoDevice` where no OpenCL driver can read OpenCL C.
pub fn run(args: Args) -> Result<()> {
    let Args { kernel, output, constants } = args;
    let language = language(&kernel)?;
    let stdout = output.as_deref() == Some(Path::new("-"));
    let suite = match output {
        Some(path) if !stdout => path,
        _ => kernel.with_extension("yaml"),
    };
    let inner = if stdout { file_name(&kernel) } else { within(&kernel, &suite)? };
    if !stdout && suite.exists() {
        let suite = suite.display();
        return Err(Error::Usage(format!("{suite} is there already (`--output` names another)")));
    }
    let signatures = signatures(&kernel, language, &constants)?;
    let name = suite.file_stem().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let kernel = write::Written { name: &name, file: &inner, language, constants: &constants };
    let text = write::suite(&kernel, &signatures);
    if stdout {
        return print(&text);
    }
    std::fs::write(&suite, &text).map_err(|error| Error::io(&suite, error))?;
    let suite = suite.display();
    say(&format!(
        "{suite}: {} with {}; answer them, then `gpubench check {suite}`",
        counted(signatures.len(), "workload"),
        counted(text.matches("\"? ").count(), "question")
    ));
    Ok(())
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The kernel as a suite at `suite` names it.
fn within(kernel: &Path, suite: &Path) -> Result<String> {
    let folder = suite.parent().filter(|folder| !folder.as_os_str().is_empty());
    let real = |path: &Path| path.canonicalize().map_err(|error| Error::io(path, error));
    let (folder, kernel) = (real(folder.unwrap_or(Path::new(".")))?, real(kernel)?);
    let Ok(inner) = kernel.strip_prefix(&folder) else {
        let folder = folder.display();
        return Err(Error::Usage(format!(
            "the kernel does not lie in the suite's folder {folder}"
        )));
    };
    let parts: Vec<_> = inner.iter().map(|part| part.to_string_lossy()).collect();
    Ok(parts.join("/"))
}

/// What a file's name says it is written in.
fn language(file: &Path) -> Result<Language> {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("cl") => Ok(Language::Opencl),
        Some("wgsl") => Ok(Language::Wgsl),
        _ => {
            let file = file.display();
            Err(Error::Usage(format!("{file}: a kernel's file ends in .cl or .wgsl")))
        }
    }
}

/// What the kernel's compiler reports: the first OpenCL driver's, in a process of its own; naga's for WGSL.
fn signatures(
    file: &Path,
    language: Language,
    constants: &[(String, i64)],
) -> Result<Vec<Signature>> {
    let (text, expanded) = read_kernel(file, language)?;
    let source = KernelSource {
        origin: Origin::User(file.to_string_lossy().into_owned()),
        group: [64, 1, 1],
        constants: constants.iter().map(|(n, x)| (n.clone(), Constant::Int(*x))).collect(),
        settings: Settings { expanded, ..Settings::default() },
        ..KernelSource::new(language, "", text)
    };
    let found = match language {
        Language::Wgsl => wgsl_signatures(&source)?,
        Language::Opencl => match worker::signatures("opencl", &source) {
            Ok(Some(found)) => found,
            Ok(None) => return Err(Error::NoDevice),
            Err(outcome) => return Err(failure(&source, outcome)),
        },
    };
    if found.is_empty() {
        return Err(Error::Usage(format!("{}: there is no kernel in it", file.display())));
    }
    if let Some(found) = found.iter().find(|found| !is_name(&found.entry)) {
        return Err(Error::Usage(format!(
            "{}: suites cannot name the kernel `{}`: {NAME_RULE}",
            file.display(),
            found.entry
        )));
    }
    Ok(found)
}

/// What a compiler's failure is here: mistakes at their places, where it names any.
fn failure(source: &KernelSource, outcome: Outcome) -> Error {
    let file = source.origin.file();
    let log = match outcome {
        Outcome::BuildError(log) => log,
        other => return Error::Device(format!("compiling {file}: {}", without_log(other))),
    };
    let text = source.text.as_str().into();
    let found: Vec<_> = log.lines().filter_map(|line| located(line, file, &text)).collect();
    match found.is_empty() {
        true => Error::Usage(format!("{file} does not compile:\n{log}")),
        false => Error::Suite(found),
    }
}
