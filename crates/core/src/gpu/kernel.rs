//! A kernel before it is compiled, and what the compiler said of it.

use super::{Argument, Image, Language, MatrixProduct, Scalar, Settings};
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// The element type of a buffer: a scalar or a vector of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Element {
    /// The component type.
    pub scalar: Scalar,
    /// Components: 1, 2, 4, 8 or 16 (WGSL has 1, 2 and 4).
    pub width: u32,
}

impl schemars::JsonSchema for Element {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Element".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "`f16`, `bf16`, `f32`, `f64`, or `i` or `u` with 8, 16, 32 or 64 behind it, with `x2`, `x4`, `x8` or `x16` behind it for a vector.",
            "type": "string",
            "pattern": "^(f16|bf16|f32|f64|[iu](8|16|32|64))(x2|x4|x8|x16)?$",
        })
    }
}

impl Element {
    /// A scalar element.
    pub const fn scalar(scalar: Scalar) -> Self {
        Self { scalar, width: 1 }
    }

    /// Bytes of one element.
    pub fn size(self) -> Bytes {
        Bytes(self.scalar.size() as u64 * u64::from(self.width))
    }

    /// The type's name in `language`; `None` where the language has no such type.
    pub fn spelled(self, language: Language) -> Option<String> {
        let scalar = match language {
            Language::Opencl => self.scalar.opencl()?,
            Language::Wgsl => self.scalar.wgsl()?,
        };
        match (language, self.width) {
            (_, 1) => Some(scalar.to_owned()),
            (Language::Opencl, width) => Some(format!("{scalar}{width}")),
            (Language::Wgsl, width @ (2 | 4)) => Some(format!("vec{width}<{scalar}>")),
            (Language::Wgsl, _) => None,
        }
    }
}

impl TryFrom<String> for Element {
    type Error = String;

    /// Reads `f32`, `u32x4` and the like.
    fn try_from(text: String) -> Result<Self, String> {
        let (scalar, width) = text.split_once('x').unwrap_or((&text, "1"));
        let Some(scalar) = Scalar::from_name(scalar) else {
            return Err(format!(
                "`{text}` is no element type: f16, bf16, f32, f64, i8, u8, i16, u16, i32, u32, i64, u64, or one of \
                 them with x2, x4, x8 or x16 behind it"
            ));
        };
        match width.parse() {
            Ok(width @ (1 | 2 | 4 | 8 | 16)) => Ok(Self { scalar, width }),
            _ => Err(format!("`{text}`: a vector has 2, 4, 8 or 16 components")),
        }
    }
}

impl From<Element> for String {
    fn from(element: Element) -> Self {
        let scalar = element.scalar.name();
        match element.width {
            1 => scalar.to_owned(),
            width => format!("{scalar}x{width}"),
        }
    }
}

/// How a kernel uses a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Only read.
    Read,
    /// Only written: poisoned before a verified launch.
    Write,
    /// Read and written in place: restored before a verified launch.
    ReadWrite,
}

/// A value the compiler knows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Constant {
    /// An integer (`u32` in WGSL where it is not negative, else `i32`).
    Int(i64),
    /// A number (`f32`).
    Float(f64),
    /// A type, so that one kernel serves several vector widths.
    Type(Element),
    /// A product of matrices, so that one kernel serves several matrix units.
    Matrix(MatrixProduct),
}

impl Constant {
    /// What it counts as in a suite's arithmetic: a type as its width, so that a grid shrinks as
    /// vectors widen; a product of matrices as its rows.
    pub fn number(&self) -> f64 {
        match self {
            Self::Int(n) => *n as f64,
            Self::Float(x) => *x,
            Self::Type(element) => f64::from(element.width),
            Self::Matrix(product) => f64::from(product.shape[0]),
        }
    }

