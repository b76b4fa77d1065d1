//! What a kernel runs with, as a suite says it.

use crate::experiment::ToSchema;
use gpubench_suite::Node;
use gpubench_suite::{At, Decode};
use gpubench_suite::{OptionsContext, Partner, Place};
use schemars::SchemaGenerator;

gpubench_suite::spec! {
    /// What runs at the same time as the workload. It always runs concurrently with itself.
    ConcurrencySpec {
        /// Other workloads of the suite, each at every size of its own.
        with: Option<Vec<At<String>>>,
        /// Up to how many copies of the kernel run at once.
        copies: Option<At<u32>>,
    }
}

/// What runs at the same time as a workload.
pub struct Spec {
    /// Other workloads, and where they are named.
    pub with: Vec<(String, Place)>,
    /// Up to how many copies of its kernel run at once; 1: itself only.
    pub copies: u32,
}

impl crate::experiment::Spec for Spec {
    const SCHEMA: Option<ToSchema> = Some(SchemaGenerator::subschema_for::<ConcurrencySpec>);

    fn read(node: Option<&Node>, context: &mut OptionsContext) -> Option<Self> {
        let Some(node) = node else { return Some(Self { with: vec![], copies: 1 }) };
        let ConcurrencySpec { with, copies } = ConcurrencySpec::decode(node, context.diagnostics)?;
        let copies = match copies {
            Some(At { value: 0 | 1, at }) => {
                return context.diagnostics.reject(&at, "copies at once are two or more", None);
            }
            Some(copies) => copies.value,
            None => 1,
        };
        let with = with.iter().flatten().map(|name| context.named(name)).collect();
        Some(Self { with, copies })
    }

    fn partners(&self) -> Vec<Partner> {
        let partner = |named| Partner::new(named, "run concurrently with another");
        self.with.iter().map(partner).collect()
    }
}
