//! The expected result of a case: computed by a reference (kept for all devices, rounds and variants that share the
//! problem, where that is worth a file), or read from a file.

use super::Policy;
use super::arrays;
use super::emulated::emulated;
use super::scratch_file::{self, Mapped};
use crate::plan::{Candidate, Case, Pass};
use gpubench_core::error::{Error, Result};
use gpubench_core::hash::sha256_hex;
use gpubench_core::workload::{Comparison, Verify};
use gpubench_reference::{Data, Problem, find};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Changes whenever the emulator computes another result or refuses what it took: results of
/// another emulation are not used.
const EMULATION: u32 = 2;

/// What every written buffer must hold, by position among the case's buffers.
pub(super) type Expected = Vec<(usize, Data)>;

/// The expected contents and the tolerance; `None` where the suite asks for no verification. What the
/// buffers hold before, `initial`, is made only where nobody computed the result yet.
pub(super) fn expected(
    case: &Case,
    candidate: &Candidate,
    initial: impl FnOnce() -> Vec<Data>,
    policy: &Policy,
) -> Result<Option<(Expected, Comparison)>> {
    if !matches!(case.verify, Verify::Nothing) && written(case).next().is_none() {
        let why = "the kernel writes no buffer (each is `access: read`): nothing can be verified";
        return Err(Error::Usage(why.into()));
    }
    let file = || shared_file(case, candidate, policy);
    let expected = match &case.verify {
        Verify::Reference(name, _) => shared_or(case, file, || {
            let (expected, asked) = computed(name, case, candidate, initial())?;
            note_numbers(name, &asked, policy);
            Ok(expected)
        })?,
        Verify::Emulator(_) => shared_or(case, file, || emulated(case, candidate, &initial()))?,
        Verify::File(path, _) => ended(from_file(path, case)?, candidate),
        Verify::Arrays(files, _) => ended(arrays::read(files, case)?, candidate),
        Verify::Command(command, _) => {
            let made = || {
                let numbers = numbers(case, candidate, &candidate.passes()[0]);
                let scratch = policy.cache.clone().unwrap_or_else(std::env::temp_dir);
                arrays::command(command, case, &numbers, &initial(), &scratch)
            };
            ended(shared_or(case, file, made)?, candidate)
        }
        Verify::Device(_) => {
            let why = "verification against another device needs a second device";
            return Err(Error::Unsupported(why.into()));
        }
        Verify::Nothing => return Ok(None),
    };
    Ok(case.verify.allowed().map(|allowed| (expected, allowed)))
}

/// What another variant, round or device of this run already made and keeps in `file`, else what
/// `make` does, kept there where it is worth that.
fn shared_or(
    case: &Case,
    file: impl Fn() -> Option<PathBuf>,
    make: impl FnOnce() -> Result<Expected>,
) -> Result<Expected> {
    if let Some(known) = file().and_then(|file| shared(&file, case)) {
        return Ok(known);
    }
    let begun = Instant::now();
    let expected = make()?;
    // What a reference depends on names the file, and may be known only now. The file has the buffers in their order.
    if let Some(file) = file().filter(|_| expected.is_sorted_by_key(|(i, _)| *i)) {
        let parts: Vec<&[u8]> = expected.iter().map(|(_, data)| data.as_bytes()).collect();
        scratch_file::keep(&file, begun, &parts);
    }
    Ok(expected)
}

/// Each result in the buffer in which the candidate's swaps leave it.
fn ended(expected: Expected, candidate: &Candidate) -> Expected {
    expected.into_iter().map(|(i, data)| (candidate.ends_in(i), data)).collect()
}

/// What the reference called `name` makes of `initial`, which has every buffer, in `count` launches; or what this run already
/// computed. `start` says how `initial` differs from the case's own contents: it is part of the file's name.
pub(super) fn after_launches(
    (name, count): (&str, u32),
    case: &Case,
    candidate: &Candidate,
    (start, initial): (&str, impl FnOnce() -> Vec<Data>),
    policy: &Policy,
) -> Result<Expected> {
    let file = || {
        let one = shared_file(case, candidate, policy)?;
        Some(one.with_extension(format!("{start}-{count}.expected")))
    };
    shared_or(case, file, || {
        let (mut contents, mut is_written) = (initial(), vec![false; case.buffers.len()]);
        for _ in 0..count {
            let (expected, asked) = computed(name, case, candidate, contents.clone())?;
            note_numbers(name, &asked, policy);
            for (i, data) in expected {
                (contents[i], is_written[i]) = (data, true);
            }
        }
        Ok((0..).zip(contents).filter(|(i, _)| is_written[*i]).collect())
    })
}

