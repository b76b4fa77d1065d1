//! The matrix product of CLBlast, the tuned BLAS for OpenCL: loaded when a suite asks for it, never linked.
//! It enqueues kernels of its own to the device's own queue, on the device's own buffers.

use super::object::Owned;
use super::run::Issued;
use super::status::{self, checked};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{BuildReport, KernelSource, Scalar};
use libloading::Library;
use opencl3::command_queue::CommandQueue;
use opencl3::event::{Event, cl_event};
use opencl3::types::{cl_command_queue, cl_mem};
use std::ptr;
use std::time::Instant;

/// The library's name to the dynamic linker.
const LIBRARY: &str = "libclblast.so.1";
/// What is passed besides buffers: `m`, `k`, `n`, and the first row and the number of rows to compute.
const PARAMS: usize = 20;
// Values of clblast_c.h.
const ROW_MAJOR: i32 = 101;
const NOT_TRANSPOSED: i32 = 111;
/// CLBlast's own codes are below this; the others are OpenCL's.
const OWN_CODES: i32 = -1000;
/// Its own codes that a suite can bring about.
const NAMED: [(i32, &str); 7] = [
    (-2046, "not enough local memory"),
    (-2044, "the device has no double precision"),
    (-2041, "it does not know the device"),
    (-1017, "a matrix has no rows or columns"),
    (-1011, "A's buffer is too small"),
    (-1010, "B's buffer is too small"),
    (-1009, "C's buffer is too small"),
];

/// A routine of clblast_c.h: `C = alpha·A·B + beta·C`.
type Routine<T> = unsafe extern "C" fn(
    layout: i32,
    a_transpose: i32,
    b_transpose: i32,
    m: usize,
    n: usize,
    k: usize,
    alpha: T,
    a: cl_mem,
    a_offset: usize,
    a_pitch: usize,
    b: cl_mem,
    b_offset: usize,
    b_pitch: usize,
    beta: T,
    c: cl_mem,
    c_offset: usize,
    c_pitch: usize,
    queue: *mut cl_command_queue,
    event: *mut cl_event,
) -> i32;

/// The product in one precision.
#[derive(Clone, Copy)]
pub(super) enum Gemm {
    Single(Routine<f32>),
    Double(Routine<f64>),
}

/// Part of a product: rows of C.
struct Part {
    m: usize,
    k: usize,
    n: usize,
    first: usize,
}

/// The routine that `source` names, of its buffers' type.
///
/// # Errors
/// `Unsupported` where CLBlast is missing, no library, or lacks the routine; `Usage` where the suite gives it what it
/// does not take.
pub(super) fn build(source: &KernelSource) -> Result<(Gemm, BuildReport)> {
    let begun = Instant::now();
    let names: Vec<&str> = source.bindings.iter().map(|binding| binding.name.as_str()).collect();
    if names != ["a", "b", "c"] || source.params_bytes as usize != PARAMS {
        let takes = "CLBlast's `gemm` takes the buffers a, b and c and the parameters m, k, n, first and count";
        return Err(Error::Usage(takes.into()));
    }
    let gemm = Gemm::load(LIBRARY, source.bindings[0].element.scalar)?;
    let (seconds, options) = (begun.elapsed().as_secs_f64(), format!("routine of {LIBRARY}"));
    Ok((gemm, BuildReport { seconds, options, ..BuildReport::default() }))
}

impl Gemm {
    fn load(library: &str, scalar: Scalar) -> Result<Self> {
        match scalar {
            Scalar::F32 => routine(library, "CLBlastSgemm").map(Self::Single),
            Scalar::F64 => routine(library, "CLBlastDgemm").map(Self::Double),
            other => Err(Error::Usage(format!(
                "CLBlast's `gemm` is of f32 or f64 here, not of {}",
                other.name()
            ))),
        }
    }

    /// How many buffers it takes, and bytes of parameters.
    pub(super) fn takes() -> (usize, usize) {
        (3, PARAMS)
    }

    /// Enqueues the product behind `waits`. Its time begins with a barrier before it, since only its last kernel has an
    /// event: what the library does on the host meanwhile is part of it.
    pub(super) fn enqueue(
        self,
        queue: &CommandQueue,
        [a, b, c]: [cl_mem; 3],
        params: &[u8],
        waits: &[cl_event],
    ) -> Result<Issued> {
        let part = Part::read(params)?;
        let begun = barrier(queue, waits)?;
        let mut event: cl_event = ptr::null_mut();
        let code = match self {
            Self::Single(routine) => part.call(routine, [1.0, 0.0], [a, b, c], queue, &mut event),
            Self::Double(routine) => part.call(routine, [1.0, 0.0], [a, b, c], queue, &mut event),
        };
        if code != 0 {
            return Err(failure(code));
        }
        if event.is_null() {
            return Err(Error::Device("CLBlast's `gemm` gave no event to wait for".into()));
        }
        Issued::after(begun, "CLBlast's `gemm`", Ok(Event::new(event)))
    }
}

impl Part {
    fn read(params: &[u8]) -> Result<Self> {
        let word = |i: usize| {
            let bytes = params.get(4 * i..4 * i + 4)?;
            Some(u32::from_ne_bytes(bytes.try_into().ok()?) as usize)
        };
        let read = || Some(Self { m: word(4)?, k: word(1)?, n: word(2)?, first: word(3)? });
        read().ok_or_else(|| Error::Usage(format!("CLBlast's `gemm` takes {PARAMS} bytes")))
    }

