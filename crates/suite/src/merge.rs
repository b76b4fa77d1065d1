//! Defaults below workloads below variants: what is said closer to the case wins.

use super::decode::{At, Diagnostics, Entries};
use super::file::{Kernel, Search, Work, Workload};
use super::values::{Group, Groups};
use gpubench_core::gpu::group_label;

/// More variants and work-groups than this of one workload are an error.
const MAX_WORKLOADS: usize = 1000;

/// The workloads that `spec` stands for: itself, or its variants, each once per work-group size.
pub fn expand(
    name: &At<String>,
    spec: &Workload,
    defaults: Option<&Workload>,
    diagnostics: &mut Diagnostics,
) -> Vec<(At<String>, Workload)> {
    let mut base = defaults.map_or_else(|| spec.clone(), |defaults| spec.over(defaults));
    let groups = |spec: &Workload| spec.kernel.as_ref().map_or(1, |k| groups(&k.value));
    let Some(variants) = base.variants.take() else {
        return match groups(&base) > MAX_WORKLOADS {
            true => too_many(name, diagnostics),
            false => by_group(name.clone(), base),
        };
    };
    // A variant has its own groups or those of the base.
    let each = |(_, spec): &(_, Workload)| match spec.kernel.as_ref() {
        Some(kernel) if kernel.value.group.is_some() => groups(spec),
        _ => groups(&base),
    };
    if variants.0.iter().map(each).fold(0, usize::saturating_add) > MAX_WORKLOADS {
        return too_many(name, diagnostics);
    }
    let mut all = vec![];
    for (variant, spec) in &variants.0 {
        if spec.variants.is_some() {
            diagnostics.push(&variant.at, "a variant has no variants of its own", None);
        }
        let name =
            At { value: format!("{}/{}", name.value, variant.value), at: variant.at.clone() };
        let mut merged = spec.over(&base);
        merged.variants = None;
        all.extend(by_group(name, merged));
    }
    all
}

fn groups(kernel: &Kernel) -> usize {
    match &kernel.group {
        Some(At { value: Groups::Several(groups), .. }) => groups.len(),
        _ => 1,
    }
}

fn too_many<T>(name: &At<String>, diagnostics: &mut Diagnostics) -> Vec<T> {
    let message = format!("variants and work-groups make at most {MAX_WORKLOADS} workloads");
    diagnostics.push(&name.at, message, None);
    vec![]
}

fn by_group(name: At<String>, mut spec: Workload) -> Vec<(At<String>, Workload)> {
    let group = spec.kernel.as_mut().and_then(|kernel| kernel.value.group.as_mut());
    let Some(At { value: Groups::Several(groups), .. }) = group else { return vec![(name, spec)] };
    let groups = std::mem::take(groups);
    let with_group = |group: &Group| {
        let mut spec = spec.clone();
        if let Some(At { value, .. }) = spec.kernel.as_mut().and_then(|k| k.value.group.as_mut()) {
            *value = Groups::One(*group);
        }
        (At { value: format!("{}/{}", name.value, group_label(*group)), at: name.at.clone() }, spec)
    };
    groups.iter().map(with_group).collect()
}

impl Workload {
    /// This workload, with what it does not say taken from `base`.
    fn over(&self, base: &Self) -> Self {
        Self {
            kernel: merge(&self.kernel, &base.kernel, Kernel::over),
            search: merge(&self.search, &base.search, Search::over),
            variants: self.variants.clone().or_else(|| base.variants.clone()),
            sizes: self.sizes.clone().or_else(|| base.sizes.clone()),
            params: merge(&self.params, &base.params, Entries::over),
            passes: self.passes.clone().or_else(|| base.passes.clone()),
            steps: self.steps.clone().or_else(|| base.steps.clone()),
            buffers: merge(&self.buffers, &base.buffers, Entries::over),
            grid: self.grid.clone().or_else(|| base.grid.clone()),
            work: merge(&self.work, &base.work, Work::over),
            verify: self.verify.clone().or_else(|| base.verify.clone()),
            measure: self.measure.clone().or_else(|| base.measure.clone()),
            tags: added(&self.tags, &base.tags),
            ceiling: self.ceiling.clone().or_else(|| base.ceiling.clone()),
            family: self.family.clone().or_else(|| base.family.clone()),
            host_memory: self.host_memory.clone().or_else(|| base.host_memory.clone()),
            divide: self.divide.clone().or_else(|| base.divide.clone()),
        }
    }
}

