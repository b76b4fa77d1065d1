//! The keywords of a suite's file: enums spelled as serde spells them.

use super::decode::{Decode, Diagnostics};
use gpubench_core::gpu::{Access, MemoryKind};
use gpubench_core::workload::{Ceiling, Fill};
use gpubench_core::yaml::{Node, Value};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Declares a set of keywords, spelled in the file as in Rust but in snake case.
macro_rules! keywords {
    ($($(#[$doc:meta])* $name:ident { $($(#[$keyword_doc:meta])* $keyword:ident,)* })*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$keyword_doc])* $keyword,)* }
    )* };
}

keywords! {
    /// The ranking a workload counts in.
    Family {
        /// Bound by arithmetic.
        Compute,
        /// Bound by the device's memory.
        Memory,
        /// Copies between host and device.
        Transfer,
        /// Copies while a kernel runs.
        Overlap,
        /// Concurrent kernels.
        Concurrency,
    }
    /// A kind of host memory.
    HostMemoryKind {
        /// Ordinary host memory.
        Pageable,
        /// Host memory that the device's copy engine reaches directly.
        Pinned,
        /// Device memory that the host reaches through its address space.
        Mapped,
    }
    /// Something other than a reference that knows the right result.
    Other {
        /// Another device.
        Device,
        /// The emulator, which runs the kernel's WGSL source on the host.
        Emulator,
    }
    /// Who tries the variants of a search.
    #[derive(Default)]
    SearchedBy {
        /// Every run.
        #[default]
        Run,
        /// `gpubench tune` only.
        Tune,
    }
    /// A way to split a buffer that needs no number.
    PlainSplit {
        /// Every chunk sees all of it.
        Broadcast,
        /// Every chunk sees its rows.
        Rows,
    }
}

impl From<HostMemoryKind> for MemoryKind {
    fn from(kind: HostMemoryKind) -> Self {
        match kind {
            HostMemoryKind::Pageable => Self::Pageable,
            HostMemoryKind::Pinned => Self::Pinned,
            HostMemoryKind::Mapped => Self::Mapped,
        }
    }
}

impl Family {
    /// The keyword.
    pub fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Memory => "memory",
            Self::Transfer => "transfer",
            Self::Overlap => "overlap",
            Self::Concurrency => "concurrency",
        }
    }
}

/// A keyword of an enum that serde knows.
pub(super) fn keyword<T: DeserializeOwned>(
    node: &Node,
    diagnostics: &mut Diagnostics,
) -> Option<T> {
    serde_json::from_value(json(node))
        .map_err(|error| diagnostics.push(&node.at, error.to_string(), None))
        .ok()
}

fn json(node: &Node) -> serde_json::Value {
    match &node.value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Int(value) => (*value).into(),
        Value::Float(value) => (*value).into(),
        Value::Text(text) => text.as_str().into(),
        Value::List(items) => items.iter().map(json).collect(),
        Value::Map(entries) => {
            entries.iter().map(|(key, node)| (key.name.clone(), json(node))).collect()
        }
    }
}

macro_rules! decode_by_serde {
    ($($type:ty),*) => { $(
        impl Decode for $type {
            fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
                keyword(node, diagnostics)
            }
        }
    )* };
}
decode_by_serde!(Access, Ceiling, Fill, Family, HostMemoryKind, Other, SearchedBy);
