//! Files that a request names, on their way to another machine and back.

use super::super::protocol::Request;
use super::link::Link;
use super::message::{Answer, Ask, CHUNK, from_hex, to_hex};
use super::route::{SHORT, State};
use gpubench_core::error::Error;
use gpubench_core::hash::sha256_of;
use gpubench_core::record::Outcome;
use gpubench_core::workload::Verify;
use gpubench_experiments::Policy;
use gpubench_experiments::plan::Case;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// What is called so lies in the relay's own folder.
pub(super) const RESULT: &str = "result";

/// `request` as the relay understands it, its files sent; and the file here for what it computes.
pub(super) fn prepared(
    link: &mut Link,
    state: &mut State,
    request: &Request,
) -> Result<(Request, Option<PathBuf>), Outcome> {
    let mut request = request.clone();
    let mut result = None;
    let (cases, policy) = parts(&mut request);
    for file in cases.into_iter().flat_map(files) {
        let hash = send(link, state, file)?;
        *file = hash.into();
    }
    if let Some(policy) = policy {
        (policy.cache, policy.disk) = (None, None);
    }
    if let Request::Compute { file, .. } = &mut request {
        result = Some(std::mem::replace(file, RESULT.into()));
    }
    Ok((request, result))
}

/// `request` as a worker of the relay understands it: what it names lies in `folder`.
///
/// # Errors
/// That it names something else.
pub(super) fn received(mut request: Request, folder: &Path) -> Result<Request, Outcome> {
    let (cases, policy) = parts(&mut request);
    for file in cases.into_iter().flat_map(files) {
        let name = file.to_str().filter(|name| is_hash(name));
        let other = || Outcome::Failed("a file that was not sent".into());
        *file = folder.join(name.ok_or_else(other)?);
    }
    if let Some(policy) = policy {
        policy.cache = Some(folder.to_owned());
        policy.disk = Some(folder.to_owned());
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
    loop {
        let mut chunk = Vec::with_capacity(CHUNK);
        (&mut file).take(CHUNK as u64).read_to_end(&mut chunk).map_err(failed)?;
        let is_last = chunk.len() < CHUNK;
        let put = Ask::Put { hash: hash.clone(), data: to_hex(&chunk), is_last };
        match link.ask_once(put, "sending a file", SHORT)? {
            Answer::Stored if is_last => break,
            Answer::Stored => {}
            other => return Err(link.confused(&other)),
        }
    }
    state.sent.insert(hash.clone());
    Ok(hash)
}

/// Fetches what a case computed, into `path`.
pub(super) fn fetch(link: &mut Link, path: &Path) -> Result<(), Outcome> {
    let failed = |error| Outcome::Failed(Error::io(path, error).to_string());
    let mut file = File::create(path).map_err(failed)?;
    let mut offset = 0;
    loop {
        let (data, is_last) = match link.ask_once(Ask::Get { offset }, "fetching a file", SHORT)? {
            Answer::Data { data, is_last } => (data, is_last),
            other => return Err(link.confused(&other)),
        };
        let no_data = || Outcome::LinkLost("a part of a file is no bytes".into());
        let bytes = from_hex(&data).ok_or_else(no_data)?;
        file.write_all(&bytes).map_err(failed)?;
        offset += bytes.len() as u64;
        if is_last {
            return Ok(());
        }
    }
}
