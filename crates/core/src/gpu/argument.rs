//! What a kernel takes, argument by argument: the one list that every device is given.

use super::{Image, ImageOf, KernelSource, Language, Scalar};
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// One argument of a kernel. Its position in the list is its position in OpenCL C, and its binding
/// in group 0 in WGSL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Argument {
    /// The buffer at this position among [`KernelSource::bindings`].
    Buffer(u32),
    /// The parameter block, a struct of four bytes a field: so many bytes from the beginning of a
    /// launch's parameters. A struct by value in OpenCL, a uniform buffer in WGSL.
    Block(u32),
    /// A scalar or a vector.
    Value {
        /// Where it lies in a launch's parameters.
        offset: u32,
        /// Its type.
        r#type: ValueType,
    },
    /// So many bytes of local memory.
    Local(u32),
    /// The sampler of the buffer at this position, which the kernel reads as an image.
    Sampler(u32),
}

impl Argument {
    /// The bytes of a launch's parameters that it is given: the first, and how many.
    pub fn bytes(self) -> Option<(usize, usize)> {
        match self {
            Self::Block(len) => Some((0, len as usize)),
            Self::Value { offset, r#type } => Some((offset as usize, r#type.size())),
            Self::Buffer(_) | Self::Local(_) | Self::Sampler(_) => None,
        }
    }
}

/// The type of a scalar or a vector in a list of arguments: `i32`, `f64`, `f32x4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ValueType {
    /// The components' type.
    pub scalar: Scalar,
    /// Components: 1, 2, 3, 4, 8 or 16.
    pub width: u8,
}

impl ValueType {
    /// Its bytes; a vector of three takes those of four.
    pub fn size(self) -> usize {
        self.scalar.size() * if self.width == 3 { 4 } else { usize::from(self.width) }
    }

    /// Whether a component holds `value`: a whole number's type exactly, a float's rounded.
    pub fn holds(self, value: f64) -> bool {
        self.scalar.holds(value)
    }

    /// `components` as they lie in memory.
    pub fn bytes(self, components: &[f64]) -> Vec<u8> {
        let mut bytes: Vec<u8> = components.iter().flat_map(|x| self.scalar.bytes(*x)).collect();
        bytes.resize(self.size(), 0);
        bytes
    }

    /// Its name in OpenCL C, or, where that has none, in suites.
    pub fn opencl(self) -> String {
        let name = self.scalar.opencl().unwrap_or(self.scalar.name());
        if self.width == 1 { name.to_owned() } else { format!("{name}{}", self.width) }
    }

    /// Reads its name in OpenCL C; `None` for types that are no scalar or vector of these.
    pub fn from_opencl(name: &str) -> Option<Self> {
        let name = match name.trim() {
            "unsigned char" => "uchar",
            "unsigned short" => "ushort",
            "unsigned int" | "unsigned" => "uint",
            "unsigned long" | "size_t" => "ulong",
            other => other,
        };
        let scalar = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let known = Scalar::from_opencl(scalar)?;
        match &name[scalar.len()..] {
            "" => Some(Self { scalar: known, width: 1 }),
            "1" => None,
            width => Self::try_from(format!("{}x{width}", known.name())).ok(),
        }
    }

    /// Whether WGSL has it.
    pub fn is_wgsl(self) -> bool {
        matches!(self.scalar, Scalar::I32 | Scalar::U32 | Scalar::F32) && self.width <= 4
    }
}

impl TryFrom<String> for ValueType {
    type Error = String;

    /// Reads `i32`, `f32x4` and the like.
    fn try_from(text: String) -> Result<Self, String> {
        let (scalar, width) = text.split_once('x').unwrap_or((&text, "1"));
        let known = Scalar::from_name(scalar).filter(|scalar| *scalar != Scalar::Bf16);
        match (known, width.parse()) {
            (Some(scalar), Ok(width @ (1 | 2 | 3 | 4 | 8 | 16))) => Ok(Self { scalar, width }),
            (Some(_), _) => Err(format!("`{text}`: a vector has 2, 3, 4, 8 or 16 components")),
            (None, _) => Err(format!(
                "`{text}` is no type of an argument: i8, u8, i16, u16, i32, u32, i64, u64, f16, f32, f64, \
                 or one of them with x2, x3, x4, x8 or x16 behind it"
            )),
        }
    }
}

impl From<ValueType> for String {
    fn from(r#type: ValueType) -> Self {
        let name = r#type.scalar.name();
        if r#type.width == 1 { name.to_owned() } else { format!("{name}x{}", r#type.width) }
    }
}

/// Where values lie behind the `block` bytes of the parameter block, each at a multiple of its
/// size, and the bytes of all.
pub fn offsets(block: u32, types: impl IntoIterator<Item = ValueType>) -> (Vec<u32>, u32) {
    let mut end = block;
    let place = |r#type: ValueType| {
        let size = r#type.size() as u32;
        let offset = end.next_multiple_of(size);
        end = offset + size;
        offset
    };
    (types.into_iter().map(place).collect(), end)
}

