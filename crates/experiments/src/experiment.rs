//! What a kind of experiment says of itself, and the one place where its types are erased.

use crate::engines::Engines;
use crate::plan::{BufferPlan, Case, Limits};
use crate::prediction_scores::ModelPrediction;
use crate::residency::GroupsAtOnce;
use crate::{Bench, DeviceGroup};
use gpubench_analysis::ReportInput;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Clock, DeviceInfo};
use gpubench_core::reason::Reason;
use gpubench_core::record::{Data, Detail, Timed};
use gpubench_core::workload::{Kind, Size};
use gpubench_document::Section;
use gpubench_model::concurrency::Device as Residency;
use gpubench_model::streams::Stages;
use gpubench_suite::Node;
use gpubench_suite::{
    ExperimentKind, Family, HostMemory, Needs, Options, OptionsContext, Partner, Suite, Workload,
    WrongOption,
};
use schemars::{Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;
use std::sync::Arc;

/// Plans what is run besides a case, from the options of its workload.
///
/// # Errors
/// Why it cannot be run on this device.
pub type PlanCase<E> =
    fn(&<E as Experiment>::Spec, &Case, &Planning) -> Result<<E as Experiment>::Plan, Reason>;
/// Measures a case. Fails with what the device says.
pub type Run = fn(&Case, &mut Bench) -> Result<()>;
/// The same over several devices, to each its own case.
pub type RunOnGroup = fn(&[Case], &mut Bench<DeviceGroup>) -> Result<()>;
/// Makes what reports say of an experiment's cases; empty where there are none.
pub type ToSection = fn(&ReportInput) -> Section;
/// Costs, each with its seconds in every turn.
pub type Costs = Vec<(&'static str, Vec<f64>)>;
/// Makes the schema of options.
pub type ToSchema = fn(&mut SchemaGenerator) -> Schema;

/// A kind of experiment. Everything that is particular to one stands in its folder.
pub trait Experiment: Sync + 'static {
    /// Its word in suites and records.
    const KIND: Kind = <Self::Data as Data>::KIND;
    /// What it measures, in a sentence.
    const ABOUT: &'static str;
    /// What a workload must have.
    const NEEDS: Needs = Needs::KERNEL;
    /// The ranking that it counts in; `None`: what the workload's work suggests.
    const FAMILY: Option<Family> = None;
    /// What it makes of the kinds of host memory that a workload lists.
    const HOST_MEMORY: HostMemory = HostMemory::Unused;
    /// Whether it is one measurement over all devices of a run.
    const SEVERAL_DEVICES: bool = false;
    /// Whether it measures how the device's speed changes: then a slower device is a result, and no
    /// reason to measure again.
    const DRIFT_IS_RESULT: bool = false;
    /// What is run besides the case. An experiment whose plan is `()` need not say so.
    const PLAN: PlanCase<Self> = |_, _, _| {
        serde_json::from_value(serde_json::Value::Null).map_err(|error| error.to_string().into())
    };
    /// How it measures on one device.
    const RUN: Run = |_, _| Err(Error::Unsupported("one device where two are needed".into()));
    /// How it measures over several devices.
    const RUN_ON_GROUP: RunOnGroup =
        |_, _| Err(Error::Unsupported("it is measured on one device at a time".into()));
    /// What reports say of its cases. `None`: its samples say it all.
    const SECTION: Option<ToSection> = None;

    /// Its options in a suite.
    type Spec: Spec;
    /// What a worker is sent besides the case: numbers only.
    type Plan: Serialize + DeserializeOwned;
    /// What a record holds under its name: [`Nothing`] where a set of samples says it all.
    type Data: Data;

    /// Buffers of its own instead of the workload's.
    fn buffers(_: &DeviceInfo, _: &Limits) -> Option<Vec<BufferPlan>> {
        None
    }

    /// Seconds that it measures, where its options say so and not the run.
    fn seconds(_: &Self::Plan) -> Option<f64> {
        None
    }

    /// What its times show of how the device copies.
    fn learn(_: &Self::Data, _: &mut Engines) {}

    /// How many groups it saw to run at once.
    fn groups_at_once(_: &Self::Data) -> Option<GroupsAtOnce> {
        None
    }

    /// Seconds of a divisible problem's stages, each in isolation.
    fn stages(_: &Self::Data) -> Option<Stages> {
        None
    }

    /// What models predicted, and what was measured; `device` is what is known of its residency.
    fn predictions(_: &Self::Data, _: Option<Residency>) -> Vec<ModelPrediction> {
        vec![]
    }

    /// What its times show of what the API costs, on the host's clock: each with its seconds in every turn.
    fn costs(_: &Self::Data) -> Costs {
        vec![]
    }

    /// The timed recordings by name, and the clock of their steps, where steps were kept.
    fn timelines(_: &Self::Data) -> Option<Timelines> {
        None
    }
}

/// Recordings by name, with the clock of their steps.
pub type Timelines = (Clock, Vec<(String, Timed)>);

/// What an experiment leaves whose samples say it all.
#[derive(Debug, Serialize, Deserialize)]
pub struct Nothing {}

impl Data for Nothing {
    const KIND: Kind = Kind::new("nothing");
}

/// Where a case is planned.
pub struct Planning<'a> {
    /// The suite, for workloads that options name.
    pub suite: &'a Suite,
    /// The case's own workload.
    pub workload: &'a Workload,
    /// The device.
    pub device: &'a DeviceInfo,
    /// What bounds the case.
    pub limits: &'a Limits,
}

