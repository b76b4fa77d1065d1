//! What loads, and what becomes of it.

use super::{data, folder, load};
use gpubench::gpu::{Access, Constant, Language, MemoryKind, Origin, Scalar};
use gpubench::suite::{self, Requested, Suite, Workload};
use gpubench::workload::{Comparison, Fill, Kind, Split, Verify};
use std::path::Path;

fn workload<'a>(suite: &'a Suite, name: &str) -> &'a Workload {
    suite.workloads.iter().find(|workload| workload.name == name).unwrap()
}

#[test]
fn every_shipped_suite_loads_from_disk_and_from_the_binary() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("suites");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let on_disk = load(&path).unwrap_or_else(|error| panic!("{error}"));
        let name = path.file_stem().unwrap().to_str().unwrap();
        let embedded = gpubench::measure::load(name).unwrap();
        assert_eq!(on_disk.hash, embedded.hash, "{name}");
        assert!(on_disk.cases() > 0, "{name}");
        count += 1;
    }
    assert_eq!(count, suite::suites().len());
}

#[test]
fn every_key_reaches_the_workload() {
    let suite = load(&data().join("full.yaml")).unwrap();
    assert_eq!(suite.name, "full");
    assert_eq!((suite.budget.total, suite.budget.case), (Some(60.0), Some(0.5)));
    assert_eq!(suite.budget.memory.map(|bytes| bytes.0), Some(64 << 20));
    assert_eq!((suite.budget.rounds, suite.budget.target), (Some(2), Some(0.01)));
    let names: Vec<_> = suite.workloads.iter().map(|w| w.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "launches",
            "scale",
            "expected/32",
            "expected/64x2",
            "families/sepia",
            "families/unverified",
            "copies"
        ]
    );

    let scale = workload(&suite, "scale");
    let sizes: Vec<_> = scale.sizes.iter().map(|size| size[0].1).collect();
    assert_eq!(sizes, [1024, 4096]);
    assert_eq!(scale.tags, ["mine", "scaling"]);
    assert_eq!(scale.family, "memory");
    let kinds: Vec<Kind> = scale.measure.iter().map(Requested::kind).collect();
    assert_eq!(kinds, [Kind::KERNEL, Kind::new("overlap")]);
    assert_eq!(scale.host_memory, [MemoryKind::Pinned, MemoryKind::Pageable]);
    assert_eq!(scale.divide.as_deref(), Some("n"));
    let how = Comparison { relative: 1e-6, absolute: 0.0 };
    assert_eq!(scale.verify, Verify::Device(how));
    assert_eq!(scale.params[1].0, "factor");
    assert_eq!(scale.params[1].1.eval(&[]), Ok(-0.5));
    assert_eq!(scale.params[1].2, Scalar::F32);
    assert_eq!(scale.buffers[0].split, Split::Rows { halo: 1 });
    assert_eq!(scale.buffers[1].split, Split::Rows { halo: 0 });
    assert_eq!(scale.buffers[0].fill, Some(Fill::Uniform([0.0, 1.0])));
    assert_eq!(scale.work.bytes.eval(&[("n".into(), 3.0)]), Ok(24.0));

    let kernel = scale.kernel.as_ref().unwrap();
    assert_eq!(kernel.group, [64, 1, 1]);
    assert_eq!(kernel.constants[0], ("VALUES".into(), Constant::Int(4)));
    assert_eq!(kernel.constants[1], ("HALF".into(), Constant::Float(0.5)));
    assert_eq!(kernel.needs, ["subgroups"]);
    let search = kernel.search.as_ref().unwrap();
    assert_eq!(search.groups, [[64, 1, 1], [256, 1, 1]]);
    assert_eq!(search.constants[0].1, [Constant::Int(1), Constant::Int(4)]);
    let origin = &kernel.text(Language::Opencl).unwrap().origin;
    assert!(matches!(origin, Origin::User(file) if file.ends_with("scale.cl")));
}

#[test]
fn what_is_not_said_has_its_default() {
    let suite = load(&data().join("full.yaml")).unwrap();
    let expected = workload(&suite, "expected/64x2");
    assert_eq!(expected.kernel.as_ref().unwrap().group, [64, 2, 1]);
    assert_eq!(expected.buffers[0].access, Access::Read);
    assert_eq!(expected.buffers[1].access, Access::Write);
    assert_eq!(expected.family, "memory");
    assert!(matches!(&expected.verify, Verify::File(path, _) if path.is_absolute()));
    let copies = workload(&suite, "copies");
    assert_eq!(copies.family, "transfer");
    assert_eq!(copies.host_memory.len(), 3);
    assert_eq!(copies.verify, Verify::Nothing);
    assert_eq!(copies.cases(), 2 * 2 * 3);
    let launches = workload(&suite, "launches");
    assert!(launches.params.is_empty());
    assert_eq!(launches.sizes, [vec![]]);
    assert_eq!(launches.kernel.as_ref().unwrap().texts.len(), 1);
}

