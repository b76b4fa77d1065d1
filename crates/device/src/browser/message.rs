//! What a worker and the page say to each other. A message is one binary frame of a WebSocket: the length of
//! a header (four bytes, little-endian), the header in JSON, and bytes behind it.

use crate::wgpu::ConstantMemory;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{
    Access, Argument, Element, Filter, Image, KernelSource, MemoryKind, Scalar, Step,
};
use serde::{Deserialize, Serialize};

/// Bytes of a buffer that travel at once, at most.
pub(super) const PIECE: usize = 8 << 20;
/// The longest message that is taken: a piece with its header, or a long recording.
pub(super) const LONGEST: usize = 64 << 20;

/// What the page is asked to do.
#[derive(Serialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(super) enum Request<'a> {
    /// Opens a fresh device; the answer is a [`super::info::Report`].
    Open,
    /// Compiles a kernel.
    Build {
        kernel: u32,
        file: &'a str,
        code: &'a str,
        entry: &'a str,
        arguments: Vec<PageArgument>,
    },
    /// Allocates a buffer.
    Alloc { buffer: u32, bytes: u64, kind: MemoryKind },
    /// Fills a part of a buffer with the bytes behind the header.
    Write { buffer: u32, offset: u64 },
    /// Reads a part of a buffer.
    Read { buffer: u32, offset: u64, len: u64 },
    /// Executes steps; the answer is a [`Ran`] with two timestamps a step behind it.
    Run { steps: &'a [Step] },
    /// Frees all buffers, and the kernels below this number.
    Reset { lasting: u32 },
}

/// An argument of a kernel, at its place among the bindings.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PageArgument {
    /// The launch's buffer of this position.
    Buffer { position: u32, read_only: bool },
    /// So many bytes of such a buffer, read from constant memory.
    Uniform { position: u32, bytes: u64 },
    /// So many bytes of the launch's parameters, from the first on.
    Block { first: usize, len: usize },
    /// Such a buffer, read as an image of `width` texels a row, each of so many bytes; WebGPU's names of its format and
    /// of what a kernel gets of it.
    Image { position: u32, width: u32, texel: u64, format: String, sampled: &'static str },
    /// The sampler of an image.
    Sampler { filter: Filter },
}

/// The image that a buffer is read as.
fn image(position: u32, image: Image, element: Element) -> PageArgument {
    let (format, sampled) = match element.scalar {
        Scalar::F16 => ("16float", "float"),
        Scalar::U8 => ("8unorm", "float"),
        Scalar::I32 => ("32sint", "sint"),
        Scalar::U32 => ("32uint", "uint"),
        _ if image.filter == Some(Filter::Linear) => ("32float", "float"),
        _ => ("32float", "unfilterable-float"),
    };
    let channels = match element.width {
        1 => "r",
        2 => "rg",
        _ => "rgba",
    };
    let (width, texel) = (image.width, element.size().0);
    PageArgument::Image { position, width, texel, format: format!("{channels}{format}"), sampled }
}

/// The arguments of a kernel, in the order of their bindings.
pub(super) fn arguments(
    source: &KernelSource,
    constant_memory: &ConstantMemory,
) -> Vec<PageArgument> {
    let of = |(binding, argument): (u32, &Argument)| match *argument {
        Argument::Buffer(position) => {
            let bound = source.bindings.get(position as usize);
            if let Some((kind, element)) = bound.and_then(|b| Some((b.image?, b.element))) {
                return Some(image(position, kind, element));
            }
            let read_only = bound.is_some_and(|bound| bound.access == Access::Read);
            Some(match constant_memory.bytes(binding) {
                Some(bytes) => PageArgument::Uniform { position, bytes: bytes.0 },
                None => PageArgument::Buffer { position, read_only },
            })
        }
        Argument::Sampler(position) => {
            let filter = source.image(position)?.filter?;
            Some(PageArgument::Sampler { filter })
        }
        other => other.bytes().map(|(first, len)| PageArgument::Block { first, len }),
    };
    (0..).zip(&source.arguments()).filter_map(of).collect()
}

/// What building a kernel took.
#[derive(Deserialize)]
pub(super) struct Compiled {
    pub seconds: f64,
    pub log: String,
}

/// What executing steps took, on the page's clock.
#[derive(Deserialize)]
pub(super) struct Ran {
    pub wall: f64,
    /// Whether every step is between two timestamps.
    pub timed: bool,
}

/// Why the page could not do it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Refusal {
    pub kind: RefusalKind,
    pub text: String,
}

/// The sort of it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RefusalKind {
    Build,
    Memory,
    Unsupported,
    Lost,
    Device,
}

impl Refusal {
    /// As this program's error.
    pub fn into_error(self) -> Error {
        let Self { kind, text } = self;
        match kind {
            RefusalKind::Build => Error::Build { kernel: String::new(), log: text },
            RefusalKind::Memory => Error::OutOfMemory(text),
            RefusalKind::Unsupported => Error::Unsupported(text),
            RefusalKind::Lost => Error::DeviceLost(text),
            RefusalKind::Device => Error::Device(text),
        }
    }
}

/// The header of a request: its number, and what is to be done.
#[derive(Serialize)]
pub(super) struct Asked<'a> {
    pub id: u64,
    #[serde(flatten)]
    pub request: &'a Request<'a>,
}

/// The header of an answer; of a request, its number.
#[derive(Serialize, Deserialize)]
pub(super) struct Answer {
    /// That of the request; 0 where the hub answers instead of the page.
    pub id: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Refusal>,
    #[serde(default)]
    pub ok: serde_json::Value,
}

/// A message.
pub(super) fn encode(header: &impl Serialize, payload: &[u8]) -> Result<Vec<u8>> {
    let header = serde_json::to_vec(header).map_err(|e| Error::Device(format!("request: {e}")))?;
    let length = u32::try_from(header.len()).unwrap_or(u32::MAX).to_le_bytes();
    Ok([&length, header.as_slice(), payload].concat())
}

/// The header and the bytes behind it; `None` for what is no message.
pub(super) fn decode(message: &[u8]) -> Option<(Answer, &[u8])> {
    let (length, rest) = message.split_first_chunk()?;
    let (header, payload) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    Some((serde_json::from_slice(header).ok()?, payload))
}
