//! How a buffer's layout is transformed, as a suite says it.

use crate::experiment::ToSchema;
use gpubench_suite::Expression;
use gpubench_suite::Node;
use gpubench_suite::{At, Decode};
use gpubench_suite::{Expr, OptionsContext, Partner, Place};
use schemars::SchemaGenerator;

gpubench_suite::spec! {
    /// How a buffer that the kernel accesses in strides is made contiguous first. Both workloads
    /// named have the sizes of this one and are run at each of them.
    LayoutSpec {
        /// The buffer.
        buffer: At<String>,
        /// Elements from one access to the next: one stride, or that of the inner and that of the
        /// outer loop; over sizes and parameters.
        strides: At<Vec<At<Expression>>>,
        /// The workload that reads such a buffer and writes it transformed.
        by: At<String>,
        /// The workload that does what this one does, with the transformed buffer for this one.
        then: At<String>,
    }
}

/// How a buffer that a kernel accesses in strides is made contiguous first.
pub struct Spec {
    /// The buffer, by name.
    pub buffer: String,
    /// Elements from one access to the next: one stride, or that of the inner and of the outer loop.
    pub strides: Vec<Expr>,
    /// Where they are given.
    pub place: Place,
    /// Name of the workload that writes it transformed, and where it is named.
    pub by: (String, Place),
    /// Name of the workload that does the same with it transformed, and where it is named.
    pub then: (String, Place),
}

impl crate::experiment::Spec for Spec {
    const SCHEMA: Option<ToSchema> = Some(SchemaGenerator::subschema_for::<LayoutSpec>);

    fn read(node: Option<&Node>, context: &mut OptionsContext) -> Option<Self> {
        let Some(node) = node else {
            let message =
                "this compares strided accesses with transformed ones: say which buffer's";
            let help = "`{ layout: { buffer: …, strides: […], by: …, then: … } }`";
            return context.diagnostics.reject(&context.at.clone(), message, Some(help));
        };
        let LayoutSpec { buffer, strides, by, then } =
            LayoutSpec::decode(node, context.diagnostics)?;
        context.check_buffer(&buffer)?;
        let At { value: strides, at } = &strides;
        if !(1..=2).contains(&strides.len()) {
            let message =
                format!("a buffer is accessed in one stride or two, not {}", strides.len());
            return context.diagnostics.reject(at, message, None);
        }
        for stride in strides {
            context.check_names(&stride.value, "strides are made of sizes and parameters")?;
        }
        Some(Self {
            buffer: buffer.value,
            strides: strides.iter().map(|stride| stride.value.expr.clone()).collect(),
            place: context.diagnostics.place(at),
            by: context.named(&by),
            then: context.named(&then),
        })
    }

    fn partners(&self) -> Vec<Partner> {
        let purpose = "transform a layout or to use the result";
        let partner = |named| Partner { same_sizes: true, ..Partner::new(named, purpose) };
        [&self.by, &self.then].map(partner).into()
    }
}