/// What the reference called `name` makes of `initial`, with the names of all numbers that it asked for.
fn computed(
    name: &str,
    case: &Case,
    candidate: &Candidate,
    initial: Vec<Data>,
) -> Result<(Expected, BTreeSet<String>)> {
    let reference =
        find(name).ok_or_else(|| Error::Usage(format!("there is no reference `{name}`")))?;
    let named = case.buffers.iter().zip(initial);
    let mut buffers: Vec<_> = named.map(|(b, data)| (b.name.clone(), data)).collect();
    let mut expected: Expected = vec![];
    let mut asked = BTreeSet::new();
    for pass in candidate.passes() {
        // What a pass left is what the next one finds.
        for (i, data) in expected {
            buffers[i].1 = data;
        }
        let problem = Problem::new(numbers(case, candidate, &pass), buffers);
        let computed = reference(&problem)?;
        asked.append(&mut problem.asked());
        covers(name, case, &computed)?;
        expected = placed(case, computed)?;
        buffers = problem.into_buffers();
    }
    Ok((expected, asked))
}

/// Sizes, constants and parameters of one pass.
fn numbers(case: &Case, candidate: &Candidate, pass: &Pass) -> Vec<(String, f64)> {
    let sizes = case.size.iter().map(|(name, value)| (name.clone(), *value as f64));
    let constants = candidate.kernel.constants.iter().flat_map(|(name, value)| value.numbers(name));
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

pub(super) fn written(case: &Case) -> impl Iterator<Item = (usize, &crate::plan::BufferPlan)> {
    case.buffers.iter().enumerate().filter(|(_, b)| b.access != gpubench_core::gpu::Access::Read)
}

/// Where the result of this very problem is shared: the name is a hash of all it depends on. `None`
/// where nothing is shared, or nobody knows yet which numbers the reference asks for.
pub(super) fn shared_file(case: &Case, candidate: &Candidate, policy: &Policy) -> Option<PathBuf> {
    let folder = policy.cache.as_deref()?;
    match &case.verify {
        Verify::Reference(name, _) => {
            let text = std::fs::read(numbers_file(folder, name)).ok()?;
            let names: BTreeSet<String> = serde_json::from_slice(&text).ok()?;
            let values: Vec<Vec<Option<f64>>> = candidate
                .passes()
                .iter()
                .map(|pass| {
                    let numbers = numbers(case, candidate, pass);
                    let value = |name: &String| {
                        numbers.iter().rev().find(|(other, _)| other == name).map(|(_, x)| *x)
                    };
                    names.iter().map(value).collect()
                })
                .collect();
            named(folder, case, &(name, names, values))
        }
        Verify::Emulator(_) => {
            let kernel = (EMULATION, candidate.wgsl()?, candidate.passes(), &case.size);
            named(folder, case, &kernel)
        }
        Verify::Command(command, _) => {
            let passes = candidate.passes();
            named(folder, case, &(command, passes, &case.size, &candidate.kernel.constants))
        }
        _ => None,
    }
}

fn named(folder: &Path, case: &Case, by: &impl Serialize) -> Option<PathBuf> {
    let buffers: Vec<_> =
        case.buffers.iter().map(|b| (&b.name, b.element, b.count, &b.fill, b.access)).collect();
    let identity = serde_json::to_vec(&(by, buffers, case.seed)).ok()?;
    Some(folder.join(format!("{}.expected", sha256_hex(identity))))
}

/// Where the names of the numbers stand that the reference `name` asks for.
fn numbers_file(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{}.numbers", sha256_hex(name)))
}

/// Notes which numbers a reference asked for, beside those of other problems: it may ask for some only
/// where others have certain values.
fn note_numbers(name: &str, asked: &BTreeSet<String>, policy: &Policy) {
    let Some(folder) = policy.cache.as_deref() else { return };
    if let Err(error) = add_numbers(&numbers_file(folder, name), asked) {
        tracing::debug!("names of numbers not kept: {error}");
    }
}

/// Adds `asked` to the names in a file. One process at a time: a name that another's writing lost would make two
/// problems one. A reader sees the file before or after, never half of it.
fn add_numbers(file: &Path, asked: &BTreeSet<String>) -> std::io::Result<()> {
    let lock = std::fs::File::create(file.with_extension("numbers.lock"))?;
    lock.lock()?;
    let known = std::fs::read(file).ok().and_then(|text| serde_json::from_slice(&text).ok());
    let known: BTreeSet<String> = known.unwrap_or_default();
    if asked.is_subset(&known) {
        return Ok(());
    }
    let all: BTreeSet<&String> = asked.union(&known).collect();
    scratch_file::replace(file, &[&serde_json::to_vec(&all)?])
}

/// The expected result in a shared file; `None` where it is not there, or damaged.
fn shared(file: &Path, case: &Case) -> Option<Expected> {
    let mapped = Mapped::open(file)?;
    let buffers: Vec<_> = written(case).collect();
    let parts: Vec<&[u8]> = mapped.parts().collect();
    let fits = parts.len() == buffers.len()
        && buffers.iter().zip(&parts).all(|((_, b), part)| b.bytes().as_usize() == part.len());
    let data = |((i, buffer), part): (&(usize, &crate::plan::BufferPlan), &&[u8])| {
        (*i, Data::from_bytes(buffer.element.scalar, part))
    };
    fits.then(|| buffers.iter().zip(&parts).map(data).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::sample;
    use gpubench_core::gpu::{Access, Scalar};

    #[test]
    fn launches_one_after_the_other_are_computed_once_by_start_and_count() {
        let folder = tempfile::tempdir().unwrap();
        let policy = Policy { cache: Some(folder.path().to_owned()), ..Policy::default() };
        let mut case = sample::search(&["a"]);
        case.size = vec![("n".into(), 4)];
        let data = &mut case.buffers[0];
        (data.name, data.count, data.access) = ("data".into(), 4, Access::ReadWrite);
        case.verify =
            Verify::Reference("walsh".into(), Comparison { relative: 0.0, absolute: 0.0 });
        let mut candidate = case.candidates[0].clone();
        candidate.params = vec![("apart".into(), 2.0, Scalar::U32)];
        let after = |count, start, numbers: Option<[f32; 4]>| {
            let initial = || vec![Data::F32(numbers.expect("it was computed before").to_vec())];
            let start = (start, initial);
            after_launches(("walsh", count), &case, &candidate, start, &policy).unwrap()
        };
        let all = |numbers: [f32; 4]| vec![(0, Data::F32(numbers.to_vec()))];
        let once = all([4.0, 6.0, -2.0, -2.0]);
        assert_eq!(after(1, "one", Some([1.0, 2.0, 3.0, 4.0])), once);
        assert_eq!(after(2, "one", Some([1.0, 2.0, 3.0, 4.0])), all([2.0, 4.0, 6.0, 8.0]));
        assert_eq!(after(1, "other", Some([0.0; 4])), all([0.0; 4]));
        assert_eq!(after(1, "one", None), once);
    }

    #[test]
    fn names_that_several_add_at_once_are_all_kept_and_never_half_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.numbers");
        let name = |writer: usize, i: usize| format!("a name of some length {writer} {i}");
        let read = || -> BTreeSet<String> {
            std::fs::read(&file).map_or_else(
                |_| BTreeSet::new(),
                |text| serde_json::from_slice(&text).expect("a whole file"),
            )
        };
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let file = &file;
                scope.spawn(move || {
                    for i in 0..50 {
                        add_numbers(file, &BTreeSet::from([name(writer, i)])).unwrap();
                    }
                });
            }
            scope.spawn(|| (0..500).for_each(|_| drop(read())));
        });
        assert_eq!(read().len(), 200);
    }
}
