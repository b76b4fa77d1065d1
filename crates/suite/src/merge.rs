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
            variants: own_or(&self.variants, &base.variants),
            sizes: own_or(&self.sizes, &base.sizes),
            params: merge(&self.params, &base.params, Entries::over),
            passes: own_or(&self.passes, &base.passes),
            steps: own_or(&self.steps, &base.steps),
            buffers: merge(&self.buffers, &base.buffers, Entries::over),
            grid: own_or(&self.grid, &base.grid),
            work: merge(&self.work, &base.work, Work::over),
            verify: own_or(&self.verify, &base.verify),
            measure: own_or(&self.measure, &base.measure),
            tags: added(&self.tags, &base.tags),
            ceiling: own_or(&self.ceiling, &base.ceiling),
            family: own_or(&self.family, &base.family),
            host_memory: own_or(&self.host_memory, &base.host_memory),
            divide: own_or(&self.divide, &base.divide),
        }
    }
}

impl Kernel {
    /// This kernel, with what it does not say taken from `base`.
    pub fn over(&self, base: &Self) -> Self {
        // A shipped kernel and a user's own exclude each other.
        let own = [&self.opencl, &self.wgsl, &self.glsl, &self.spirv];
        let own_files = own.iter().any(|file| file.is_some()) || self.library.is_some();
        let family = self.family.is_some();
        Self {
            family: own_or_unless(own_files, &self.family, &base.family),
            library: own_or_unless(family || own_files, &self.library, &base.library),
            entry: own_or(&self.entry, &base.entry),
            // It is of a shipped text.
            precision: own_or_unless(own_files, &self.precision, &base.precision),
            opencl: own_or_unless(family, &self.opencl, &base.opencl),
            // Both are for Vulkan and wgpu: what is given takes the other's place.
            wgsl: own_or_unless(family || self.glsl.is_some(), &self.wgsl, &base.wgsl),
            glsl: own_or_unless(family || self.wgsl.is_some(), &self.glsl, &base.glsl),
            spirv: own_or_unless(family, &self.spirv, &base.spirv),
            translate: own_or_unless(self.has_other_module(base), &self.translate, &base.translate),
            group: own_or(&self.group, &base.group),
            // Fallbacks belong to their group.
            fallback: own_or_unless(self.group.is_some(), &self.fallback, &base.fallback),
            constants: joined(&self.constants, &base.constants),
            args: own_or(&self.args, &base.args),
            defines: joined(&self.defines, &base.defines),
            options: own_or(&self.options, &base.options),
            // Bindings belong to their arguments.
            bindings: own_or_unless(self.args.is_some(), &self.bindings, &base.bindings),
            needs: own_or(&self.needs, &base.needs),
            subgroup: own_or(&self.subgroup, &base.subgroup),
            registers: own_or(&self.registers, &base.registers),
        }
    }

    /// Whether what `base` says of its module is of no use here.
    fn has_other_module(&self, base: &Self) -> bool {
        let both = self.spirv.is_some() && base.spirv.is_some();
        both || self.family.is_some() || self.library.is_some()
    }
}

impl Search {
    fn over(&self, base: &Self) -> Self {
        Self {
            group: own_or(&self.group, &base.group),
            constants: joined(&self.constants, &base.constants),
            r#where: own_or(&self.r#where, &base.r#where),
            by: own_or(&self.by, &base.by),
        }
    }
}

