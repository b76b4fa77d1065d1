//! A kind of experiment for tests, which takes no options.

use crate::{
    ExperimentKind, Family, HostMemory, Needs, Node, Options, OptionsContext, Partner, Workload,
    WrongOption,
};
use gpubench_core::workload::{Kind, Size};
use schemars::{Schema, SchemaGenerator};
use std::sync::Arc;

/// The kind, and what it needs.
pub struct Stub {
    pub kind: Kind,
    pub needs: Needs,
}

impl ExperimentKind for Stub {
    fn kind(&self) -> Kind {
        self.kind
    }

    fn about(&self) -> &'static str {
        "Nothing."
    }

    fn needs(&self) -> Needs {
        self.needs
    }

    fn family(&self) -> Option<Family> {
        None
    }

    fn host_memory(&self) -> HostMemory {
        HostMemory::Unused
    }

    fn options(&self, _: Option<&Node>, _: &mut OptionsContext) -> Option<Options> {
        Some(Arc::new(()))
    }

    fn options_schema(&self, _: &mut SchemaGenerator) -> Option<Schema> {
        None
    }

    fn partners(&self, _: &Options) -> Vec<Partner> {
        vec![]
    }

    fn wrong_at_size(
        &self,
        _: &Options,
        _: &Workload,
        _: &Size,
        _: &[(String, f64)],
    ) -> Vec<WrongOption> {
        vec![]
    }
}