    /// The constants of a module that one of this `name` sets, with their values: itself, or a product's
    /// [sizes](MatrixProduct::sizes). None of a module's is a type.
    pub fn of_module(&self, name: &str) -> Vec<(String, Option<f64>)> {
        match self {
            Self::Int(_) | Self::Float(_) => vec![(name.to_owned(), Some(self.number()))],
            Self::Type(_) => vec![(name.to_owned(), None)],
            Self::Matrix(product) => {
                product.sizes(name).map(|(name, size)| (name, Some(size.into()))).into()
            }
        }
    }

    /// All that the constant of this `name` gives a suite's arithmetic: its number; of a product of matrices its sizes, too
    /// ([`MatrixProduct::sizes`]).
    pub fn numbers(&self, name: &str) -> Vec<(String, f64)> {
        let mut all = vec![(name.to_owned(), self.number())];
        if let Self::Matrix(product) = self {
            all.extend(product.sizes(name).map(|(name, size)| (name, size.into())));
        }
        all
    }
}

impl std::fmt::Display for Constant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(n) => write!(f, "{n}"),
            Self::Float(x) => write!(f, "{x}"),
            Self::Type(element) => write!(f, "{}", String::from(*element)),
            Self::Matrix(product) => product.fmt(f),
        }
    }
}

/// One buffer argument, in binding order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// The buffer's name in the suite.
    pub name: String,
    /// Its element type.
    pub element: Element,
    /// How the kernel uses it.
    pub access: Access,
    /// The image as which the kernel reads it; `None`: as a buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Image>,
}

/// Whether the API inserts bounds and loop checks into the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BoundsChecks {
    /// The API checks (wgpu's default): safe with any kernel, slower.
    On,
    /// No checks, for kernels shipped with gpubench in suites shipped with it, for modules that are handed over as they are,
    /// or where the API has none (OpenCL).
    Off,
}

/// Where a kernel's text came from, which decides how far it is trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Embedded in the binary, and so is the suite that sets its sizes; the path is below
    /// `shaders/`.
    Shipped(String),
    /// Embedded in the binary, but run with sizes, parameters and buffers of a user's suite.
    Lent(String),
    /// A file of the user's.
    User(String),
}

impl Origin {
    /// The file as messages name it.
    pub fn file(&self) -> &str {
        match self {
            Self::Shipped(file) | Self::Lent(file) | Self::User(file) => file,
        }
    }
}

/// What a kernel computes, for a device that has no compiler for it (the simulated GPU).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Meaning {
    /// Name of the reference that computes the same (`gpubench_reference`).
    pub reference: String,
    /// Names and types of the parameter block's fields, in order.
    pub params: Vec<(String, Scalar)>,
    /// Sizes of the workload, which the reference sees beside the parameters.
    pub sizes: Vec<(String, i64)>,
    /// Floating-point operations of the whole grid for which `groups` was planned.
    pub flops: f64,
    /// How many of them are of `f64`.
    #[serde(default)]
    pub double: f64,
    /// Bytes that the whole grid must move.
    pub bytes: f64,
    /// Number of work-groups for which `flops` and `bytes` hold; a part of the grid costs its share.
    pub groups: u64,
    /// Rows of the whole problem and the parameter that counts those of one launch, where a
    /// launch computes only that many, from its parameter `first` on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<(u64, String)>,
}

/// A kernel's text and everything its compiler must know.
///
/// `constants` and `group` reach the compiler without a line before the text, so that places in
/// its log are those of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelSource {
    /// The language of `text`.
    pub language: Language,
    /// The kernel's text, without its constants.
    pub text: String,
    /// Name of the entry point.
    pub entry: String,
    /// Where the text came from.
    pub origin: Origin,
    /// Work-items per work-group; the kernel sees `GROUP_X`, `GROUP_Y`, `GROUP_Z`.
    pub group: [u32; 3],
    /// Named values that the compiler knows.
    pub constants: Vec<(String, Constant)>,
    /// The buffers of every launch, in the suite's order.
    pub bindings: Vec<Binding>,
    /// Bytes of every launch's parameters. 0: there are none.
    pub params_bytes: u32,
    /// What it takes in its own order; `None`: the buffers in order, then all parameters as one
    /// block. Read by [`KernelSource::arguments`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<Argument>>,
    /// What it computes; `None` where no reference does.
    pub meaning: Option<Meaning>,
    /// What else its compiler is told.
    #[serde(default, skip_serializing_if = "Settings::is_default")]
    pub settings: Settings,
}

