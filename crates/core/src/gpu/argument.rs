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

    /// Its name in OpenCL C.
    pub fn opencl(self) -> String {
        let name = self.scalar.opencl();
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
        match (Scalar::from_name(scalar), width.parse()) {
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
mod tests {
    use super::*;

    fn value(text: &str) -> ValueType {
        ValueType::try_from(text.to_owned()).unwrap()
    }

    #[test]
    fn only_what_goes_by_value_has_bytes_of_the_parameters() {
        assert_eq!(Argument::Block(24).bytes(), Some((0, 24)));
        let wide = Argument::Value { offset: 8, r#type: value("f32x4") };
        assert_eq!(wide.bytes(), Some((8, 16)));
        assert_eq!(Argument::Buffer(2).bytes(), None);
        assert_eq!(Argument::Local(64).bytes(), None);
    }

    #[test]
    fn a_sampler_stands_behind_its_image_and_in_no_list_of_a_suite() {
        use crate::gpu::{Filter, Image};
        let block = Argument::Block(16);
        for args in [None, Some(vec![Argument::Buffer(0), block])] {
            let mut plain = source(Language::Wgsl, "f32", args);
            assert_eq!(plain.arguments(), [Argument::Buffer(0), block]);
            assert_eq!(plain.buffer_count(), 1);
            plain.bindings[0].image = Some(Image { width: 8, filter: None });
            assert_eq!((plain.arguments().len(), plain.buffer_count()), (2, 0));
            plain.bindings[0].image = Some(Image { width: 8, filter: Some(Filter::Nearest) });
            let sampled = plain.arguments();
            assert_eq!(sampled, [Argument::Buffer(0), Argument::Sampler(0), block]);
            let places: Vec<_> = (0..3).map(|at| place_in_suite(&sampled, at)).collect();
            assert_eq!(places, [0, 0, 1]);
        }
    }

    #[test]
    fn types_are_read_and_written() {
        for text in ["i8", "u64", "f64", "f32x4", "u16x3", "i32x16"] {
            assert_eq!(String::from(value(text)), text);
        }
        assert_eq!(
            (value("f32x4").opencl(), value("u64").opencl()),
            ("float4".into(), "ulong".into())
        );
        assert_eq!((value("f32x3").size(), value("f64x2").size(), value("i8").size()), (16, 16, 1));
        for (name, text) in [("unsigned int", "u32"), ("float4", "f32x4"), ("double", "f64")] {
            assert_eq!(ValueType::from_opencl(name), Some(value(text)));
        }
        for name in ["Params", "float5", "float*", "image2d_t", "int1"] {
            assert_eq!(ValueType::from_opencl(name), None, "{name}");
        }
        for text in ["f8", "f32x5", "int", "f32x", ""] {
            assert!(ValueType::try_from(text.to_owned()).is_err(), "{text}");
        }
    }

    /// `kernel`, in a language, with a buffer of such elements, 16 bytes of parameters and these arguments.
    fn source(language: Language, element: &str, args: Option<Vec<Argument>>) -> KernelSource {
        use crate::gpu::{Access, Binding, Element, Origin, Settings};
        let element = Element::try_from(element.to_owned()).unwrap();
        KernelSource {
            language,
            text: String::new(),
            entry: "kernel".into(),
            origin: Origin::User("k".into()),
            group: [8, 4, 2],
            constants: vec![],
            bindings: vec![Binding {
                name: "x".into(),
                element,
                access: Access::Read,
                image: None,
            }],
            params_bytes: 16,
            args,
            meaning: None,
            settings: Settings::default(),
        }
    }

    #[test]
    fn a_kernel_takes_its_list_or_its_buffers_and_the_block() {
        let plain = source(Language::Opencl, "f32", None);
        assert_eq!(plain.arguments(), [Argument::Buffer(0), Argument::Block(16)]);
        assert_eq!((plain.group_size(), plain.origin.file()), (64, "k"));
        let bare = KernelSource { params_bytes: 0, ..plain };
        assert_eq!(bare.arguments(), [Argument::Buffer(0)]);
        let args = vec![Argument::Local(64), Argument::Buffer(0), Argument::Local(32)];
        let own = source(Language::Opencl, "f32", Some(args.clone()));
        assert_eq!((own.arguments(), own.buffer_count()), (args, 1));
        assert_eq!(own.local_arguments(), Bytes(96));
    }

    #[test]
    fn what_wgsl_cannot_take_is_named() {
        let number = |text| Argument::Value { offset: 0, r#type: value(text) };
        for (element, arg, lacks) in [
            ("f32", number("f32x4"), None),
            ("f32", number("i32"), None),
            ("f32", number("f32x8"), Some("f32x8")),
            ("f32", number("u8"), Some("u8")),
            ("f32", Argument::Local(64), Some("local memory")),
            ("u8", number("i32"), Some("u8")),
        ] {
            let why = |language| source(language, element, Some(vec![arg])).unsupported_argument();
            let found = why(Language::Wgsl);
            assert_eq!(found.is_some(), lacks.is_some(), "{element} {arg:?}: {found:?}");
            assert!(lacks.is_none_or(|lacks| found.is_some_and(|found| found.contains(lacks))));
            assert_eq!(why(Language::Opencl), None);
        }
        let image = Some(Image { width: 4, filter: None });
        let mut bytes = source(Language::Wgsl, "u8", None);
        bytes.bindings.iter_mut().for_each(|binding| binding.image = image);
        assert_eq!(bytes.unsupported_argument(), None, "the device makes fractions of them");
        let plain = crate::gpu::Binding { image: None, ..bytes.bindings[0].clone() };
        bytes.bindings.push(plain);
        assert!(bytes.unsupported_argument().is_some_and(|why| why.contains("u8")));
    }

    #[test]
    fn values_are_packed_behind_the_block() {
        let values = [(value("u8"), vec![7.0]), (value("u32"), vec![258.0])];
        assert_eq!(packed(4, &values), [7, 0, 0, 0, 2, 1, 0, 0]);
        assert!(value("u8").holds(255.0) && !value("u8").holds(256.0));
    }

    #[test]
    fn vectors_of_three_lie_as_those_of_four() {
        assert_eq!(value("i16x2").bytes(&[1.0, -1.0]), [1, 0, 255, 255]);
        assert_eq!(value("u8x3").bytes(&[1.0, 2.0, 3.0]), [1, 2, 3, 0]);
        assert_eq!(value("f64").bytes(&[1.5]), 1.5f64.to_ne_bytes());
    }

    #[test]
    fn values_lie_behind_the_block_at_multiples_of_their_size() {
        let types = ["i8", "f64", "i32"].map(value);
        assert_eq!(offsets(4, types), (vec![4, 8, 16], 20));
        assert_eq!(offsets(12, []), (vec![], 12));
    }

    #[test]
    fn buffers_in_another_order_than_the_kernels_are_a_misfit() {
        use crate::gpu::Access;
        let mut source = source(Language::Opencl, "f32", None);
        let element = source.bindings[0].element;
        let more =
            crate::gpu::Binding { name: "y".into(), element, access: Access::Write, image: None };
        source.bindings.push(more);
        assert_eq!(source.buffer_count(), 2);
        let misfit = |theirs: &[&str]| {
            order_misfit(&source, &theirs.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        };
        let why = "the suite's buffers are x, y, and `kernel` in k takes y, x";
        assert_eq!(misfit(&["y", "x"]).as_deref(), Some(why));
        assert!(misfit(&["a", "x"]).is_some(), "one has the name of another");
        assert_eq!(
            [misfit(&["x", "y"]), misfit(&["a", "b"]), misfit(&["x", "b"])],
            [None, None, None]
        );
    }
}
