//! What one search is over: a workload at one size on one device, as a space.

use gpubench_analysis::fit::Profiled;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::reason::Reason;
use gpubench_core::workload::Size;
use gpubench_experiments::plan;
use gpubench_experiments::plan::{Case, Limits, Planned, scope_of, space};
use gpubench_suite::{Kernel, Suite, Variant, Workload};
use gpubench_tune::Space;

/// A workload at one size on one device, with all of its variants.
pub struct Target {
    /// Where.
    pub device: DeviceInfo,
    /// The workload at this size only, measured by its kernel's time.
    pub workload: Workload,
    /// Its variants, numbered as in the space.
    pub variants: Vec<Variant>,
    /// The same as numbers.
    pub space: Space,
    /// The variant that the suite itself takes, where it is one of them.
    pub own: Option<usize>,
    /// What predicts times on the device, where its profile is known.
    pub profiled: Option<Profiled>,
    suite: Suite,
    kernel: Kernel,
}

impl Target {
    /// The search of `workload` at `size` on a device, and what predicts times there. `None` where it has none, or no
    /// kernel is timed.
    ///
    /// # Errors
    /// `Usage` where its variants cannot be listed.
    pub fn new(
        suite: &Suite,
        workload: &Workload,
        size: &Size,
        (device, profiled): (&DeviceInfo, Option<&Profiled>),
    ) -> Result<Option<Self>> {
        let Some(kernel) = &workload.kernel else { return Ok(None) };
        let Some(search) = &kernel.search else { return Ok(None) };
        let wrong = |why: String| Error::Usage(format!("{}: {why}", workload.name));
        let scope = scope_of(workload, size).map_err(wrong)?;
        let variants = search.variants(kernel, &scope).map_err(wrong)?;
        let mut workload = Workload { sizes: vec![size.clone()], ..workload.clone() };
        workload.measure.retain(|requested| requested.kind().is_kernel());
        if workload.measure.is_empty() || variants.is_empty() {
            return Ok(None);
        }
        let numbers: Vec<_> =
            variants.iter().map(|one| (one.group, one.constants.as_slice())).collect();
        let space = space(&numbers).map_err(wrong)?;
        let own = variants.iter().position(|variant| variant.is_of(kernel));
        let (suite, kernel) = (Suite { workloads: vec![], ..suite.clone() }, kernel.clone());
        let (device, profiled) = (device.clone(), profiled.cloned());
        Ok(Some(Self { device, workload, variants, space, own, profiled, suite, kernel }))
    }

    /// The size.
    pub fn size(&self) -> &Size {
        &self.workload.sizes[0]
    }

    /// The kernel in a variant.
    pub fn kernel(&self, variant: usize) -> Kernel {
        self.kernel.in_variant(&self.variants[variant])
    }

    /// A variant as a case of a device: of its own, or of the one that the emulator is.
    ///
    /// # Errors
    /// Why the device does not take it.
    pub fn case(
        &self,
        device: &DeviceInfo,
        variant: usize,
        limits: &Limits,
    ) -> Result<Case, Reason> {
        // The device must take this variant, not what would take its place.
        let kernel = Kernel { fallback: vec![], ..self.kernel(variant) };
        let workload = Workload { kernel: Some(kernel), ..self.workload.clone() };
        let suite = Suite { workloads: vec![workload], ..self.suite.clone() };
        match plan(&suite, device, limits).into_iter().next() {
            Some(Planned::Case(case)) => Ok(*case),
            Some(Planned::Skipped(skip)) => Err(skip.reason),
            None => Err("nothing is measured".into()),
        }
    }
}