#[test]
fn variants_are_laid_over_their_base() {
    let suite = load(&data().join("full.yaml")).unwrap();
    let sepia = workload(&suite, "families/sepia");
    assert!(matches!(&sepia.verify, Verify::Reference(name, _) if name == "sepia"));
    assert_eq!(sepia.kernel.as_ref().unwrap().group, [16, 16, 1]);
    assert_eq!(sepia.sizes, [vec![("n".to_owned(), 64)]]);
    let plain = workload(&suite, "families/unverified");
    assert_eq!(plain.verify, Verify::Nothing);
    assert_eq!(plain.tags, ["mine", "plain"]);
    assert_eq!(plain.buffers[0].fill, Some(Fill::Constant(1.0)));
    assert_eq!(plain.buffers[1].name, "result");
    let origin = &plain.kernel.as_ref().unwrap().text(Language::Wgsl).unwrap().origin;
    assert_eq!(*origin, Origin::Lent("shaders/filters/sepia.wgsl".into()));
}

/// A shipped kernel is trusted with the sizes of a shipped suite, wherever that lies, and with no
/// others.
#[test]
fn trust_is_in_the_suite_too() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("suites");
    let finance = std::fs::read_to_string(root.join("finance.yaml")).unwrap();
    let copied = folder(&[
        ("same.yaml", &finance),
        ("other.yaml", &finance.replacen("name: finance", "name: another", 1)),
        ("including.yaml", "version: 1\ninclude: [same.yaml]\n"),
    ]);
    let trusted = |path: &Path| {
        let suite = load(path).unwrap();
        let kernel = suite.workloads[0].kernel.clone().unwrap();
        match kernel.text(Language::Wgsl).unwrap().origin {
            Origin::Shipped(_) => true,
            Origin::Lent(_) => false,
            Origin::User(_) => panic!("the kernel is a shipped one"),
        }
    };
    assert!(trusted(Path::new("finance")) && trusted(&root.join("finance.yaml")));
    assert!(trusted(&copied.path().join("same.yaml")));
    assert!(trusted(&copied.path().join("including.yaml")));
    assert!(!trusted(&copied.path().join("other.yaml")));
}

/// A kernel that mixes up the chains of a work-item is only caught where they differ.
#[test]
fn no_two_chains_of_a_work_item_begin_alike() {
    for name in ["micro", "embedded"] {
        let suite = load(Path::new(name)).unwrap();
        let fma = suite.workloads.iter().find(|w| w.name.starts_with("fma")).unwrap();
        let seeds = fma.buffers[0].count.count(&[]).unwrap();
        for size in &fma.sizes {
            let size: Vec<_> = size.iter().map(|(n, value)| (n.clone(), *value as f64)).collect();
            let n = fma.params[0].1.count(&size).unwrap();
            assert_eq!(n % 128, 0, "a whole number of the widest vectors");
            let first: std::collections::BTreeSet<_> = (0..8).map(|j| j * n / 8 % seeds).collect();
            assert_eq!(first.len(), 8, "{size:?}");
        }
    }
}

#[test]
fn the_hash_follows_the_contents_of_every_file_and_not_their_place() {
    const SUITE: &str = "version: 1\ninclude: [b.yaml]\n";
    const INCLUDED: &str = "version: 1\nworkloads:\n  w:\n    kernel: { opencl: k.cl, entry: k, group: [1] }\n    grid: [1]\n    verify: none\n";
    let hash = |included: &str, kernel: &str| {
        let folder = folder(&[("a.yaml", SUITE), ("b.yaml", included), ("k.cl", kernel)]);
        load(&folder.path().join("a.yaml")).unwrap().hash
    };
    let first = hash(INCLUDED, "kernel void k() {}");
    assert_eq!(first, hash(INCLUDED, "kernel void k() {}"));
    assert_ne!(first, hash(INCLUDED, "kernel void k() { }"));
    assert_ne!(first, hash(&(INCLUDED.to_owned() + "\n"), "kernel void k() {}"));
}

#[test]
fn a_huge_buffer_loads_and_is_left_to_the_plan() {
    let text = "version: 1\nworkloads:\n  w:\n    buffers: { b: { type: f32, count: 2^38, fill: index } }\n    measure: [upload]\n";
    let folder = folder(&[("a.yaml", text)]);
    let suite = load(&folder.path().join("a.yaml")).unwrap();
    assert_eq!(suite.workloads[0].buffers[0].count.count(&[]), Ok(1 << 38));
}