    #[expect(unsafe_code, reason = "a call of CLBlast")]
    fn call<T: Copy>(
        &self,
        routine: Routine<T>,
        [alpha, beta]: [T; 2],
        [a, b, c]: [cl_mem; 3],
        queue: &CommandQueue,
        event: &mut cl_event,
    ) -> i32 {
        let &Self { m, k, n, first } = self;
        let (rows, in_c) = (first.saturating_mul(k), first.saturating_mul(n));
        let mut queue = queue.get();
        // SAFETY: the routine has the type that clblast_c.h gives it; buffers and queue live until the queue has
        // finished; CLBlast refuses matrices that do not lie in their buffers.
        unsafe {
            routine(
                ROW_MAJOR,
                NOT_TRANSPOSED,
                NOT_TRANSPOSED,
                m,
                n,
                k,
                alpha,
                a,
                rows,
                k,
                b,
                0,
                n,
                beta,
                c,
                in_c,
                n,
                &raw mut queue,
                event,
            )
        }
    }
}

/// A function of a library that stays loaded until the process ends: its kernels outlive the call.
#[expect(unsafe_code, reason = "loads a library")]
fn routine<T>(library: &str, name: &str) -> Result<Routine<T>> {
    // SAFETY: what runs while it loads is what CLBlast, as the user installed it, does then.
    let loaded = unsafe { Library::new(library) }.map_err(|why| missing(library, &why))?;
    // SAFETY: the routine of this name has this type in clblast_c.h.
    let found = unsafe { loaded.get::<Routine<T>>(name.as_bytes()) }.map(|found| *found);
    let found = found.map_err(|_| {
        Error::Unsupported(format!("{library} has no `{name}`: it is no CLBlast, or an old one"))
    })?;
    std::mem::forget(loaded);
    Ok(found)
}

/// Why a library was not loaded, and what to do.
fn missing(library: &str, why: &libloading::Error) -> Error {
    let why = why.to_string();
    let install = "install CLBlast (Debian: apt-get install libclblast1)";
    Error::Unsupported(match why.contains("No such file") {
        true => format!("{library} is not there: {install}"),
        false => format!("{library} does not load: {why}; {install}"),
    })
}

/// What CLBlast answers where it does not compute.
fn failure(code: i32) -> Error {
    if code > OWN_CODES {
        return status::error("CLBlast's `gemm`", code);
    }
    let named = NAMED.iter().find(|(known, _)| *known == code).map(|(_, name)| *name);
    let name = named.unwrap_or("see CLBlastStatusCode in clblast_c.h");
    Error::Unsupported(format!("CLBlast's `gemm`: {name} ({code})"))
}

#[expect(unsafe_code, reason = "OpenCL call")]
fn barrier(queue: &CommandQueue, waits: &[cl_event]) -> Result<Owned<Event>> {
    // SAFETY: the events are of this context.
    let event = unsafe { queue.enqueue_barrier_with_wait_list(waits) };
    checked("a barrier", event).map(Owned::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::{Access, Binding, Element, Language, Origin};

    fn why<T>(result: Result<T>) -> String {
        match result {
            Err(Error::Unsupported(why) | Error::Usage(why)) => why,
            Err(other) => panic!("{other:?}"),
            Ok(_) => panic!("it was taken"),
        }
    }

    #[test]
    fn a_library_that_is_missing_or_is_none_is_reported() {
        let gone = why(Gemm::load("libgone-of-no-one.so.1", Scalar::F32));
        assert_eq!(
            gone,
            "libgone-of-no-one.so.1 is not there: install CLBlast (Debian: apt-get install libclblast1)"
        );
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "no library").unwrap();
        let broken = why(Gemm::load(file.path().to_str().unwrap(), Scalar::F32));
        assert!(broken.contains("does not load") && broken.contains("libclblast1"), "{broken}");
        if cfg!(target_os = "linux") {
            let other = why(Gemm::load("libm.so.6", Scalar::F64));
            assert_eq!(other, "libm.so.6 has no `CLBlastDgemm`: it is no CLBlast, or an old one");
        }
    }

    #[test]
    fn codes_are_named_and_others_are_numbers() {
        let text = |code| failure(code).to_string();
        assert!(text(-2044).contains("no double precision (-2044)"), "{}", text(-2044));
        assert!(text(-2040).contains("clblast_c.h (-2040)"), "{}", text(-2040));
        assert!(text(-5).contains("(-5)") && !text(-5).contains("clblast_c.h"), "{}", text(-5));
        assert!(matches!(failure(-5), Error::OutOfMemory(_)));
    }

    #[test]
    fn only_a_matrix_product_of_fractions_is_taken() {
        let source = |names: &[&str], scalar, params_bytes| KernelSource {
            origin: Origin::Shipped("CLBlast".into()),
            bindings: names
                .iter()
                .map(|&name| Binding {
                    name: name.into(),
                    element: Element::scalar(scalar),
                    access: Access::Read,
                    image: None,
                })
                .collect(),
            params_bytes,
            ..KernelSource::new(Language::Opencl, "gemm", String::new())
        };
        let takes = why(build(&source(&["a", "c", "b"], Scalar::F32, 20)));
        assert!(takes.contains("takes the buffers a, b and c"), "{takes}");
        assert_eq!(why(build(&source(&["a", "b", "c"], Scalar::F32, 16))), takes);
        let whole = why(build(&source(&["a", "b", "c"], Scalar::U32, 20)));
        assert!(whole.contains("not of u32"), "{whole}");
    }

    #[test]
    fn a_part_is_read_from_the_parameter_block() {
        let block: Vec<u8> = [8u32, 16, 4, 2, 3].iter().flat_map(|n| n.to_ne_bytes()).collect();
        let Part { m, k, n, first } = Part::read(&block).unwrap();
        assert_eq!((m, k, n, first), (3, 16, 4, 2), "as many rows as are to be computed");
        assert!(Part::read(&block[..19]).is_err());
    }
}