/// Values as they lie behind the `block` bytes of the parameter block.
pub fn packed(block: u32, values: &[(ValueType, Vec<f64>)]) -> Vec<u8> {
    let (offsets, end) = offsets(block, values.iter().map(|(r#type, _)| *r#type));
    let mut bytes = vec![0; (end - block) as usize];
    for ((r#type, components), offset) in values.iter().zip(offsets) {
        let start = (offset - block) as usize;
        bytes[start..start + r#type.size()].copy_from_slice(&r#type.bytes(components));
    }
    bytes
}

impl KernelSource {
    /// What the kernel takes: the list that the suite gives, or without one its buffers in order and
    /// the parameter block behind them. Behind an image that is filtered stands its sampler.
    pub fn arguments(&self) -> Vec<Argument> {
        let plain = || {
            let buffers = (0..self.bindings.len() as u32).map(Argument::Buffer);
            let block = (self.params_bytes > 0).then_some(Argument::Block(self.params_bytes));
            buffers.chain(block).collect()
        };
        let list = self.args.clone().unwrap_or_else(plain);
        let with_sampler = |argument| {
            let sampler = match argument {
                Argument::Buffer(i) => {
                    self.image(i).and_then(|image| image.filter).map(|_| Argument::Sampler(i))
                }
                _ => None,
            };
            std::iter::once(argument).chain(sampler)
        };
        list.into_iter().flat_map(with_sampler).collect()
    }

    /// The image as which the kernel reads the buffer at this position.
    pub fn image(&self, buffer: u32) -> Option<Image> {
        self.bindings.get(buffer as usize)?.image
    }

    /// The images that it reads its buffers as, by position.
    pub fn images(&self) -> Vec<Option<ImageOf>> {
        self.bindings.iter().map(|binding| Some((binding.image?, binding.element))).collect()
    }

    /// Why its language cannot take its arguments, where it cannot.
    pub fn unsupported_argument(&self) -> Option<String> {
        if self.language == Language::Opencl {
            return None;
        }
        if self.settings.spirv {
            let has_local = self.arguments().iter().any(|arg| matches!(arg, Argument::Local(_)));
            return has_local.then(|| "Vulkan takes no local memory as an argument".to_owned());
        }
        // Of an image's elements the kernel sees what the device makes of them.
        let held = self.bindings.iter().filter(|b| b.image.is_none()).map(|b| b.element);
        let lacks = held.filter(|element| element.scalar.wgsl().is_none()).map(String::from).next();
        if let Some(lacks) = lacks {
            return Some(format!("WGSL has no buffers of `{lacks}`"));
        }
        self.arguments().iter().find_map(|arg| match arg {
            Argument::Local(_) => Some("WGSL takes no local memory as an argument".to_owned()),
            Argument::Value { r#type, .. } if !r#type.is_wgsl() => Some(format!(
                "a kernel in WGSL is given no values of type `{}`",
                String::from(*r#type)
            )),
            _ => None,
        })
    }

    /// How many buffers are among its arguments, without those that it reads as images.
    pub fn buffer_count(&self) -> usize {
        let is_buffer =
            |arg: &&Argument| matches!(arg, Argument::Buffer(i) if self.image(*i).is_none());
        self.arguments().iter().filter(is_buffer).count()
    }

    /// Local memory among its arguments.
    pub fn local_arguments(&self) -> Bytes {
        let local = |arg: &Argument| match arg {
            Argument::Local(bytes) => u64::from(*bytes),
            _ => 0,
        };
        Bytes(self.arguments().iter().map(local).sum())
    }
}

/// The place in a suite's list of the argument at `at`: a sampler stands at its image's.
pub fn place_in_suite(arguments: &[Argument], at: usize) -> usize {
    let is_sampler = |argument: &&Argument| matches!(argument, Argument::Sampler(_));
    let upto = arguments.iter().take(at + 1);
    at - upto.filter(is_sampler).count()
}

/// How the buffers of a kernel without `args` differ from the kernel's own names for them, where
/// one has the name of another: both lists. Other names are the author's business.
pub fn order_misfit(source: &KernelSource, theirs: &[String]) -> Option<String> {
    let ours: Vec<&str> = source.bindings.iter().map(|binding| binding.name.as_str()).collect();
    let mixed =
        ours.iter().zip(theirs).any(|(our, their)| our != their && theirs.iter().any(|t| t == our));
    mixed.then(|| {
        format!(
            "the suite's buffers are {}, and `{}` in {} takes {}",
            ours.join(", "),
            source.entry,
            source.origin.file(),
            theirs.join(", ")
        )
    })
}

#[cfg(test)]
mod tests;
