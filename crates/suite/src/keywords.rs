//! The keywords of a suite's file: enums spelled as serde spells them.

use super::decode::{Decode, Diagnostics};
use gpubench_core::gpu::{Access, Filter, Library, MemoryKind};
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
    /// The type of a kernel's fractions.
    Precision {
        /// Single precision.
        F32,
        /// Double precision.
        F64,
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
decode_by_serde!(
    Access,
    Ceiling,
    Fill,
    Filter,
    Family,
    HostMemoryKind,
    Library,
    Other,
    Precision,
    SearchedBy
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{decoded, wrong};

    #[test]
    fn keywords_are_what_serde_knows() {
        assert_eq!(decoded::<Family>("memory"), Ok(Family::Memory));
        assert_eq!(decoded::<SearchedBy>("tune"), Ok(SearchedBy::Tune));
        assert_eq!(decoded::<Fill>("{ uniform: [0, 2.5] }"), Ok(Fill::Uniform([0.0, 2.5])));
        assert_eq!(decoded::<Fill>("{ constant: -3 }"), Ok(Fill::Constant(-3.0)));
        assert_eq!(decoded::<Access>("read_write"), Ok(Access::ReadWrite));
        assert!(wrong::<Family>("fast").0.contains("unknown variant `fast`"));
        for (text, sort) in [
            ("true", "boolean `true`"),
            ("7", "integer `7`"),
            ("1.5", "floating point `1.5`"),
            ("a", "string \"a\""),
            ("~", "null"),
            ("{ a: 1 }", "map"),
        ] {
            let message = wrong::<Fill>(&format!("{{ uniform: {text} }}")).0;
            assert!(message.contains(sort), "{message}");
        }
    }

    #[test]
    fn each_family_and_kind_of_memory_has_its_name() {
        use Family::{Compute, Concurrency, Memory, Overlap, Transfer};
        let names = [Compute, Memory, Transfer, Overlap, Concurrency].map(Family::name);
        assert_eq!(names, ["compute", "memory", "transfer", "overlap", "concurrency"]);
        for name in names {
            assert_eq!(decoded::<Family>(name).unwrap().name(), name);
        }
        let kinds = ["pageable", "pinned", "mapped"]
            .map(|kind| MemoryKind::from(decoded::<HostMemoryKind>(kind).unwrap()));
        assert_eq!(kinds, [MemoryKind::Pageable, MemoryKind::Pinned, MemoryKind::Mapped]);
    }
}
