//! The OpenCL C of a suite's own kernels, compiled by a driver of this machine. As in a run a worker
//! does it: a compiler may crash.

use super::found::describe;
use crate::worker::{WorkerSupervisor, devices};
use gpubench_core::error::{Error, Located, Result};
use gpubench_core::gpu::{Language, Origin};
use gpubench_core::record::Outcome;
use gpubench_core::text::counted;
use gpubench_device::sim::Sim;
use gpubench_experiments::plan::{Case, Limits, Planned};
use gpubench_experiments::{Policy, plan};
use gpubench_suite::{KernelText, Suite, Workload, Written};
use std::sync::Arc;

/// Planned as for a run without a budget.
const LIMITS: Limits = Limits::unbounded(0, 1);

/// Compiles the OpenCL C that came with `suite`, and says in a clause what became of it; nothing where
/// there is none.
///
/// # Errors
/// `Suite` with every kernel that does not compile.
pub fn compile(suite: &Suite) -> Result<Option<String>> {
    let own: Vec<_> = suite.workloads.iter().filter_map(|w| Some((w, own_text(w)?))).collect();
    if own.is_empty() {
        return Ok(None);
    }
    let device = match devices("opencl") {
        Ok(found) => found.into_iter().next(),
        Err(outcome) => {
            return Ok(Some(format!("OpenCL C not compiled: {}", describe(outcome))));
        }
    };
    let Some(device) = device else {
        return Ok(Some("OpenCL C not compiled: no OpenCL driver here".into()));
    };
    let planned = plan(suite, &device, &LIMITS).into_iter().filter_map(Planned::case);
    let cases: Vec<Case> = planned.filter(|case| !case.candidates.is_empty()).collect();
    let mut supervisor = WorkerSupervisor::new(device, Sim::default(), None);
    let (mut compiled, mut wrong) = (0, vec![]);
    for (workload, text) in &own {
        // A workload that this device cannot run is compiled elsewhere.
        let Some(case) = cases.iter().find(|case| case.key.workload == workload.name) else {
            continue;
        };
        match supervisor.build(case, &Policy::default()) {
            Ok(()) => compiled += 1,
            Err(Outcome::Unsupported(_)) => {}
            Err(outcome) => wrong.extend(mistakes(workload, text, outcome)),
        }
    }
    let name = supervisor.device().name.clone();
    supervisor.leave();
    if !wrong.is_empty() {
        return Err(Error::Suite(wrong));
    }
    let kernels = format!("{} of {}", compiled, counted(own.len(), "OpenCL C kernel"));
    Ok(Some(format!("{kernels} compiled by {name}")))
}

/// The OpenCL C that came with the suite, where the workload has any.
fn own_text(workload: &Workload) -> Option<&KernelText> {
    let text = workload.kernel.as_ref()?.text(Language::Opencl)?;
    let own = matches!(text.origin, Origin::User(_)) && text.written == Written::Plain;
    own.then_some(text)
}

/// What is wrong, at the kernel's lines where the compiler names any, else at the workload.
fn mistakes(workload: &Workload, text: &KernelText, outcome: Outcome) -> Vec<Located> {
    let log = match outcome {
        Outcome::BuildError(log) => log,
        other => {
            let message = format!("compiling its OpenCL C: {}", without_log(other));
            return vec![workload.place.diagnostic(message, None)];
        }
    };
    let (file, suite) = (text.origin.file(), &workload.place);
    let place =
        |line| located(line, file, &text.text).or_else(|| located(line, &suite.file, &suite.text));
    let mut found: Vec<Located> = vec![];
    for line in log.lines() {
        match (place(line), found.last_mut()) {
            (Some(mistake), _) => found.push(mistake),
            // Lists of arguments stand behind what is wrong with them.
            (None, Some(last)) if line.starts_with("  the ") => {
                let help = last.help.take().map_or(String::new(), |help| help + "\n");
                last.help = Some(help + line.trim());
            }
            _ => {}
        }
    }
    if found.is_empty() {
        let message = "its OpenCL C does not compile";
        return vec![workload.place.diagnostic(message, Some(&log))];
    }
    found
}

/// The result of a compiler that left no log.
pub(super) fn without_log(outcome: Outcome) -> String {
    match outcome {
        Outcome::Crash { how, .. } => format!("the compiler crashed: {how}"),
        other => describe(other),
    }
}

/// `… FILE:LINE:COLUMN: … error: …`, as compilers made with Clang write it.
pub(super) fn located(line: &str, file: &str, text: &Arc<str>) -> Option<Located> {
    let (before, rest) = line.split_once(&format!("{file}:"))?;
    if !line.contains("error") {
        return None;
    }
    let mut parts = rest.splitn(3, ':');
    let mut number = || parts.next()?.parse::<usize>().ok()?.checked_sub(1);
    let (row, column) = (number()?, number()?);
    let message = parts.next()?.trim();
    let message = message.strip_prefix("fatal ").unwrap_or(message);
    let message = message.strip_prefix("error:").unwrap_or(message).trim();
    let start: usize = text.split_inclusive('\n').take(row).map(str::len).sum();
    let width = text[start..].lines().next().map_or(0, str::len);
    let message = if message.is_empty() { before } else { message };
    let offset = start + column.min(width);
    Some(Located::at(file, text.clone(), offset..offset, message, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compilers_lines_become_places() {
        let text: Arc<str> = "kernel void f() {\n    int x = y;\n}\n".into();
        let found = |line: &str| {
            let found = located(line, "my f.cl", &text)?;
            Some((found.line_column(), found.message))
        };
        let undeclared = Some(((2, 13), "use of undeclared identifier 'y'".to_owned()));
        assert_eq!(found("my f.cl:2:13: error: use of undeclared identifier 'y'"), undeclared);
        assert_eq!(found("error: my f.cl:2:13: use of undeclared identifier 'y'"), undeclared);
        assert_eq!(found("my f.cl:2:13: warning: unused variable"), None);
        assert_eq!(found("other.cl:2:13: error: x"), None);
        // A line behind the end is shown at the end.
        assert_eq!(found("my f.cl:9:9: error: x").map(|(at, _)| at), Some((4, 1)));
    }
}
