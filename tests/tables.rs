//! What gpubench ships fits together: kernels in both languages, suites, and references.
#![expect(clippy::unwrap_used, reason = "a helper of tests panics as tests do")]

use gpubench::gpu::{DeviceInfo, DeviceKind, KernelSource, Language, MemoryKind, Origin};
use gpubench::hash::sha256_hex;
use gpubench::measure::plan;
use gpubench::plan::{Limits, Planned, turns};
use gpubench::suite::{Kernel, Suite, Workload};
use gpubench::units::Bytes;
use gpubench::workload::Verify;
use gpubench::{reference, suite};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::Path;

/// Kernels (`family/entry`) that have no kernel in the other language, each with its reason.
const WITHOUT_OTHER_LANGUAGE: &[(&str, &str)] = &[
    ("ceilings/atomic_f32_add", "OpenCL's is `atomic_f32` with NATIVE 1"),
    ("ceilings/matrix_bf16", "as matrix_chains"),
    ("ceilings/matrix_chains", "OpenCL C has no matrices but those of its vendors' extensions"),
    ("ceilings/matrix_f16", "as matrix_chains"),
    ("ceilings/matrix_i8", "as matrix_chains"),
];

/// Kernels that no embedded suite runs, each with its reason.
const UNUSED_KERNELS: &[(&str, &str)] = &[];

/// References that no embedded suite asks for, each with its reason.
const UNUSED_REFERENCES: &[(&str, &str)] = &[];

/// Every embedded suite, loaded.
fn suites() -> Vec<(&'static str, Suite)> {
    let names = suite::suites();
    assert!(!names.is_empty());
    let load = |name| match gpubench::measure::load(name) {
        Ok(suite) => (name, suite),
        Err(error) => panic!("suite `{name}`: {error}"),
    };
    names.into_iter().map(load).collect()
}

/// Of a file that modules in SPIR-V were compiled from: it is no kernel.
const MODULE_SOURCE: &str = "comp";
/// SHA-256 of that file and of its modules when they were compiled last, by the command at its head.
const COMPILED: [(&str, &str); 4] = [
    ("matrix_products.comp", "bb62bccc90de746dd05efcc2a920102283f117a2ec950606418923305afece49"),
    ("matrix_bf16.spv", "eeb209f9e9e6882a645d47b6f7422267182385e49541f95164af2e9403f9a69c"),
    ("matrix_f16.spv", "5440c74b70795a5a67a73fdc9385630c381a3157d072a5dd48ba1ad5d9880aa8"),
    ("matrix_i8.spv", "8746a975766a6d4723f1e974e2ba0ec5985fa716cd75ee088003ca29d87fcef7"),
];

/// Extensions of the files of each kernel `family/entry`.
fn shader_files() -> BTreeMap<String, BTreeSet<String>> {
    let shaders = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    let mut found = BTreeMap::<String, BTreeSet<String>>::new();
    for family in fs::read_dir(&shaders).unwrap() {
        for file in fs::read_dir(family.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let name = path.strip_prefix(&shaders).unwrap().with_extension("");
            let name = name.to_string_lossy().replace('\\', "/");
            let extension = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            if extension == MODULE_SOURCE {
                continue;
            }
            found.entry(name).or_default().insert(extension);
        }
    }
    found
}

/// Fails when `found` and `listed` are not the same, so that a list can neither lack a name nor
/// keep one that is not needed any more.
fn assert_listed(what: &str, found: BTreeSet<String>, listed: &[(&str, &str)]) {
    let names = listed.iter().map(|&(name, _)| name.to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(found, names, "{what}: what was found (left) is not what this test lists (right)");
    assert!(listed.iter().all(|(_, reason)| !reason.is_empty()), "{what}: a reason is missing");
}

#[test]
fn every_kernel_has_the_other_language() {
    let files = shader_files();
    assert!(files.len() > 10);
    let embedded: BTreeSet<_> = suite::kernels().into_iter().map(str::to_owned).collect();
    assert_eq!(files.keys().cloned().collect::<BTreeSet<_>>(), embedded);
    let languages = BTreeSet::from(["cl".to_owned(), "wgsl".to_owned()]);
    for (name, extensions) in &files {
        let module = BTreeSet::from(["spv".to_owned()]);
        let is_kernel = extensions.is_subset(&languages) || *extensions == module;
        assert!(is_kernel, "shaders/{name}: {extensions:?} is no kernel");
    }
    let single = files.into_iter().filter(|(_, extensions)| *extensions != languages);
    assert_listed(
        "kernels without the other language",
        single.map(|(name, _)| name).collect(),
        WITHOUT_OTHER_LANGUAGE,
    );
}

#[test]
fn modules_and_their_source_change_together() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders/ceilings");
    for (name, hash) in COMPILED {
        let is = sha256_hex(fs::read(folder.join(name)).unwrap());
        assert_eq!(is, hash, "{name}: compile the modules again, and note all hashes");
    }
}

