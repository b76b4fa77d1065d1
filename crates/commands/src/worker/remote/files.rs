//! Files that a request names, on their way to another machine and back.

use super::super::protocol::Request;
use super::link::Link;
use super::message::{Answer, Ask, CHUNK};
use super::route::{SHORT, State};
use gpubench_core::error::Error;
use gpubench_core::gpu::Access;
use gpubench_core::hash::{from_hex, hex, sha256_of};
use gpubench_core::record::Outcome;
use gpubench_core::workload::Verify;
use gpubench_experiments::Policy;
use gpubench_experiments::plan::Case;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// What is called so lies in the relay's own folder.
pub(super) const RESULT: &str = "result";
/// What is asked for so lies where the relay saves states.
const DISK: &str = "disk";

/// What a request computes there, and is fetched.
#[derive(Debug)]
pub(super) struct Awaited {
    file: PathBuf,
    /// Its length.
    bytes: u64,
}

/// `request` as the relay understands it, its files sent; and what is to be fetched after.
pub(super) fn prepared(
    link: &mut Link,
    state: &mut State,
    request: &Request,
) -> Result<(Request, Option<Awaited>), Outcome> {
    let mut request = request.clone();
    let mut result = None;
    let (cases, policy) = parts(&mut request);
    for file in cases.into_iter().flat_map(files) {
        let hash = send(link, state, file)?;
        *file = hash.into();
    }
    if let Some(policy) = policy {
        (policy.cache, policy.disk) = (None, policy.disk.as_ref().map(|_| DISK.into()));
    }
    if let Request::Compute { file, case } = &mut request {
        let bytes = written(case);
        result = Some(Awaited { file: std::mem::replace(file, RESULT.into()), bytes });
    }
    Ok((request, result))
}

/// `request` as a worker of the relay understands it: what it names lies in `folder`, states in what `disk` makes.
///
/// # Errors
/// That it names something else.
pub(super) fn received(
    mut request: Request,
    folder: &Path,
    disk: impl FnOnce() -> PathBuf,
) -> Result<Request, Outcome> {
    let (cases, policy) = parts(&mut request);
    for file in cases.into_iter().flat_map(files) {
        let name = file.to_str().filter(|name| is_hash(name));
        let other = || Outcome::Failed("a file that was not sent".into());
        *file = folder.join(name.ok_or_else(other)?);
    }
    if let Some(policy) = policy {
        policy.cache = Some(folder.to_owned());
        policy.disk = policy.disk.take().map(|_| disk());
    }
    if let Request::Compute { file, .. } = &mut request {
        *file = folder.join(RESULT);
    }
    Ok(request)
}

/// Whether a name is a SHA-256, and so leads nowhere.
pub(super) fn is_hash(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// The cases of a request, and how they are measured.
fn parts(request: &mut Request) -> (Vec<&mut Case>, Option<&mut Policy>) {
    match request {
        Request::Measure { case, policy, .. } => (vec![case], Some(policy)),
        Request::MultiDevice { cases, policy } => (cases.iter_mut().collect(), Some(policy)),
        Request::Build { case } | Request::Compute { case, .. } | Request::Iterate { case, .. } => {
            (vec![case], None)
        }
        Request::Signatures { .. } => (vec![], None),
    }
}

/// Bytes of what a case writes.
fn written(case: &Case) -> u64 {
    let outputs = case.buffers.iter().filter(|buffer| buffer.access != Access::Read);
    outputs.fold(0, |sum, buffer| sum.saturating_add(buffer.bytes().0))
}

/// The files of expected results that a case names.
fn files(case: &mut Case) -> Vec<&mut PathBuf> {
    match &mut case.verify {
        Verify::File(file, _) => vec![file],
        Verify::Arrays(files, _) => files.iter_mut().map(|(_, file)| file).collect(),
        _ => vec![],
    }
}

/// Sends a file that the relay does not have; its hash.
fn send(link: &mut Link, state: &mut State, path: &Path) -> Result<String, Outcome> {
    let failed = |error| Outcome::Failed(Error::io(path, error).to_string());
    let hash = File::open(path).and_then(sha256_of).map_err(failed)?;
    if state.sent.contains(&hash) {
        return Ok(hash);
    }
    let mut file = File::open(path).map_err(failed)?;
    let mut offset = 0;
    loop {
        let mut chunk = Vec::with_capacity(CHUNK);
        (&mut file).take(CHUNK as u64).read_to_end(&mut chunk).map_err(failed)?;
        let is_last = chunk.len() < CHUNK;
        let put = Ask::Put { hash: hash.clone(), offset, data: hex(&chunk), is_last };
        offset += chunk.len() as u64;
        match link.ask_once(put, "sending a file", SHORT)? {
            Answer::Stored if is_last => break,
            Answer::Stored => {}
            other => return Err(link.confused(&other)),
        }
    }
    state.sent.insert(hash.clone());
    Ok(hash)
}

/// Fetches what a case computed.
pub(super) fn fetch(link: &mut Link, awaited: &Awaited) -> Result<(), Outcome> {
    let path = &awaited.file;
    let failed = |error| Outcome::Failed(Error::io(path, error).to_string());
    let mut file = File::create(path).map_err(failed)?;
    let mut offset = 0;
    loop {
        let (data, is_last) = match link.ask_once(Ask::Get { offset }, "fetching a file", SHORT)? {
            Answer::Data { data, is_last } => (data, is_last),
            other => return Err(link.confused(&other)),
        };
        let bytes = awaited.part(offset, &data, is_last).map_err(Outcome::LinkLost)?;
        offset += bytes.len() as u64;
        file.write_all(&bytes).map_err(failed)?;
        if is_last {
            return Ok(());
        }
    }
}

impl Awaited {
    /// The bytes of a part that begins at `offset`: no more than there are in all, whatever the other side sends.
    fn part(&self, offset: u64, data: &str, is_last: bool) -> Result<Vec<u8>, String> {
        let bytes = from_hex(data).ok_or("a part of a file is no bytes")?;
        let end = offset + bytes.len() as u64;
        if bytes.is_empty() && !is_last {
            return Err("a part of a file arrived empty".into());
        }
        if end > self.bytes || is_last && end < self.bytes {
            return Err(format!("{end} bytes of a file arrived where it has {}", self.bytes));
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_fetched_than_a_case_writes() {
        let awaited = Awaited { file: PathBuf::new(), bytes: 6 };
        assert_eq!(awaited.part(0, "01020304", false), Ok(vec![1, 2, 3, 4]));
        assert_eq!(awaited.part(4, "0506", false), Ok(vec![5, 6]));
        assert_eq!(awaited.part(6, "", true), Ok(vec![]));
        for (offset, data, is_last, words) in [
            (0, "", false, "empty"),
            (4, "01020304", false, "8 bytes of a file arrived where it has 6"),
            (0, "01020304", true, "4 bytes of a file"),
            (0, "+f", true, "no bytes"),
        ] {
            let why = awaited.part(offset, data, is_last).unwrap_err();
            assert!(why.contains(words), "{why}");
        }
    }
}
