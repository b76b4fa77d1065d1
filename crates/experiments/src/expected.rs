//! The expected result of a case: computed by a reference (once for all devices, rounds and
//! variants that share the problem), or read from a file.

use super::Policy;
use super::emulated::emulated;
use crate::plan::{Candidate, Case, Pass};
use gpubench_core::error::{Error, Result};
use gpubench_core::hash::sha256_hex;
use gpubench_core::workload::{Comparison, Verify};
use gpubench_reference::{Data, Problem, find};
use std::path::{Path, PathBuf};

/// Changes whenever the emulator computes another result or refuses what it took: results of
/// another emulation are not used.
const EMULATION: u32 = 2;

/// What every written buffer must hold, by position among the case's buffers.
pub(super) type Expected = Vec<(usize, Data)>;

/// The expected contents and the tolerance; `None` where the suite asks for no verification.
pub(super) fn expected(
    case: &Case,
    candidate: &Candidate,
    initial: &[Data],
    policy: &Policy,
) -> Result<Option<(Expected, Comparison)>> {
    if !matches!(case.verify, Verify::Nothing) && written(case).next().is_none() {
        let why = "the kernel writes no buffer (each is `access: read`): nothing can be verified";
        return Err(Error::Usage(why.into()));
    }
    match &case.verify {
        Verify::Reference(name, allowed) => {
            let expected = match cache_file(case, candidate, name, policy) {
                Some(file) => cached(&file, case, || compute(name, case, candidate, initial))?,
                None => compute(name, case, candidate, initial)?,
            };
            Ok(Some((expected, *allowed)))
        }
        Verify::Emulator(allowed) => {
            let compute = || emulated(case, candidate, initial);
            let expected = match emulated_cache(case, candidate, policy) {
                Some(file) => cached(&file, case, compute)?,
                None => compute()?,
            };
            Ok(Some((expected, *allowed)))
        }
        Verify::File(path, allowed) => Ok(Some((from_file(path, case)?, *allowed))),
        Verify::Device(_) => Err(Error::Unsupported(
            "verification against another device needs a second device".into(),
        )),
        Verify::Nothing => Ok(None),
    }
}

/// What the reference called `name` makes of `initial`.
pub(super) fn compute(
    name: &str,
    case: &Case,
    candidate: &Candidate,
    initial: &[Data],
) -> Result<Expected> {
    let reference =
        find(name).ok_or_else(|| Error::Usage(format!("there is no reference `{name}`")))?;
    let named = case.buffers.iter().zip(initial);
    let mut buffers: Vec<_> = named.map(|(b, data)| (b.name.clone(), data.clone())).collect();
    let mut expected: Expected = vec![];
    for pass in candidate.passes() {
        // What a pass left is what the next one finds.
        for (i, data) in expected {
            buffers[i].1 = data;
        }
        let problem = Problem::new(numbers(case, candidate, &pass), buffers);
        let computed = reference(&problem)?;
        covers(name, case, &computed)?;
        expected = placed(case, computed)?;
        buffers = problem.into_buffers();
    }
    Ok(expected)
}

/// Sizes, constants and parameters of one pass.
fn numbers(case: &Case, candidate: &Candidate, pass: &Pass) -> Vec<(String, f64)> {
    let sizes = case.size.iter().map(|(name, value)| (name.clone(), *value as f64));
    let constants = candidate.kernel.constants.iter().map(|(name, c)| (name.clone(), c.number()));
    let params = pass.params.iter().map(|(name, value, _)| (name.clone(), *value));
    sizes.chain(constants).chain(params).collect()
}

fn placed(case: &Case, computed: Vec<(&'static str, Data)>) -> Result<Expected> {
    computed
        .into_iter()
        .map(|(name, data)| match case.buffers.iter().position(|b| b.name == name) {
            Some(position) => Ok((position, data)),
            None => {
                Err(Error::Usage(format!("the reference writes `{name}`, which is no buffer here")))
            }
        })
        .collect()
}

/// The reference must compute what the kernel writes, no less and no more.
fn covers(reference: &str, case: &Case, computed: &[(&str, Data)]) -> Result<()> {
    let mut theirs: Vec<&str> = computed.iter().map(|(name, _)| *name).collect();
    let mut ours: Vec<&str> = written(case).map(|(_, buffer)| buffer.name.as_str()).collect();
    theirs.sort_unstable();
    ours.sort_unstable();
    if theirs == ours {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "the reference `{reference}` computes {}, the kernel writes {}",
        theirs.join(", "),
        ours.join(", ")
    )))
}

/// The file is the bytes of every written buffer, one after the other.
fn from_file(path: &Path, case: &Case) -> Result<Expected> {
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    let mut rest = bytes.as_slice();
    let mut expected = Vec::new();
    for (position, buffer) in written(case) {
        let wanted = buffer.bytes().as_usize();
        let Some((head, tail)) = rest.split_at_checked(wanted) else {
            return Err(Error::Usage(format!(
                "{}: holds {} bytes, {} short of what the written buffers need",
                path.display(),
                bytes.len(),
                wanted - rest.len()
            )));
        };
        expected.push((position, Data::from_bytes(buffer.element.scalar, head)));
        rest = tail;
    }
    if !rest.is_empty() {
        return Err(Error::Usage(format!(
            "{}: {} bytes more than the written buffers hold",
            path.display(),
            rest.len()
        )));
    }
    Ok(expected)
}

fn written(case: &Case) -> impl Iterator<Item = (usize, &crate::plan::BufferPlan)> {
    case.buffers.iter().enumerate().filter(|(_, b)| b.access != gpubench_core::gpu::Access::Read)
}

/// Where the result of this very problem is kept: the name is a hash of all it depends on.
fn cache_file(case: &Case, candidate: &Candidate, name: &str, policy: &Policy) -> Option<PathBuf> {
    hashed(case, candidate, &name, policy)
}

/// As [`cache_file`], for what the emulator makes of this variant of the kernel.
fn emulated_cache(case: &Case, candidate: &Candidate, policy: &Policy) -> Option<PathBuf> {
    hashed(case, candidate, &(EMULATION, candidate.wgsl()?, candidate.groups), policy)
}

fn hashed(
    case: &Case,
    candidate: &Candidate,
    by: &impl serde::Serialize,
    policy: &Policy,
) -> Option<PathBuf> {
    let folder = policy.cache.as_ref()?;
    let buffers: Vec<_> =
        case.buffers.iter().map(|b| (&b.name, b.element, b.count, &b.fill)).collect();
    let identity =
        serde_json::to_vec(&(by, &case.size, &candidate.passes(), buffers, case.seed)).ok()?;
    Some(folder.join(format!("{}.expected", sha256_hex(identity))))
}

/// From the cache, or computed and put there. A cache that cannot be written is no failure.
fn cached(
    file: &Path,
    case: &Case,
    compute: impl FnOnce() -> Result<Expected>,
) -> Result<Expected> {
    if let Ok(expected) = from_file(file, case) {
        return Ok(expected);
    }
    let computed = compute()?;
    // The file has the buffers in their order.
    let ordered = computed.is_sorted_by_key(|(i, _)| *i);
    if ordered && let Err(error) = store(file, &computed) {
        tracing::debug!("expected result not kept: {error}");
    }
    Ok(computed)
}

/// Written beside and renamed: a reader never sees half a file.
fn store(file: &Path, expected: &Expected) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut whole = tempfile::NamedTempFile::new_in(folder)?;
    for (_, data) in expected {
        std::io::Write::write_all(&mut whole, data.as_bytes())?;
    }
    whole.persist(file)?;
    Ok(())
}
