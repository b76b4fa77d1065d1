use super::*;
use gpubench_core::gpu::Language;
use gpubench_core::record::sample::device;
use gpubench_suite::Subgroup;

/// A driver that is not the shipped file's gets no variant of it, and that is said.
#[test]
fn what_is_shipped_is_of_the_shipped_kernels() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../baselines/tuned");
    let suite = gpubench_experiments::load("tune").unwrap();
    let mut found = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let file = TunedFile::existing(&file.unwrap().path()).unwrap();
        for Tried { device: at, workload, size, .. } in &file.tried {
            let of_opencl = at.backend == "opencl";
            let language = if of_opencl { Language::Opencl } else { Language::Wgsl };
            let TunedDevice { backend, name, driver } = at.clone();
            let device = DeviceInfo { backend, name, driver, language, ..device("opencl") };
            let workload = suite.workloads.iter().find(|one| one.name == *workload).unwrap();
            let best = file.best(&device, workload, size).unwrap();
            assert!(best.is_some(), "{} {size:?}: none ran", workload.name);
            let newer = DeviceInfo { driver: "another".into(), ..device };
            assert_eq!(file.best(&newer, workload, size), Err(OTHERWISE.to_owned()));
            found += 1;
        }
    }
    assert!(found > 0, "no tuned variants are shipped");
}

#[test]
fn the_fastest_that_is_known_of_this_kernel_takes_the_own_ones_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tuned.jsonl");
    let suite = gpubench_experiments::load("tune").unwrap();
    let place = suite.workloads.iter().position(|w| w.name == "reduction").unwrap();
    let (workload, device) = (&suite.workloads[place], device("opencl"));
    let (size, kernel) = (&workload.sizes[1], workload.kernel.as_ref().unwrap());
    let mut file = TunedFile::open(&path).unwrap();
    for (group, seconds) in [(64, Some(2e-3)), (128, Some(1e-3)), (256, None), (64, Some(3e-3))] {
        let group = [group, 1, 1];
        let variant = Variant { group, constants: vec![], label: group[0].to_string() };
        let tried = Tried::new(&device, workload, &kernel.in_variant(&variant), size);
        let seconds = seconds.map(|median| [median, median, median]);
        file.append(Tried { seconds, outcome: "ok".into(), ..tried }).unwrap();
    }
    // A killed search leaves half a line.
    std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + "{\"version\":1,\"dev")
        .unwrap();
    let mut file = TunedFile::existing(&path).unwrap();
    assert_eq!(file.best(&device, workload, size).unwrap().unwrap().variant, "128");
    let (tuned, unused) = file.apply(&suite, &device);
    assert_eq!(
        (unused.len(), tuned.cases(), tuned.workloads.len()),
        (0, suite.cases(), suite.workloads.len() + 1)
    );
    let groups = |suite: &Suite| {
        let named = suite.workloads.iter().filter(|w| w.name == "reduction");
        named.map(|w| w.kernel.as_ref().unwrap().group[0]).collect::<Vec<_>>()
    };
    assert_eq!(groups(&tuned), [256, 128], "the size that was not tuned keeps its own");

    let again = file.tried[1].clone();
    file.append(Tried { seconds: Some([5e-3; 3]), ..again.clone() }).unwrap();
    let mut file = TunedFile::existing(&path).unwrap();
    assert_eq!(
        file.best(&device, workload, size).unwrap().unwrap().variant,
        "64",
        "the last counts"
    );
    type Change = fn(&mut Tried);
    let others: [Change; 3] = [
        |tried| tried.kernel = "another".into(),
        |tried| tried.device.driver = "2.0".into(),
        |tried| tried.constants.push(("RADIUS".into(), Constant::Int(3))),
    ];
    for change in others {
        let mut other = TunedFile::existing(&path).unwrap();
        other.tried.iter_mut().for_each(change);
        let (same, unused) = other.apply(&suite, &device);
        assert_eq!(groups(&same), [256]);
        assert!(unused[0].contains("another kernel, search or driver"), "{unused:?}");
    }
    file.tried.iter_mut().for_each(|tried| tried.device.name = "another".into());
    assert_eq!(file.apply(&suite, &device).1.len(), 0, "of another device nothing is known");
}