impl Kernel {
    /// This kernel, with what it does not say taken from `base`.
    pub fn over(&self, base: &Self) -> Self {
        // A shipped kernel and a user's own exclude each other.
        let own = [&self.opencl, &self.wgsl, &self.glsl, &self.spirv];
        let own_files = own.iter().any(|file| file.is_some());
        let inherited =
            |file: &Option<At<String>>, other: bool| if other { None } else { file.clone() };
        // Both are for Vulkan and wgpu: what is given takes the other's place.
        let displaced = |other: &Option<At<String>>| self.family.is_some() || other.is_some();
        Self {
            family: self.family.clone().or_else(|| inherited(&base.family, own_files)),
            entry: self.entry.clone().or_else(|| base.entry.clone()),
            opencl: self.opencl.clone().or_else(|| inherited(&base.opencl, self.family.is_some())),
            wgsl: self.wgsl.clone().or_else(|| inherited(&base.wgsl, displaced(&self.glsl))),
            glsl: self.glsl.clone().or_else(|| inherited(&base.glsl, displaced(&self.wgsl))),
            spirv: self.spirv.clone().or_else(|| inherited(&base.spirv, self.family.is_some())),
            group: self.group.clone().or_else(|| base.group.clone()),
            // Fallbacks belong to their group.
            fallback: match &self.group {
                Some(_) => self.fallback.clone(),
                None => self.fallback.clone().or_else(|| base.fallback.clone()),
            },
            constants: joined(&self.constants, &base.constants),
            args: self.args.clone().or_else(|| base.args.clone()),
            defines: joined(&self.defines, &base.defines),
            options: self.options.clone().or_else(|| base.options.clone()),
            // Bindings belong to their arguments.
            bindings: match &self.args {
                Some(_) => self.bindings.clone(),
                None => self.bindings.clone().or_else(|| base.bindings.clone()),
            },
            needs: self.needs.clone().or_else(|| base.needs.clone()),
        }
    }
}

impl Search {
    fn over(&self, base: &Self) -> Self {
        Self {
            group: self.group.clone().or_else(|| base.group.clone()),
            constants: joined(&self.constants, &base.constants),
            r#where: self.r#where.clone().or_else(|| base.r#where.clone()),
            by: self.by.clone().or_else(|| base.by.clone()),
        }
    }
}

impl Work {
    fn over(&self, base: &Self) -> Self {
        Self {
            flops: self.flops.clone().or_else(|| base.flops.clone()),
            bytes: self.bytes.clone().or_else(|| base.bytes.clone()),
            types: self.types.clone().or_else(|| base.types.clone()),
            working_set: self.working_set.clone().or_else(|| base.working_set.clone()),
        }
    }
}

impl<T: Clone> Entries<T> {
    /// Entries of equal name are replaced in their place, others follow; an empty map stands
    /// for itself.
    fn over(&self, base: &Self) -> Self {
        if self.0.is_empty() {
            return self.clone();
        }
        let mut merged = base.0.clone();
        for (key, value) in &self.0 {
            match merged.iter_mut().find(|(known, _)| known.value == key.value) {
                Some(entry) => *entry = (key.clone(), value.clone()),
                None => merged.push((key.clone(), value.clone())),
            }
        }
        Self(merged)
    }
}

fn merge<T: Clone>(
    over: &Option<At<T>>,
    base: &Option<At<T>>,
    merge: fn(&T, &T) -> T,
) -> Option<At<T>> {
    match (over, base) {
        (Some(over), Some(base)) => {
            Some(At { value: merge(&over.value, &base.value), at: over.at.clone() })
        }
        (over, base) => over.clone().or_else(|| base.clone()),
    }
}

fn joined<T: Clone>(over: &Option<Entries<T>>, base: &Option<Entries<T>>) -> Option<Entries<T>> {
    match (over, base) {
        (Some(over), Some(base)) => Some(over.over(base)),
        (over, base) => over.clone().or_else(|| base.clone()),
    }
}

/// The base's words first, each once.
fn added(
    over: &Option<Vec<At<String>>>,
    base: &Option<Vec<At<String>>>,
) -> Option<Vec<At<String>>> {
    let mut all: Vec<At<String>> = vec![];
    for word in base.iter().chain(over).flatten() {
        if !all.iter().any(|known| known.value == word.value) {
            all.push(word.clone());
        }
    }
    (!all.is_empty()).then_some(all)
}
