//! What a kernel takes, as its compiler reports it: a suite for the kernel is made of it.

use super::{Access, Element, Scalar, ValueType};
use serde::{Deserialize, Serialize};

/// An entry point and its arguments in their own order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Signature {
    /// The entry point's name.
    pub entry: String,
    /// The work-group that the kernel's text fixes, where it does.
    pub group: Option<[u32; 3]>,
    /// What it takes.
    pub arguments: Vec<FormalArgument>,
    /// `@group` and `@binding` of each in WGSL; empty: group 0, and its position.
    pub bindings: Vec<[u32; 2]>,
}

/// An argument as the kernel declares it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FormalArgument {
    /// Its name.
    pub name: String,
    /// Its type in the kernel's language.
    pub r#type: String,
    /// What a suite gives it.
    pub takes: Takes,
}

/// What an argument takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Takes {
    /// A buffer.
    Buffer {
        /// What it holds; `None` for a type of the kernel's own.
        element: Option<Element>,
        /// How the kernel uses it; `None` where only its text shows it.
        access: Option<Access>,
    },
    /// A scalar or a vector.
    Value(ValueType),
    /// A struct: the parameter block.
    Block,
    /// Local memory.
    Local,
    /// An image in two dimensions that is only read: a buffer; the type of what the kernel reads of it, where that shows.
    Image(Option<Scalar>),
    /// A sampler.
    Sampler,
    /// Something that no suite can give, such as an image in three dimensions.
    Unsupported,
}