/// As editors leave it.
#[test]
fn a_last_line_without_its_end_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tuned.jsonl");
    let suite = gpubench_experiments::load("tune").unwrap();
    let workload = suite.workloads.iter().find(|w| w.name == "reduction").unwrap();
    let kernel = workload.kernel.as_ref().unwrap();
    let tried = Tried::new(&device("opencl"), workload, kernel, &workload.sizes[1]);
    for lines in 1..4 {
        let seconds = Some([f64::from(lines) * 1e-3; 3]);
        TunedFile::open(&path)
            .and_then(|mut file| file.append(Tried { seconds, ..tried.clone() }))
            .unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), lines as usize, "{text}");
        std::fs::write(&path, text.trim_end()).unwrap();
    }
}

/// They would be the fastest.
#[test]
fn times_that_no_clock_reads_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tuned.jsonl");
    let suite = gpubench_experiments::load("tune").unwrap();
    let workload = suite.workloads.iter().find(|w| w.name == "reduction").unwrap();
    let variant = Variant { group: [64, 1, 1], constants: vec![], label: "64".into() };
    let kernel = workload.kernel.as_ref().unwrap().in_variant(&variant);
    let tried = Tried::new(&device("opencl"), workload, &kernel, &workload.sizes[1]);
    let seconds = Some([2e-3; 3]);
    let mut file = TunedFile::open(&path).unwrap();
    file.append(Tried { seconds, outcome: "ok".into(), ..tried }).unwrap();
    let good = std::fs::read_to_string(&path).unwrap();
    assert!(TunedFile::existing(&path).is_ok() && good.contains("[0.002,0.002,0.002]"));
    for times in ["[-3.0,-2.0,-1.0]", "[5e-324,5e-324,5e-324]", "[0.003,0.002,0.001]"] {
        std::fs::write(&path, good.replacen("[0.002,0.002,0.002]", times, 1)).unwrap();
        let error = TunedFile::existing(&path).unwrap_err().to_string();
        assert!(error.contains("line 1 has times that no clock reads"), "{error}");
    }
}

/// What a constant makes of it is the variant's; that there is one, and by which name, is the kernel's.
#[test]
fn tries_of_all_sizes_of_a_subgroup_are_of_one_kernel() {
    let mut suite = gpubench_experiments::load("tune").unwrap();
    let workload = suite.workloads.iter_mut().find(|one| one.name == "reduction").unwrap();
    let (device, size) = (device("opencl"), workload.sizes[0].clone());
    let with = |workload: &Workload, subgroup| {
        let mut workload = workload.clone();
        workload.kernel.as_mut().unwrap().subgroup = subgroup;
        workload
    };
    let named = with(workload, Some(Subgroup::Constant("LANES".into())));
    let tried = |workload: &Workload, lanes| {
        let constants = vec![("LANES".into(), gpubench_core::gpu::Constant::Int(lanes))];
        let variant = Variant { group: [64, 1, 1], constants, label: String::new() };
        let kernel = workload.kernel.as_ref().unwrap().in_variant(&variant);
        Tried::new(&device, workload, &kernel, &size)
    };
    for lanes in [0, 32, 64] {
        assert!(tried(&named, lanes).is_of(&device, &named, &size), "{lanes}");
        assert!(!tried(workload, lanes).is_of(&device, &named, &size), "it asked for none");
    }
    let fixed = with(workload, Some(Subgroup::Size(32)));
    assert!(tried(&fixed, 0).is_of(&device, &fixed, &size));
    assert!(!tried(&fixed, 32).is_of(&device, &named, &size));
}
