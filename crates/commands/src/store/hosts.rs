//! The hosts file: names for the machines of a desk.

use gpubench_core::error::{Error, Result};
use gpubench_core::text::parsed;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The largest hosts file.
const MAX_BYTES: u64 = 1 << 20;

/// A machine of the hosts file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownHost {
    /// The command that leads there.
    pub command: String,
    /// The gpubench there, where it is not in the `PATH`.
    #[serde(default)]
    pub binary: Option<String>,
    /// Seconds without a byte after which the link counts as lost.
    #[serde(default)]
    pub silence: Option<f64>,
}

/// The machines of `gpubench/hosts.yaml` in the user's settings, by name; none where there is no such file.
///
/// # Errors
/// `Suite` with the place of a mistake in the file, `Usage` where it cannot be read.
pub fn known_hosts() -> Result<BTreeMap<String, KnownHost>> {
    match super::settings::file("hosts.yaml") {
        Some(file) if file.exists() => hosts(&file),
        _ => Ok(BTreeMap::new()),
    }
}

fn hosts(file: &Path) -> Result<BTreeMap<String, KnownHost>> {
    let located = |mistake| Error::Suite(vec![mistake]);
    parsed(file, MAX_BYTES, |file, text| gpubench_core::yaml::parse(file, text).map_err(located))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_have_a_command_and_perhaps_a_binary() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hosts.yaml");
        let text = "board: { command: ssh board }\n\
                    phone:\n  command: adb -s X shell\n  binary: /data/local/tmp/gpubench\n  silence: 60\n";
        std::fs::write(&file, text).unwrap();
        let mut found = hosts(&file).unwrap();
        let binary = Some("/data/local/tmp/gpubench".to_owned());
        assert_eq!(
            found.remove("phone"),
            Some(KnownHost { command: "adb -s X shell".into(), binary, silence: Some(60.0) })
        );
        assert_eq!(
            found.remove("board"),
            Some(KnownHost { command: "ssh board".into(), binary: None, silence: None })
        );
        std::fs::write(&file, "board: { comand: ssh board }\n").unwrap();
        let Err(Error::Suite(mistakes)) = hosts(&file) else { panic!("a mistake") };
        assert!(mistakes[0].to_string().contains("comand"), "{}", mistakes[0]);
    }
}