#[test]
fn every_kernel_is_run_by_a_suite() {
    let suites = suites();
    let used: BTreeSet<_> = suites
        .iter()
        .flat_map(|(_, suite)| &suite.workloads)
        .filter_map(|workload| workload.kernel.as_ref())
        .flat_map(|kernel| &kernel.texts)
        .filter_map(|text| match &text.origin {
            Origin::Shipped(file) => {
                let name = file.strip_prefix("shaders/").unwrap_or(file);
                Some(Path::new(name).with_extension("").to_string_lossy().replace('\\', "/"))
            }
            Origin::Lent(_) | Origin::User(_) => None,
        })
        .collect();
    let unused = shader_files().into_keys().filter(|name| !used.contains(name)).collect();
    assert_listed("kernels that no suite runs", unused, UNUSED_KERNELS);
}

#[test]
fn every_reference_is_there_and_used() {
    let suites = suites();
    let mut used = BTreeSet::new();
    for (suite, workload) in workloads(&suites) {
        if let Verify::Reference(name, _) = &workload.verify {
            assert!(
                reference::find(name).is_some(),
                "suite `{suite}`, workload `{}`: there is no reference `{name}`",
                workload.name
            );
            used.insert(name.clone());
        }
    }
    let all: Vec<_> = reference::names().collect();
    assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "sorted, each once: {all:?}");
    let unused = all.iter().filter(|name| !used.contains(**name)).map(|&name| name.into());
    assert_listed("references that no suite asks for", unused.collect(), UNUSED_REFERENCES);
}

#[test]
fn the_docs_list_every_reference() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/REFERENCES.md");
    let page = fs::read_to_string(page).unwrap();
    let listed: Vec<_> = page.lines().filter(|line| line.starts_with("| `")).collect();
    let row = |(name, about)| format!("| `{name}` | {about} |");
    let all: Vec<_> = reference::abouts().map(row).collect();
    assert_eq!(listed, all);
}

#[test]
fn every_kernel_that_computes_is_verified() {
    let suites = suites();
    for (suite, workload) in workloads(&suites) {
        let unchecked = workload.kernel.is_some() && workload.verify == Verify::Nothing;
        assert!(!unchecked, "suite `{suite}`, workload `{}`: nothing verifies it", workload.name);
    }
}

/// Every size of every suite has a case.
const UNLIMITED: Limits = Limits {
    memory: Some(Bytes(u64::MAX / 2)),
    seconds: 1e9,
    seed: 0,
    cores: u32::MAX,
    host_memory: None,
};

#[test]
fn every_variant_of_every_wgsl_kernel_is_valid() {
    let mut seen = HashSet::new();
    let mut mistakes = vec![];
    for (name, suite) in suites() {
        for planned in plan(&suite, &everything(), &UNLIMITED) {
            let Planned::Case(case) = planned else { continue };
            let workload = suite.workloads.iter().find(|w| w.name == case.key.workload).unwrap();
            let needs = workload.kernel.as_ref().map_or_else(Vec::new, needs);
            // Of a search over vector widths, the plan leaves those that WGSL spells.
            let spelled = case
                .candidates
                .iter()
                .filter_map(|candidate| candidate.kernel.wgsl().ok().map(|text| (candidate, text)));
            let spelled: Vec<_> = spelled.collect();
            assert!(
                workload.kernel.is_none() || !spelled.is_empty(),
                "suite `{name}`, {}",
                case.key
            );
            let mut is_any_valid = spelled.is_empty();
            for (candidate, text) in spelled {
                let is_new = seen.insert(text.clone());
                match validate(&candidate.kernel, &text, &needs) {
                    Ok(()) => is_any_valid = true,
                    // A kernel says itself which values of a search its language lacks.
                    Err(why) if why.contains("`const_assert` failure") => {}
                    Err(why) if is_new => {
                        let key = &case.key;
                        mistakes.push(format!("suite `{name}`, {key} {}: {why}", candidate.label));
                    }
                    Err(_) => {}
                }
            }
            assert!(is_any_valid || !mistakes.is_empty(), "suite `{name}`, {}", case.key);
        }
    }
    // More than one variant a kernel, since some are searched.
    assert!(seen.len() > suite::kernels().len(), "only {} texts were examined", seen.len());
    assert!(mistakes.is_empty(), "\n{}\n", mistakes.join("\n"));
}

