//! Arguments that name other machines.

use crate::store::{KnownHost, known_hosts};
use crate::worker::{Remotes, Route, SILENCE, SILENCES};
use gpubench_core::error::{Error, Result};
use gpubench_core::text::printable;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// What is longer is cut in a name: no command that somebody types.
const LONGEST_NAME: usize = 400;

/// Which machines' devices to use: this one's, where nothing is said.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct RemoteArgs {
    /// Use the devices behind a command that leads to another machine, or to one of the hosts file
    /// (`--on 'ssh board'`; repeat for more)
    #[arg(long, value_name = "COMMAND")]
    on: Vec<String>,
    /// Send this gpubench to those machines where it does not lie yet
    #[arg(long, value_name = "FILE", requires = "on")]
    push: Option<PathBuf>,
}

impl RemoteArgs {
    /// Gets to all of them.
    ///
    /// # Errors
    /// `Usage` where a command is none, or no gpubench of this version answers behind it.
    pub fn connect(&self) -> Result<Remotes> {
        let known = if self.on.is_empty() { BTreeMap::new() } else { known_hosts()? };
        let routes = self.on.iter().map(|on| route(on, &known)).collect::<Result<Vec<_>>>()?;
        Remotes::connect(&routes, self.push.as_deref())
    }

    /// As it was written, for a command that is to be repeated.
    pub fn written(&self) -> String {
        let on = self.on.iter().map(|on| format!(" --on {}", quoted(on)));
        let push = self.push.iter().map(|file| {
            let file = file.display().to_string();
            format!(" --push {}", quoted(&file))
        });
        on.chain(push).collect()
    }
}

/// A text as one word of a shell's.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The names of the hosts file, where a single word is none of them.
fn other_names(on: &str, known: &BTreeMap<String, KnownHost>) -> Vec<String> {
    if on.contains(char::is_whitespace) || known.contains_key(on) {
        return vec![];
    }
    known.keys().map(|name| printable(name, LONGEST_NAME)).collect()
}

/// The way to what `--on` names.
fn route(on: &str, known: &BTreeMap<String, KnownHost>) -> Result<Route> {
    let other_names = other_names(on, known);
    let unknown = || KnownHost { command: on.to_owned(), ..KnownHost::default() };
    let known = known.get(on).cloned().unwrap_or_else(unknown);
    let wrong = |why: &str| Error::Usage(format!("--on {}: {why}", printable(on, 80)));
    let command = split(&known.command).map_err(wrong)?;
    if known.silence.is_some_and(|seconds| !SILENCES.contains(&seconds)) {
        let (shortest, longest) = (SILENCES.start(), SILENCES.end());
        return Err(wrong(&format!("`silence` is {shortest} to {longest} seconds")));
    }
    let silence = known.silence.map_or(SILENCE, Duration::from_secs_f64);
    let name = printable(on.trim(), LONGEST_NAME);
    Ok(Route { name, command, binary: known.binary, silence, other_names })
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
    fn a_mistyped_name_shows_those_of_the_hosts_file() {
        let host = KnownHost { command: "ssh board".into(), binary: None, silence: None };
        let known = ["left", "right"].map(|name| (name.to_owned(), host.clone())).into();
        let names = |on: &str| route(on, &known).unwrap().other_names;
        assert_eq!(names("rigth"), ["left", "right"]);
        assert!(["left", "ssh board"].iter().all(|on| names(on).is_empty()));
    }

    #[test]
    fn what_is_to_be_repeated_is_split_as_it_was() {
        let on = vec![r#"sh -c 'exec "$@"' sh"#.to_owned(), format!("ssh {}", "x".repeat(300))];
        let args = RemoteArgs { on: on.clone(), push: Some("a file".into()) };
        let parts = split(&args.written()).unwrap();
        assert_eq!(parts, ["--on", &on[0], "--on", &on[1], "--push", "a file"]);
    }

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
