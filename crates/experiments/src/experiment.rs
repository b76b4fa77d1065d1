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

/// A kind of experiment. Everything that is particular to one stands in its folder.
pub trait Experiment: Sync + 'static {
    /// Its word in suites and records.
    const KIND: Kind;
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

    /// What is run besides the case. An experiment whose plan is `()` need not say so.
    ///
    /// # Errors
    /// Why it cannot be run on this device.
    fn plan(_: &Self::Spec, _: &Case, _: &Planning) -> Result<Self::Plan, Reason> {
        serde_json::from_value(serde_json::Value::Null).map_err(|error| error.to_string().into())
    }

    /// Measures `case` with `bench`.
    ///
    /// # Errors
    /// What the device says.
    fn run(_: &Case, _: &mut Bench) -> Result<()> {
        Err(Error::Unsupported("one device where two are needed".into()))
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
    fn costs(_: &Self::Data) -> Vec<(&'static str, Vec<f64>)> {
        vec![]
    }

    /// What reports say of its cases; empty where there are none. `None`: its samples say it all.
    fn section(_: &ReportInput) -> Option<Section> {
        None
    }

    /// The timed recordings by name, and the clock of their steps, where steps were kept.
    fn timelines(_: &Self::Data) -> Option<Timelines> {
        None
    }

    /// The same over several devices, to each its own case.
    ///
    /// # Errors
    /// What a device says.
    fn run_on_group(_: &[Case], _: &mut Bench<DeviceGroup>) -> Result<()> {
        Err(Error::Unsupported("it is measured on one device at a time".into()))
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
    /// Reads and checks what stands behind the experiment's word. `None`: there were mistakes, and
    /// they have been reported.
    fn read(node: Option<&Node>, context: &mut OptionsContext) -> Option<Self>;

    /// The options' form, where there are any.
    fn schema(_: &mut SchemaGenerator) -> Option<Schema> {
        None
    }

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
            _ => {
                context.diagnostics.push(&node.at, "this experiment has no options", None);
                None
            }
        }
    }
}

/// An experiment whose types are erased.
pub trait ErasedExperiment: ExperimentKind {
    /// As [`Experiment::SEVERAL_DEVICES`].
    fn several_devices(&self) -> bool;

    /// As [`Experiment::DRIFT_IS_RESULT`].
    fn drift_is_result(&self) -> bool;

    /// As [`Experiment::seconds`].
    fn seconds(&self, case: &Case) -> Option<f64>;

    /// As [`Experiment::buffers`].
    fn buffers(&self, device: &DeviceInfo, limits: &Limits) -> Option<Vec<BufferPlan>>;

    /// `case` with its plan.
    ///
    /// # Errors
    /// As [`Experiment::plan`].
    fn plan(&self, options: &Options, case: Case, planning: &Planning) -> Result<Case, Reason>;

    /// As [`Experiment::run`].
    ///
    /// # Errors
    /// What the device says.
    fn run(&self, case: &Case, bench: &mut Bench) -> Result<()>;

    /// As [`Experiment::run_on_group`].
    ///
    /// # Errors
    /// What a device says.
    fn run_on_group(&self, cases: &[Case], bench: &mut Bench<DeviceGroup>) -> Result<()>;

    /// Why `detail` is not what this experiment leaves.
    fn flaw(&self, detail: &Detail) -> Option<String>;

    /// As [`Experiment::learn`].
    fn learn(&self, detail: &Detail, engines: &mut Engines);

    /// As [`Experiment::groups_at_once`].
    fn groups_at_once(&self, detail: &Detail) -> Option<GroupsAtOnce>;

    /// As [`Experiment::stages`].
    fn stages(&self, detail: &Detail) -> Option<Stages>;

    /// As [`Experiment::predictions`].
    fn predictions(&self, detail: &Detail, device: Option<Residency>) -> Vec<ModelPrediction>;

    /// As [`Experiment::costs`].
    fn costs(&self, detail: &Detail) -> Vec<(&'static str, Vec<f64>)>;

    /// As [`Experiment::section`].
    fn section(&self, input: &ReportInput) -> Option<Section>;

    /// As [`Experiment::timelines`].
    fn timelines(&self, detail: &Detail) -> Option<Timelines>;

    /// It as a suite sees it.
    fn as_experiment_kind(&'static self) -> &'static dyn ExperimentKind;
}

/// The options of `E`: only `E` makes them.
fn spec<E: Experiment>(options: &Options) -> Option<&E::Spec> {
    options.downcast_ref()
}

/// An experiment as a value.
pub struct Erased<E>(PhantomData<E>);

impl<E> Erased<E> {
    /// The value.
    pub const NEW: Self = Self(PhantomData);
}

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
        E::Spec::schema(generator)
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

impl<E: Experiment> ErasedExperiment for Erased<E> {
    fn several_devices(&self) -> bool {
        E::SEVERAL_DEVICES
    }

    fn drift_is_result(&self) -> bool {
        E::DRIFT_IS_RESULT
    }

    fn seconds(&self, case: &Case) -> Option<f64> {
        E::seconds(&serde_json::from_value(case.plan.clone()).ok()?)
    }

    fn buffers(&self, device: &DeviceInfo, limits: &Limits) -> Option<Vec<BufferPlan>> {
        E::buffers(device, limits)
    }

    fn plan(&self, options: &Options, mut case: Case, planning: &Planning) -> Result<Case, Reason> {
        let spec = spec::<E>(options).ok_or("these are the options of another experiment")?;
        let plan = E::plan(spec, &case, planning)?;
        case.plan = serde_json::to_value(plan).map_err(|error| error.to_string())?;
        Ok(case)
    }

    fn run(&self, case: &Case, bench: &mut Bench) -> Result<()> {
        E::run(case, bench)
    }

    fn run_on_group(&self, cases: &[Case], bench: &mut Bench<DeviceGroup>) -> Result<()> {
        E::run_on_group(cases, bench)
    }

    fn flaw(&self, detail: &Detail) -> Option<String> {
        detail.flaw::<E::Data>()
    }

    fn learn(&self, detail: &Detail, engines: &mut Engines) {
        if let Some(data) = detail.read() {
            E::learn(&data, engines);
        }
    }

    fn groups_at_once(&self, detail: &Detail) -> Option<GroupsAtOnce> {
        E::groups_at_once(&detail.read()?)
    }

    fn stages(&self, detail: &Detail) -> Option<Stages> {
        E::stages(&detail.read()?)
    }

    fn predictions(&self, detail: &Detail, device: Option<Residency>) -> Vec<ModelPrediction> {
        detail.read().map_or_else(Vec::new, |data| E::predictions(&data, device))
    }

    fn costs(&self, detail: &Detail) -> Vec<(&'static str, Vec<f64>)> {
        detail.read().map_or_else(Vec::new, |data| E::costs(&data))
    }

    fn section(&self, input: &ReportInput) -> Option<Section> {
        E::section(input)
    }

    fn timelines(&self, detail: &Detail) -> Option<Timelines> {
        E::timelines(&detail.read()?)
    }

    fn as_experiment_kind(&'static self) -> &'static dyn ExperimentKind {
        self
    }
}