/// A budget that ends early leaves every workload its first sizes, since ranks follow sizes.
#[test]
fn ranks_grow_with_the_sizes_of_a_workload() {
    for (name, suite) in suites() {
        let cases =
            plan(&suite, &everything(), &UNLIMITED).into_iter().filter_map(
                |planned| match planned {
                    Planned::Case(case) => Some(*case),
                    Planned::Skipped(_) => None,
                },
            );
        let cases: Vec<_> = cases.collect();
        let ranks: Vec<usize> = turns(&cases).iter().map(|turn| turn.rank).collect();
        for (case, rank) in cases.iter().zip(&ranks) {
            let siblings =
                || cases.iter().zip(&ranks).filter(|(o, _)| o.key.is_sibling_of(&case.key));
            assert!(siblings().any(|(_, rank)| *rank == 0), "suite `{name}`, {}", case.key);
            for (other, its) in siblings() {
                let smaller = other.key.is_no_larger_than(&case.key);
                assert!(!smaller || its <= rank, "`{name}`: {} after {}", other.key, case.key);
            }
        }
    }
}

fn workloads<'a>(
    suites: &'a [(&'static str, Suite)],
) -> impl Iterator<Item = (&'static str, &'a Workload)> {
    suites.iter().flat_map(|(name, suite)| suite.workloads.iter().map(|w| (*name, w)))
}

/// What a suite says that a kernel needs, and what its text in WGSL does.
fn needs(kernel: &Kernel) -> Vec<String> {
    let text = kernel.text(Language::Wgsl).into_iter().flat_map(|text| &text.needs);
    kernel.needs.iter().cloned().chain(text.map(|&need| need.to_owned())).collect()
}

/// Validates as on a device that has nothing beyond what the suite says the kernel needs.
fn validate(source: &KernelSource, text: &str, needs: &[String]) -> Result<(), String> {
    // A device without integers of 16 or 64 bits skips a kernel that has them.
    let mut capabilities = Capabilities::SHADER_INT16 | Capabilities::SHADER_INT64;
    for need in needs {
        capabilities |= match need.as_str() {
            "subgroups" => Capabilities::SUBGROUP | Capabilities::SUBGROUP_BARRIER,
            "f16" => Capabilities::SHADER_FLOAT16,
            "f64" => Capabilities::FLOAT64,
            "f32_atomics" => Capabilities::SHADER_FLOAT32_ATOMIC,
            "i64_atomics" => Capabilities::SHADER_INT64_ATOMIC_ALL_OPS,
            other => return Err(format!("this test does not know what `{other}` needs")),
        };
    }
    let file = source.origin.file();
    let module = naga::front::wgsl::parse_str(text)
        .map_err(|error| error.emit_to_string_with_path(text, file))?;
    Validator::new(ValidationFlags::all(), capabilities)
        .validate(&module)
        .map_err(|error| error.emit_to_string_with_path(text, file))?;
    let entry = module.entry_points.iter().find(|entry| entry.name == source.entry);
    let size = entry.map(|entry| entry.workgroup_size);
    if size == Some(source.group) {
        Ok(())
    } else {
        Err(format!("the group is {:?}, in {file} {size:?}", source.group))
    }
}

/// A device that refuses nothing.
fn everything() -> DeviceInfo {
    DeviceInfo {
        backend: "wgpu".into(),
        name: "everything".into(),
        vendor: "nobody".into(),
        kind: DeviceKind::Discrete,
        driver: "none".into(),
        api: "none".into(),
        language: Language::Wgsl,
        memory: Some(Bytes(u64::MAX)),
        max_buffer: Bytes(u64::MAX),
        max_binding: Bytes(u64::MAX),
        max_storage_buffers: 64,
        compute_units: Some(128),
        max_group_size: 1024,
        max_group_dims: [1024; 3],
        max_groups: [u32::MAX; 3],
        local_memory: Bytes::mib(1),
        queues: 2,
        timestamp_resolution: Some(1e-9),
        subgroup: Some([32, 32]),
        offset_alignment: Bytes(256),
        host_memory: vec![MemoryKind::Pageable, MemoryKind::Pinned, MemoryKind::Mapped],
        features: ["subgroups", "f16", "f64"].map(str::to_owned).to_vec(),
        ..DeviceInfo::default()
    }
}
