//! How long a kernel is kept running, as a suite says it.

use crate::experiment::ToSchema;
use gpubench_core::units::quoted;
use gpubench_suite::{At, Decode, Node, OptionsContext};
use schemars::SchemaGenerator;
use std::ops::RangeInclusive;

gpubench_suite::spec! {
    /// How long the workload's kernel is kept running.
    SustainSpec {
        /// Minutes, from 0.05 to 1440; 5 where nothing is said.
        minutes: Option<At<f64>>,
    }
}

/// Where nothing is said: a cooler has warmed up by then.
const MINUTES: f64 = 5.0;
const RANGE: RangeInclusive<f64> = 0.05..=1440.0;

/// How long a kernel is kept running.
pub struct Spec {
    /// Minutes.
    pub minutes: f64,
}

impl crate::experiment::Spec for Spec {
    const SCHEMA: Option<ToSchema> = Some(SchemaGenerator::subschema_for::<SustainSpec>);

    fn read(node: Option<&Node>, context: &mut OptionsContext) -> Option<Self> {
        let Some(node) = node else { return Some(Self { minutes: MINUTES }) };
        let SustainSpec { minutes } = SustainSpec::decode(node, context.diagnostics)?;
        match minutes {
            Some(At { value, at }) if !RANGE.contains(&value) => {
                let help = "give minutes from 0.05 to 1440 (a day)";
                context.diagnostics.reject(&at, format!("{} minutes", quoted(value)), Some(help))
            }
            minutes => Some(Self { minutes: minutes.map_or(MINUTES, |minutes| minutes.value) }),
        }
    }
}