#[test]
fn a_file_of_two_that_include_it_counts_once() {
    let leaf = "version: 1\nworkloads:\n  w:\n    buffers: { b: { type: f32, count: 1, fill: index } }\n    measure: [upload]\n";
    let folder = folder(&[
        ("a.yaml", "version: 1\ninclude: [b.yaml, sub/c.yaml]\n"),
        ("b.yaml", "version: 1\ninclude: [d.yaml]\n"),
        ("sub/c.yaml", "version: 1\ninclude: [../d.yaml]\n"),
        ("d.yaml", leaf),
    ]);
    assert_eq!(load(&folder.path().join("a.yaml")).unwrap().workloads.len(), 1);
}

/// The families of workloads with such work, of a kernel whose time is measured.
fn family(work: &str) -> String {
    let folder = folder(&[(
        "suite.yaml",
        &format!(
            "version: 1\nworkloads:\n  w:\n    kernel: {{ family: micro, entry: triad, group: [64], \
             constants: {{ V: f32, ITEMS: 1 }} }}\n    sizes: {{ n: [256, 1024] }}\n    \
             params: {{ n: n, s: {{ f32: 2 }} }}\n    buffers:\n      \
             b: {{ type: f32, count: n, fill: {{ uniform: [0, 1] }} }}\n      \
             c: {{ type: f32, count: n, fill: {{ uniform: [0, 1] }} }}\n      \
             out: {{ type: f32, count: n }}\n    grid: [n]\n    verify: {{ reference: triad }}\n{work}"
        ),
    )]);
    load(&folder.path().join("suite.yaml")).unwrap().workloads[0].family.clone()
}

#[test]
fn the_family_follows_from_the_arithmetic_intensity() {
    // A SAXPY: two operations for twelve bytes.
    assert_eq!(family("    work: { flops: 2*n, bytes: 12*n }"), "memory");
    assert_eq!(family("    work: { flops: 71*n, bytes: 12*n }"), "memory");
    assert_eq!(family("    work: { flops: 72*n, bytes: 12*n }"), "compute");
    // A matrix product of n rows: n/6 operations a byte, 170 at the larger size.
    assert_eq!(family("    work: { flops: 2*n^3, bytes: 12*n^2 }"), "compute");
    assert_eq!(family("    work: { flops: n }"), "compute");
    assert_eq!(family("    work: { bytes: n }"), "memory");
    assert_eq!(family(""), "memory");
    assert_eq!(family("    work: { flops: 2*n, bytes: 12*n }\n    family: compute"), "compute");
}

/// Below the threshold memory bounds a kernel on every card that is described (small devices lie in a folder of their own).
#[test]
fn the_threshold_of_intensity_is_below_every_described_balance() {
    let devices = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/device/src/sim/devices");
    let mut count = 0;
    for entry in std::fs::read_dir(devices).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let gpu = gpubench::backend::sim::Description::parse("device", &text).unwrap();
        let flops = f64::from(gpu.units) * gpu.clock * gpu.compute.flops_per_cycle;
        let balance = flops / gpu.memory.bandwidth;
        let lowest = suite::COMPUTE_INTENSITY..2.0 * suite::COMPUTE_INTENSITY;
        assert!(balance >= suite::COMPUTE_INTENSITY, "{}: {balance}", gpu.name);
        count += usize::from(lowest.contains(&balance));
    }
    assert!(count > 0, "the threshold is far below what it stands for");
}

/// As KERNELS.md has it.
#[test]
fn a_definition_is_a_text_or_a_whole_number() {
    let text = std::fs::read_to_string(data().join("full.yaml")).unwrap();
    let defines = "entry: scale\n      defines: { REAL: float, USE_LOCAL: 1, LOW: -2 }";
    let text =
        text.replacen("entry: scale", defines, 1).replace("include: [more/included.yaml]\n", "");
    let file = |name: &str| std::fs::read_to_string(data().join(name)).unwrap();
    let (opencl, wgsl) = (file("scale.cl"), file("scale.wgsl"));
    let folder = folder(&[
        ("a.yaml", &text),
        ("scale.cl", &opencl),
        ("scale.wgsl", &wgsl),
        ("expected.bin", "0123456789abcdef"),
    ]);
    let suite = load(&folder.path().join("a.yaml")).unwrap_or_else(|error| panic!("{error}"));
    let kernel = workload(&suite, "scale").kernel.as_ref().unwrap();
    let defined: Vec<_> = kernel
        .settings
        .defines
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    assert_eq!(defined, [("REAL", "float"), ("USE_LOCAL", "1"), ("LOW", "-2")]);
}