/// The options of an experiment in a suite.
pub trait Spec: Sized + Send + Sync + 'static {
    /// The options' schema, where there are any.
    const SCHEMA: Option<ToSchema> = None;

    /// Reads and checks what stands behind the experiment's word. `None`: there were mistakes, and
    /// they have been reported.
    fn read(node: Option<&Node>, context: &mut OptionsContext) -> Option<Self>;

    /// The other workloads that are named.
    fn partners(&self) -> Vec<Partner> {
        vec![]
    }

    /// What is wrong at one size.
    fn wrong_at_size(&self, _: &Workload, _: &Size, _: &[(String, f64)]) -> Vec<WrongOption> {
        vec![]
    }
}

/// No options.
impl Spec for () {
    fn read(node: Option<&Node>, context: &mut OptionsContext) -> Option<Self> {
        use gpubench_suite::Value;
        let Some(node) = node else { return Some(()) };
        match &node.value {
            Value::Null => Some(()),
            Value::Map(entries) if entries.is_empty() => Some(()),
            _ => context.diagnostics.reject(&node.at, "this experiment has no options", None),
        }
    }
}

/// An experiment whose types are erased; what is not explained is as in [`Experiment`].
pub struct ErasedExperiment {
    /// It as a suite sees it.
    pub kind: &'static dyn ExperimentKind,
    /// Whether it is one measurement over all devices of a run.
    pub several_devices: bool,
    /// Whether a slower device is a result.
    pub drift_is_result: bool,
    /// Seconds that it measures, where its options say so.
    pub seconds: fn(&Case) -> Option<f64>,
    /// Buffers of its own.
    pub buffers: fn(&DeviceInfo, &Limits) -> Option<Vec<BufferPlan>>,
    /// The case with its plan.
    pub plan: fn(&Options, Case, &Planning) -> Result<Case, Reason>,
    /// How it measures on one device.
    pub run: Run,
    /// How it measures over several devices.
    pub run_on_group: RunOnGroup,
    /// What its times show of how the device copies.
    pub learn: fn(&Detail, &mut Engines),
    /// How many groups it saw to run at once.
    pub groups_at_once: fn(&Detail) -> Option<GroupsAtOnce>,
    /// Seconds of a divisible problem's stages.
    pub stages: fn(&Detail) -> Option<Stages>,
    /// What models predicted, and what was measured.
    pub predictions: fn(&Detail, Option<Residency>) -> Vec<ModelPrediction>,
    /// What its times show of what the API costs.
    pub costs: fn(&Detail) -> Costs,
    /// What reports say of its cases.
    pub section: Option<ToSection>,
    /// The timed recordings by name.
    pub timelines: fn(&Detail) -> Option<Timelines>,
}

impl ErasedExperiment {
    /// `E`, without its types.
    pub const fn of<E: Experiment>() -> Self {
        Self {
            kind: &Erased::<E>(PhantomData),
            several_devices: E::SEVERAL_DEVICES,
            drift_is_result: E::DRIFT_IS_RESULT,
            seconds: |case| E::seconds(&serde_json::from_value(case.plan.clone()).ok()?),
            buffers: E::buffers,
            plan: planned::<E>,
            run: E::RUN,
            run_on_group: E::RUN_ON_GROUP,
            learn: |detail, engines| {
                if let Some(data) = detail.read() {
                    E::learn(&data, engines);
                }
            },
            groups_at_once: |detail| E::groups_at_once(&detail.read()?),
            stages: |detail| E::stages(&detail.read()?),
            predictions: |detail, device| {
                detail.read().map_or_else(Vec::new, |data| E::predictions(&data, device))
            },
            costs: |detail| detail.read().map_or_else(Vec::new, |data| E::costs(&data)),
            section: E::SECTION,
            timelines: |detail| E::timelines(&detail.read()?),
        }
    }
}

/// `case` with the plan that `E` makes of it.
fn planned<E: Experiment>(
    options: &Options,
    mut case: Case,
    planning: &Planning,
) -> Result<Case, Reason> {
    let spec = spec::<E>(options).ok_or("these are the options of another experiment")?;
    let plan = E::PLAN(spec, &case, planning)?;
    case.plan = serde_json::to_value(plan).map_err(|error| error.to_string())?;
    Ok(case)
}

/// The options of `E`: only `E` makes them.
fn spec<E: Experiment>(options: &Options) -> Option<&E::Spec> {
    options.downcast_ref()
}

/// What a suite sees of `E`.
struct Erased<E>(PhantomData<E>);

impl<E: Experiment> ExperimentKind for Erased<E> {
    fn kind(&self) -> Kind {
        E::KIND
    }

    fn about(&self) -> &'static str {
        E::ABOUT
    }

    fn needs(&self) -> Needs {
        E::NEEDS
    }

    fn family(&self) -> Option<Family> {
        E::FAMILY
    }

    fn host_memory(&self) -> HostMemory {
        E::HOST_MEMORY
    }

    fn options(&self, node: Option<&Node>, context: &mut OptionsContext) -> Option<Options> {
        Some(Arc::new(E::Spec::read(node, context)?))
    }

    fn options_schema(&self, generator: &mut SchemaGenerator) -> Option<Schema> {
        Some(E::Spec::SCHEMA?(generator))
    }

    fn partners(&self, options: &Options) -> Vec<Partner> {
        spec::<E>(options).map_or_else(Vec::new, Spec::partners)
    }

    fn wrong_at_size(
        &self,
        options: &Options,
        workload: &Workload,
        size: &Size,
        scope: &[(String, f64)],
    ) -> Vec<WrongOption> {
        spec::<E>(options).map_or_else(Vec::new, |spec| spec.wrong_at_size(workload, size, scope))
    }
}