impl Work {
    fn over(&self, base: &Self) -> Self {
        Self {
            flops: own_or(&self.flops, &base.flops),
            bytes: own_or(&self.bytes, &base.bytes),
            types: own_or(&self.types, &base.types),
            working_set: own_or(&self.working_set, &base.working_set),
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

fn own_or<T: Clone>(own: &Option<T>, base: &Option<T>) -> Option<T> {
    own.clone().or_else(|| base.clone())
}

/// What a workload says itself displaces some of what the base says.
fn own_or_unless<T: Clone>(displaced: bool, own: &Option<T>, base: &Option<T>) -> Option<T> {
    if displaced { own.clone() } else { own_or(own, base) }
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
        (over, base) => own_or(over, base),
    }
}

fn joined<T: Clone>(over: &Option<Entries<T>>, base: &Option<Entries<T>>) -> Option<Entries<T>> {
    match (over, base) {
        (Some(over), Some(base)) => Some(over.over(base)),
        (over, base) => own_or(over, base),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{decoded, mistakes, no_mistakes};

    fn spec(text: &str) -> Workload {
        decoded(text).unwrap()
    }

    /// The workloads that one called `w` stands for, and what is wrong.
    fn expanded(text: &str, defaults: Option<&str>) -> (Vec<(String, Workload)>, Vec<String>) {
        let defaults = defaults.map(spec);
        let mut diagnostics = no_mistakes(text);
        let all = expand(
            &At { value: "w".into(), at: 0..1 },
            &spec(text),
            defaults.as_ref(),
            &mut diagnostics,
        );
        let all = all.into_iter().map(|(name, spec)| (name.value, spec)).collect();
        (all, mistakes(diagnostics).into_iter().map(|(message, _)| message).collect())
    }

    fn names(text: &str) -> Vec<String> {
        expanded(text, None).0.into_iter().map(|(name, _)| name).collect()
    }

    /// The kernel of the only workload: its files by language, and its other keys.
    fn kernel(text: &str, defaults: &str) -> (String, Kernel) {
        let (mut all, wrong) =
            expanded(&format!("{{ kernel: {text} }}"), Some(&format!("{{ kernel: {defaults} }}")));
        assert!(all.len() == 1 && wrong.is_empty(), "{wrong:?}");
        let kernel = all.remove(0).1.kernel.unwrap().value;
        let files = [&kernel.family, &kernel.opencl, &kernel.wgsl, &kernel.glsl, &kernel.spirv];
        let files = files.map(|file| file.as_ref().map_or("-", |file| &file.value));
        (files.join(" "), kernel)
    }

    #[test]
    fn a_workload_is_itself_or_its_variants_each_once_a_group() {
        assert_eq!(names("{}"), ["w"]);
        assert_eq!(names("{ kernel: { group: [8] } }"), ["w"]);
        assert_eq!(names("{ kernel: { group: [[8], [4, 2]] } }"), ["w/8", "w/4x2"]);
        assert_eq!(names("{ variants: { a: {}, b: {} } }"), ["w/a", "w/b"]);
        assert_eq!(names("{ variants: {} }"), Vec::<String>::new());
        let both =
            "{ kernel: { group: [[8], [4]] }, variants: { a: {}, b: { kernel: { group: [2] } } } }";
        assert_eq!(names(both), ["w/a/8", "w/a/4", "w/b"]);
        let groups: Vec<_> = expanded(both, None)
            .0
            .into_iter()
            .map(|(_, spec)| spec.kernel.unwrap().value.group.unwrap().value.all())
            .collect();
        assert_eq!(groups, [[[8, 1, 1]], [[4, 1, 1]], [[2, 1, 1]]]);
        let (_, wrong) = expanded("{ variants: { a: { variants: { b: {} } } } }", None);
        assert_eq!(wrong, ["a variant has no variants of its own"]);
    }

    #[test]
    fn a_workload_stands_for_a_thousand_and_no_more() {
        let groups = |n: usize| (1..=n).map(|i| format!("[{i}]")).collect::<Vec<_>>().join(", ");
        let plain = |n| expanded(&format!("{{ kernel: {{ group: [{}] }} }}", groups(n)), None);
        assert_eq!(plain(1000).0.len(), 1000);
        let (all, wrong) = plain(1001);
        assert_eq!(
            (all.len(), wrong),
            (0, vec!["variants and work-groups make at most 1000 workloads".to_owned()])
        );
        let variants = |n: usize, own: &str| {
            let all: String = (0..n).map(|i| format!("v{i}: {own}, ")).collect();
            expanded(
                &format!("{{ kernel: {{ group: [{}] }}, variants: {{ {all} }} }}", groups(2)),
                None,
            )
            .0
            .len()
        };
        for own in ["{ tags: [t] }", "{ kernel: { entry: e } }"] {
            assert_eq!((variants(500, own), variants(501, own)), (1000, 0), "{own}");
        }
    }

    #[test]
    fn files_of_a_kernel_displace_what_they_exclude() {
        let files = |text: &str, defaults: &str| kernel(text, defaults).0;
        let own = "{ opencl: a.cl, wgsl: a.wgsl, spirv: a.spv }";
        assert_eq!(files("{}", own), "- a.cl a.wgsl - a.spv");
        assert_eq!(files("{ opencl: b.cl }", own), "- b.cl a.wgsl - a.spv");
        assert_eq!(files("{ glsl: b.glsl }", own), "- a.cl - b.glsl a.spv");
        assert_eq!(files("{ wgsl: b.wgsl }", "{ glsl: a.glsl }"), "- - b.wgsl - -");
        assert_eq!(files("{ family: f }", own), "f - - - -");
        assert_eq!(files("{ family: f }", "{ glsl: a.glsl }"), "f - - - -");
        for file in ["opencl: b.cl", "wgsl: b.wgsl", "glsl: b.glsl", "spirv: b.spv"] {
            assert!(files(&format!("{{ {file} }}"), "{ family: f }").starts_with("- "), "{file}");
        }
        assert_eq!(files("{ entry: e }", "{ family: f }"), "f - - - -");
    }

    #[test]
    fn what_is_said_of_a_module_belongs_to_it() {
        let translated = |text: &str| {
            let base = "{ spirv: a.spv, translate: false, subgroup: 32 }";
            let (_, kernel) = kernel(text, base);
            let size = kernel.subgroup.map(|subgroup| subgroup.value.to_string());
            (kernel.translate.map(|translate| translate.value), size)
        };
        let thirty_two = || Some("32".to_owned());
        assert_eq!(translated("{}"), (Some(false), thirty_two()));
        assert_eq!(translated("{ opencl: b.cl }"), (Some(false), thirty_two()));
        assert_eq!(translated("{ spirv: b.spv, subgroup: L }"), (None, Some("L".to_owned())));
        assert_eq!(translated("{ family: f, subgroup: 0 }"), (None, Some("0".to_owned())));
        assert_eq!(translated("{ translate: true }").0, Some(true));
    }

    #[test]
    fn fallbacks_belong_to_their_group_and_bindings_to_their_arguments() {
        let base = "{ group: [8], fallback: [[4]], args: [a], bindings: [[0, 0]], entry: e, options: [-w], needs: [f16] }";
        let (_, same) = kernel("{}", base);
        assert_eq!((same.fallback.unwrap().len(), same.bindings.unwrap().value.len()), (1, 1));
        assert_eq!(
            (same.entry.unwrap().value, same.options.unwrap().len(), same.needs.unwrap().len()),
            ("e".to_owned(), 1, 1)
        );
        let (_, other) = kernel("{ group: [16], args: [b] }", base);
        assert!(other.fallback.is_none() && other.bindings.is_none());
        let (_, own) = kernel("{ fallback: [[2], [1]], bindings: [[1, 1], [1, 2]] }", base);
        assert_eq!((own.fallback.unwrap().len(), own.bindings.unwrap().value.len()), (2, 2));
    }

    #[test]
    fn maps_are_merged_by_name_and_tags_are_added() {
        let base = "{ tags: [a, b], params: { n: 1, m: 2 }, kernel: { constants: { A: 1, B: 2 }, defines: { D: 1 } }, \
                    work: { flops: 1, bytes: 2 }, search: { constants: { A: [1] }, by: tune }, grid: [1] }";
        let over = "{ tags: [b, c], params: { m: 3, k: 4 }, kernel: { constants: { B: 5 } }, work: { bytes: 6 }, \
                    search: { where: [A < 2] }, grid: [2, 3] }";
        let (mut all, _) = expanded(over, Some(base));
        let spec = all.remove(0).1;
        assert_eq!(
            spec.tags.unwrap().iter().map(|tag| &tag.value[..]).collect::<Vec<_>>(),
            ["a", "b", "c"]
        );
        let params = spec.params.unwrap().value.0;
        let params: Vec<_> = params
            .iter()
            .map(|(name, param)| format!("{}={}", name.value, param.value.value.expr))
            .collect();
        assert_eq!(params, ["n=1", "m=3", "k=4"]);
        let kernel = spec.kernel.unwrap().value;
        assert_eq!((kernel.constants.unwrap().0.len(), kernel.defines.unwrap().0.len()), (2, 1));
        let work = spec.work.unwrap().value;
        assert_eq!(
            (
                work.flops.unwrap().value.expr.to_string(),
                work.bytes.unwrap().value.expr.to_string()
            ),
            ("1".to_owned(), "6".to_owned())
        );
        let search = spec.search.unwrap().value;
        assert!(search.by.is_some() && search.r#where.is_some() && search.constants.is_some());
        assert_eq!(spec.grid.unwrap().value.len(), 2);
        // An empty map stands for itself, and where nobody has tags there are none.
        let (mut all, _) = expanded("{ params: {} }", Some("{ params: { n: 1 } }"));
        let spec = all.remove(0).1;
        assert!(spec.params.unwrap().value.0.is_empty() && spec.tags.is_none());
    }
}
