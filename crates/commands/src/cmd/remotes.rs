//! Arguments that name other machines.

use crate::store::known_host;
use crate::worker::{Remotes, Route};
use gpubench_core::error::{Error, Result};
use gpubench_core::text::printable;
use std::path::PathBuf;

/// What is longer is cut in a name: no command that somebody types.
const LONGEST_NAME: usize = 400;

/// Which machines' devices to use: this one's, where nothing is said.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct RemoteArgs {
    /// Use the devices behind a command that leads to another machine, or to one of the hosts file
    /// (`--on 'ssh board'`; repeat for more)
    #[arg(long, value_name = "COMMAND")]
    on: Vec<String>,
    /// Send this gpubench to those machines that have another, or none
    #[arg(long, value_name = "FILE", requires = "on")]
    push: Option<PathBuf>,
}

impl RemoteArgs {
    /// Gets to all of them.
    ///
    /// # Errors
    /// `Usage` where a command is none, or no gpubench of this version answers behind it.
    pub fn connect(&self) -> Result<Remotes> {
        let routes = self.on.iter().map(|on| route(on)).collect::<Result<Vec<_>>>()?;
        Remotes::connect(&routes, self.push.as_deref())
    }

    /// As it was written, for a command that is to be repeated.
    pub fn written(&self) -> String {
        self.on.iter().map(|on| format!(" --on '{}'", printable(on, 200))).collect()
    }
}

/// The way to what `--on` names.
fn route(on: &str) -> Result<Route> {
    let (command, binary) = match known_host(on)? {
        Some(host) => (host.command, host.binary),
        None => (on.to_owned(), None),
    };
    let wrong = |why| Error::Usage(format!("--on {}: {why}", printable(on, 80)));
    let command = split(&command).map_err(wrong)?;
    Ok(Route { name: printable(on.trim(), LONGEST_NAME), command, binary })
}

/// The words of a command, as a shell splits them: by blanks, but for what is quoted.
fn split(text: &str) -> Result<Vec<String>, &'static str> {
    let mut parts: Vec<String> = vec![];
    let mut part: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => parts.extend(part.take()),
            '\'' | '"' => {
                let part = part.get_or_insert_default();
                loop {
                    match chars.next().ok_or("a quote that does not end")? {
                        end if end == c => break,
                        '\\' if c == '"' => part.push(chars.next().ok_or("it ends in `\\`")?),
                        other => part.push(other),
                    }
                }
            }
            '\\' => part.get_or_insert_default().push(chars.next().ok_or("it ends in `\\`")?),
            other => part.get_or_insert_default().push(other),
        }
    }
    parts.extend(part);
    if parts.is_empty() { Err("a command has words") } else { Ok(parts) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_as_a_shell_does() {
        let parts = |text| split(text).unwrap();
        assert_eq!(parts(" ssh  -p 22 board "), ["ssh", "-p", "22", "board"]);
        assert_eq!(parts(r#"sh -c 'exec "$@"' sh"#), ["sh", "-c", r#"exec "$@""#, "sh"]);
        assert_eq!(parts(r#"a"b c"'d e'\ f '' "\"""#), ["ab cd e f", "", "\""]);
        for bad in ["", "  ", "'a", "\"a\\", "a\\"] {
            assert!(split(bad).is_err(), "{bad}");
        }
    }
}
