//! What one search is over: a workload at one size on one device, as a space.

use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Constant, DeviceInfo};
use gpubench_core::reason::Reason;
use gpubench_core::workload::Size;
use gpubench_experiments::plan;
use gpubench_experiments::plan::{Case, Limits, Planned, scope_of};
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
    suite: Suite,
    kernel: Kernel,
}

impl Target {
    /// The search of `workload` at `size`; `None` where it has none, or no kernel is timed.
    ///
    /// # Errors
    /// `Usage` where its variants cannot be listed.
    pub fn new(
        suite: &Suite,
        workload: &Workload,
        size: &Size,
        device: &DeviceInfo,
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
        let space = space(&variants).map_err(wrong)?;
        let own = variants.iter().position(|variant| is_own(variant, kernel));
        let (suite, kernel) = (Suite { workloads: vec![], ..suite.clone() }, kernel.clone());
        Ok(Some(Self { device: device.clone(), workload, variants, space, own, suite, kernel }))
    }

    /// The size.
    pub fn size(&self) -> &Size {
        &self.workload.sizes[0]
    }

    /// The kernel in a variant.
    pub fn kernel(&self, variant: usize) -> Kernel {
        self.kernel.in_variant(&self.variants[variant])
    }

    /// A variant as a case.
    ///
    /// # Errors
    /// Why the device does not take it.
    pub fn case(&self, variant: usize, limits: &Limits) -> Result<Case, Reason> {
        // The device must take this variant, not what would take its place.
        let kernel = Kernel { fallback: vec![], ..self.kernel(variant) };
        let workload = Workload { kernel: Some(kernel), ..self.workload.clone() };
        let suite = Suite { workloads: vec![workload], ..self.suite.clone() };
        match plan(&suite, &self.device, limits).into_iter().next() {
            Some(Planned::Case(case)) => Ok(*case),
            Some(Planned::Skipped(skip)) => Err(skip.reason),
            None => Err("nothing is measured".into()),
        }
    }
}

/// Whether the suite itself takes this variant.
fn is_own(variant: &Variant, kernel: &Kernel) -> bool {
    let same = |(name, value): &(String, Constant)| {
        kernel.constants.iter().any(|(known, own)| known == name && own == value)
    };
    variant.group == kernel.group && variant.constants.iter().all(same)
}

/// The variants as numbers: those sides of the group and those constants that differ between them. Types
/// count as their width, or, where two are as wide, as their place in the list.
fn space(variants: &[Variant]) -> Result<Space, String> {
    let mut columns: Vec<(String, Vec<f64>)> = vec![];
    for (axis, name) in ["GROUP_X", "GROUP_Y", "GROUP_Z"].into_iter().enumerate() {
        let sizes = variants.iter().map(|variant| f64::from(variant.group[axis]));
        columns.push((name.to_owned(), sizes.collect()));
    }
    for (name, _) in &variants[0].constants {
        columns.push((name.clone(), numbers(name, variants)));
    }
    columns.retain(|(_, column)| column.iter().any(|value| *value != column[0]));
    if columns.is_empty() {
        // A search of one variant still is one.
        columns.push(("variant".to_owned(), vec![0.0; variants.len()]));
    }
    let (names, columns): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let rows = (0..variants.len()).map(|row| columns.iter().map(|column| column[row]).collect());
    Space::new(names, rows.collect())
        .map_err(|error| format!("its variants are no space: {error:?}"))
}

/// The values of a constant in all variants.
fn numbers(name: &str, variants: &[Variant]) -> Vec<f64> {
    let value = |variant: &Variant| {
        let found = variant.constants.iter().find(|(known, _)| known == name);
        found.map_or(Constant::Int(0), |(_, value)| value.clone())
    };
    let values: Vec<Constant> = variants.iter().map(value).collect();
    let mut known: Vec<&Constant> = vec![];
    for value in &values {
        if !known.contains(&value) {
            known.push(value);
        }
    }
    let clash = known
        .iter()
        .enumerate()
        .any(|(i, value)| known[..i].iter().any(|other| other.number() == value.number()));
    let place = |value: &Constant| known.iter().position(|other| *other == value).unwrap_or(0);
    let number = |value: &Constant| if clash { place(value) as f64 } else { value.number() };
    values.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::Element;

    #[test]
    fn what_differs_between_variants_is_a_parameter() {
        let element = |name: &str| Constant::Type(Element::try_from(name.to_owned()).unwrap());
        let variant = |group, v: &str, items| Variant {
            group,
            constants: vec![
                ("SAME".into(), Constant::Int(3)),
                ("V".into(), element(v)),
                ("ITEMS".into(), Constant::Int(items)),
            ],
            label: String::new(),
        };
        let variants = [
            variant([8, 4, 1], "f32", 1),
            variant([8, 8, 1], "u32", 2),
            variant([8, 8, 1], "f32x4", 2),
        ];
        let space = space(&variants).unwrap();
        assert_eq!(space.names(), ["GROUP_Y", "V", "ITEMS"]);
        assert_eq!(space.variants(), [[4.0, 0.0, 1.0], [8.0, 1.0, 2.0], [8.0, 2.0, 2.0]]);
    }
}
