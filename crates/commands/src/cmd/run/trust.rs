//! Whether a suite's own kernels may run here.

use crate::store::trust;
use gpubench_core::error::{Error, Result};
use gpubench_core::text::listed;
use gpubench_report::progress::say;
use gpubench_suite::{Suite, Workload};
use std::collections::BTreeSet;

/// At most this many of a suite's programs are named.
const NAMED: usize = 4;

/// Goes on where the suite brings no kernel and no command of its own, or the user trusts it: now, or before and
/// not one of its files has changed since. Whether there is something that the user trusts.
///
/// # Errors
/// `Suite` where the user has not said so.
pub fn ask(suite: &Suite, trusted_now: bool) -> Result<bool> {
    let Some(first) = suite.untrusted().next() else { return Ok(false) };
    if trust::is_trusted(&suite.hash) {
        return Ok(true);
    }
    if !trusted_now {
        let message = format!(
            "the suite's own programs would run on your drivers or as you: {}",
            files(suite)
        );
        let help = "read them; if you trust them, run with --trust (asked again when they change)";
        return Err(Error::Suite(vec![first.place.diagnostic(message, Some(help))]));
    }
    match trust::remember(&suite.hash, &suite.name) {
        Ok(file) => say(&format!("suite {} is trusted: noted in {}", suite.name, file.display())),
        Err(error) => say(&format!("suite {} is trusted for this run: {error}", suite.name)),
    }
    Ok(true)
}

fn files(suite: &Suite) -> String {
    let files: BTreeSet<String> = suite.untrusted().flat_map(Workload::programs).collect();
    listed(files, NAMED)
}