impl KernelSource {
    /// A text that takes nothing, in groups of one work-item; our own, where nothing else says whose it is.
    pub fn new(language: Language, entry: &str, text: impl Into<String>) -> Self {
        Self {
            language,
            text: text.into(),
            entry: entry.into(),
            origin: Origin::Shipped(entry.into()),
            group: [1; 3],
            constants: vec![],
            bindings: vec![],
            params_bytes: 0,
            args: None,
            meaning: None,
            settings: Settings::default(),
        }
    }

    /// Whether the API should check the kernel's accesses: neither somebody else's kernel nor
    /// somebody else's sizes are trusted.
    pub fn bounds_checks(&self) -> BoundsChecks {
        match (&self.origin, self.language) {
            // Nobody looks into a module that is handed over as it is.
            _ if self.settings.spirv => BoundsChecks::Off,
            (Origin::User(_) | Origin::Lent(_), Language::Wgsl) => BoundsChecks::On,
            _ => BoundsChecks::Off,
        }
    }

    /// SHA-256 over all that decides what it computes and how, in hexadecimal; not where its text came
    /// from.
    pub fn hash(&self) -> String {
        let identity = (
            (self.language, &self.text, &self.entry),
            (self.group, &self.constants, &self.bindings, self.params_bytes),
        );
        let mut identity = serde_json::to_vec(&identity).unwrap_or_default();
        // Kernels without such a list, or settings, have the hash that earlier versions gave them.
        if let Some(args) = &self.args {
            identity.extend(serde_json::to_vec(args).unwrap_or_default());
        }
        identity.extend(self.settings.identity().unwrap_or_default());
        crate::hash::sha256_hex(identity)
    }

    /// SHA-256 over what its compiler gets, in hexadecimal: OpenCL's compiles a whole text, others one entry point of it, with
    /// checks or without.
    pub fn compiled_hash(&self) -> String {
        let entry = (self.language != Language::Opencl).then_some(&self.entry);
        let built = (self.group, &self.constants, self.bounds_checks());
        let identity = (self.language, &self.text, entry, built);
        let mut identity = serde_json::to_vec(&identity).unwrap_or_default();
        identity.extend(self.settings.identity().unwrap_or_default());
        crate::hash::sha256_hex(identity)
    }

    /// Work-items per group in all.
    pub fn group_size(&self) -> u64 {
        self.group.iter().map(|&n| u64::from(n)).product()
    }
}

/// A work-group's size in words: `64`, `16x16`.
pub fn group_label(group: [u32; 3]) -> String {
    match group {
        [x, 1, 1] => format!("{x}"),
        [x, y, 1] => format!("{x}x{y}"),
        [x, y, z] => format!("{x}x{y}x{z}"),
    }
}

/// What building a kernel cost and showed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BuildReport {
    /// Seconds spent compiling.
    pub seconds: f64,
    /// Whether the run compiled it on the device for the first time: later builds may come from the driver's cache. `None`
    /// where nobody knows, as where that cache is older than the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<bool>,
    /// Whether the program, or one of several, was compiled earlier in this process: the seconds are what that took.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
    /// Registers (or private bytes) per work-item, where the API reports it.
    pub private_bytes: Option<u64>,
    /// Local memory per group, where the API reports it.
    pub local_bytes: Option<u64>,
    /// The subgroup size it was compiled for, where the API reports it.
    pub subgroup: Option<u32>,
    /// Whether the API checks, where it leaves its users no choice ([`KernelSource::bounds_checks`] else).
    #[serde(skip)]
    pub bounds_checks: Option<BoundsChecks>,
    /// Build options that were in force.
    pub options: String,
    /// Warnings of the compiler.
    pub log: String,
}

#[cfg(test)]
mod tests;
