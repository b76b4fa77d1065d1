//! `fit` and `predict` on the command line: what they say, and what they reject.

use crate::common::{Place, invented, output};
use crate::gpu;
use gpubench::measure::load;
use gpubench::record::Built;
use gpubench::store::Writer;
use serde_json::Value;
use std::path::Path;

/// The shipped suites in a folder of their own, with one that selects from them.
pub fn place(select: &str) -> Place {
    let place = Place::new();
    let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("suites");
    for entry in std::fs::read_dir(suites).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, place.folder.path().join(path.file_name().unwrap())).unwrap();
    }
    let includes = "characterise, micro, transpose, filters, finance";
    let includes: Vec<String> = includes.split(", ").map(|name| format!("{name}.yaml")).collect();
    let includes = includes.join(", ");
    let suite = format!("version: 1\nname: mine\ninclude: [{includes}]\nselect: {select}\n");
    std::fs::write(place.folder.path().join("mine.yaml"), suite).unwrap();
    place
}

fn device(name: &str) -> String {
    format!("{}/crates/device/src/sim/devices/{name}.yaml", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_run_that_characterises_and_measures_sizes_ends_with_its_models() {
    let place = place(
        "{ launches: {}, chase: { words: [1024] }, sepia: { n: [512, 1024] }, linear: { n: [512, 1024] }, \
         transpose_naive: { rows: [512, 1000] }, transpose_tiled: { rows: [512, 1000] }, \
         transpose_padded/32x8: { rows: [512, 1000, 1024] }, black_scholes: { n: [65536, 262144, 1048576] } }",
    );
    // The simulator prices these two by their references; smaller buffers keep the test short.
    let costs = "budget: { rounds: 1, case: 0.2 }
workloads:
  float/add:
    kernel: { family: characterise, entry: float_chain, group: [64], constants: { SEEDS: 256, OP: 0, REPEAT: 16, V: f32 } }
    search: { constants: { V: [f32, f32x4], REPEAT: [16, 48] } }
    sizes: { n: [65536] }
    params: { n: n, passes: 16, a: { f32: 0.3711 }, b: { f32: \"-0.2297\" }, c: { f32: 0.1093 }, d: { f32: \"-0.2506\" } }
    buffers:
      seeds: { type: f32, count: 256, fill: { uniform: [0.5, 1] }, access: read }
      out: { type: f32, count: n, access: write }
    grid: [\"ceil_div(n, V)\"]
    work: { flops: n*16*REPEAT, bytes: 4*n }
    verify: { reference: float_chain, relative: 0, absolute: 0 }
    measure: [characterise]
    family: compute
  stream/read:
    kernel: { family: characterise, entry: stream, group: [256], constants: { MAX_REPEAT: 12, MODE: 0, REPEAT: 4, V: u32 } }
    search: { constants: { V: [u32, u32x4], REPEAT: [4, 12] } }
    sizes: { n: [786432], group: [256] }
    params: { n: n }
    buffers:
      data: { type: u32, count: n, fill: random_bits, access: read, split: rows }
      out: { type: u32, count: n, access: write, split: rows }
    grid: [\"n/(MAX_REPEAT*V)\"]
    work: { flops: 0, bytes: 4*n*REPEAT/MAX_REPEAT }
    verify: { reference: stream, relative: 0, absolute: 0 }
    measure: [characterise]
    family: memory
";
    let file = place.folder.path().join("mine.yaml");
    let suite = std::fs::read_to_string(&file).unwrap() + costs;
    std::fs::write(&file, suite).unwrap();
    let run = ["run", "mine.yaml", "--sim", "gtx 260", "k40c", "--seed", "7"];
    let (code, out, err) = output(&place, &run);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(out.matches("Models on sim:").count(), 2, "{out}");
    // Each of the 15 launches has a bound, or the report says that none can be determined.
    let bounds: Vec<&str> = out.split("Bound by: ").skip(1).collect();
    for bound in &bounds {
        let listed = bound.split('.').next().unwrap().split(", ");
        let counts = listed.map(|part| part.rsplit(' ').next().unwrap().parse::<u32>().unwrap());
        assert_eq!(counts.sum::<u32>(), 15, "{out}");
    }
    assert_eq!(bounds.len(), 2, "{out}");

    let file = place.result().display().to_string();
    let fit = ["fit", &file, "--suite", "mine.yaml"];
    let (code, out, err) = output(&place, &[&fit[..], &["--json"]].concat());
    assert_eq!(code, Some(0), "{err}");
    let reports: Value = serde_json::from_str(&out).unwrap();
    for report in reports.as_array().unwrap() {
        assert_eq!((&report["profile"], &report["launches"]), (&true.into(), &15.into()));
        assert_eq!(report["models"].as_array().unwrap().len(), 6, "{}", report["failed"]);
        assert!(report["bounds"].as_array().unwrap().len() <= 15);
    }
    let (_, out, _) = output(&place, &fit);
    assert!(out.contains("15 kernels and sizes, with its profile"), "{out}");

    // Both devices were measured: picking between them can be evaluated.
    for model in ["components", "parallel-degrees"] {
        let predict = ["predict", "mine.yaml", "--profile", &file, "--model", model, "--json"];
        let (code, out, err) = output(&place, &predict);
        assert_eq!(code, Some(0), "{err}");
        let predictions: Value = serde_json::from_str(&out).unwrap();
        // All but the launches that the profile itself is made of.
        assert_eq!(predictions["summary"]["compared"], 14, "{}", predictions["summary"]);
        assert!(err.contains("launches: skipped") && err.contains("part of the profile"), "{err}");
        let error = predictions["summary"]["relative_error"].as_f64().unwrap();
        assert!(model != "components" || error < 0.5, "{error}");
        for case in predictions["cases"].as_array().unwrap() {
            for device in case["devices"].as_array().unwrap() {
                let [low, high] = [0, 1].map(|end| device["interval"][end].as_f64().unwrap());
                let seconds = device["seconds"].as_f64().unwrap();
                assert!(low <= seconds && seconds <= high && low > 0.0, "{case}");
            }
        }
    }
    // The run characterises its devices: what it holds predicts their order.
    let rank = ["rank", &file, "--include-simulated", "--suite", "mine.yaml"];
    let (code, out, err) = output(&place, &[&rank[..], &["--format", "json"]].concat());
    assert_eq!(code, Some(0), "{err}");
    let ranking_json: Value = serde_json::from_str(&out).unwrap();
    let prediction = &ranking_json["ranking"]["prediction"];
    assert_eq!(prediction["model"], "components");
    assert_eq!(prediction["common"].as_array().unwrap().len(), 14, "{prediction}");
    assert_eq!(prediction["pairs"], serde_json::json!([1, 1]), "{prediction}");
    let (_, out, err) = output(&place, &[&rank[..], &["--format", "md"]].concat());
    assert_eq!(err.matches("from its run of").count(), 2, "{err}");
    assert!(out.contains("its time is part of the profile") && out.contains("launches"), "{out}");
    // What the hybrid was fitted to is shown, but is no test of it.
    let predict = ["predict", "mine.yaml", "--from", &file, "--runs-suite", "mine.yaml"];
    let (code, out, err) = output(&place, &[&predict[..], &["--json"]].concat());
    assert_eq!(code, Some(0), "{err}");
    let predictions: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(predictions["summary"]["compared"], 0, "{}", predictions["summary"]);
    let first = &predictions["cases"][0]["devices"][0];
    assert!(first["fitted"] == true && first["measured"].is_number(), "{first}");
    let other = device("tesla-c1060");
    let more = ["--measured", &file, "--model", "warp-timeline"];
    let profiles = ["predict", "mine.yaml", "--profile", &other, &device("tesla-k40c")];
    let (code, out, _) = output(&place, &[&profiles[..], &more].concat());
    assert_eq!(code, Some(0));
    assert!(out.contains("Tesla C1060 (sim)") && out.contains("the device to pick"), "{out}");
    // The measured device is known by its name, wherever its profile is from.
    assert!(out.contains(" %") && !out.contains("picked"), "one of both was measured: {out}");
}

/// Devices whose order is plain: one has several times the units and the bandwidth of another.
#[test]
fn the_order_of_simulated_devices_is_predicted_from_their_profiles() {
    let place = place(
        "{ sepia: { n: [512] }, linear: { n: [512] }, transpose_padded/32x8: { rows: [512] }, \
         black_scholes: { n: [65536] } }",
    );
    let run = ["run", "mine.yaml", "--seed", "7", "--sim", "c1060", "k20c", "k40c"];
    let (code, _, err) = output(&place, &run);
    assert_eq!(code, Some(0), "{err}");
    let file = place.result().display().to_string();
    let [slow, middle, fast] = ["tesla-c1060", "tesla-k20c", "tesla-k40c"].map(device);
    let rank = ["rank", &file, "--include-simulated", "--suite", "mine.yaml", "--profile"];
    let all = [&rank[..], &[&fast, &slow, &middle]].concat();
    let (code, out, err) = output(&place, &all);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("model: components") && out.contains("over: 4 of 4 cases"), "{out}");
    assert!(out.contains("pairs of devices in the measured order: 3 of 3"), "{out}");
    let rows: Vec<&str> = out.split("predicted speed").nth(1).unwrap().lines().skip(2).collect();
    assert!(rows.len() >= 3, "{out}");
    for (row, place) in rows.iter().zip(["1", "2", "3"]) {
        let words: Vec<&str> = row.split_whitespace().collect();
        assert!(matches!(words[..], [.., a, b, _, _] if a == place && b == place), "{out}");
        assert!(row.contains("simulated"), "{out}");
    }
    // Without its profile a device keeps its place, and gets no predicted one.
    let two = [&rank[..], &[&fast, &slow, "--format", "md"]].concat();
    let (_, out, _) = output(&place, &two);
    assert!(out.contains("| Tesla K20c · sim (simulated) | – | – |"), "{out}");
    assert!(out.contains("Tesla K20c · sim (simulated): no profile"), "{out}");
    let (code, _, err) = output(&place, &[&rank[..], &[&fast]].concat());
    assert_eq!(code, Some(0));
    assert!(err.contains("that takes profiles of two ranked devices or more"), "{err}");
    let page = ["report", &file, "--include-simulated", "--suite", "mine.yaml", "--format", "html"];
    let (code, out, err) = output(&place, &[&page[..], &["--profile", &fast, &slow]].concat());
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains(">Predicted order</h3>"), "no such part");
    // Without the suite its kernels cannot be counted, which is said.
    let (_, _, err) =
        output(&place, &["rank", &file, "--include-simulated", "--profile", &fast, &slow]);
    assert!(err.contains("name its file (--suite)"), "{err}");
}

/// A run of kernels whose arithmetic takes as long as their memory, behind a launch of 100 µs: their sum is known, and
/// neither rate. It says that it is of the suite `quick`, which has none of them, so that none can be counted.
fn at_the_ridge(place: &Place) {
    let suite = load("quick").unwrap();
    let mut header = invented::header(vec![invented::device("Card A")], 1);
    (header.suite, header.suite_hash) = (suite.name, suite.hash);
    let path = place.folder.path().join("ridge.jsonl");
    let mut writer = Writer::create_at(&path, &header).unwrap();
    for (name, scale) in ["one", "two", "three", "four", "five"].into_iter().zip(1..) {
        for n in 1..=5 {
            let bytes = 1e6 * f64::from(scale) * 4f64.powi(n);
            let samples = vec![1e-4 + bytes / 1e11; 15];
            let mut record = invented::record(invented::key(name, n.into()), 0, 0, samples);
            let measured = record.measured.as_mut().expect("samples");
            (measured.flops, measured.bytes) = (10.0 * bytes, bytes);
            record.kernel = Some(Built {
                hash: name.repeat(16),
                group: [64, 1, 1],
                groups: [1; 3],
                bounds_checks: gpubench::gpu::BoundsChecks::Off,
                variant: String::new(),
                tried: vec![],
                untried: 0,
                untimed: Default::default(),
                report: Default::default(),
            });
            writer.append(&record).unwrap();
        }
    }
    writer.leave().unwrap();
}

/// Seen once: "bound by compute", and peak and bandwidth "not identifiable" below it.
#[test]
fn nothing_is_bound_by_rates_that_are_not_identifiable() {
    let place = Place::new();
    at_the_ridge(&place);
    let (code, out, err) = output(&place, &["fit", "ridge.jsonl"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("best on this device: smooth roofline"), "{out}");
    for rate in ["peak", "bandwidth"] {
        let line = out.lines().find(|line| line.trim_start().starts_with(rate)).unwrap();
        assert!(line.contains("not identifiable"), "{out}");
    }
    assert!(!out.contains("compute ×") && !out.contains("global memory ×"), "{out}");

    let (_, out, _) = output(&place, &["fit", "ridge.jsonl", "--json"]);
    let reports: Value = serde_json::from_str(&out).unwrap();
    let bounds = reports[0]["bounds"].as_array().unwrap();
    assert!(bounds.iter().all(|bound| bound["bound"] == "launch"), "{bounds:#?}");
    assert_eq!(reports[0]["launches"], 25);
}

/// The errors of a table of predictions, as printed, without their signs: of each line the last cell.
fn printed_errors(out: &str) -> Vec<f64> {
    let lines = out.lines().filter(|line| line.contains("(sim)"));
    let cells = lines.filter_map(|line| line.trim_end().strip_suffix(" %")?.rsplit(' ').next());
    cells.map(|cell| cell.trim_start_matches(['+', '-']).parse().unwrap()).collect()
}

/// A printed share in hundredths.
fn percent(out: &str, label: &str) -> f64 {
    let line = out.lines().find(|line| line.contains(label)).unwrap_or_else(|| panic!("{out}"));
    let value = line.rsplit(": ").next().unwrap().trim_end();
    value.strip_suffix(" %").unwrap_or_else(|| panic!("{line}")).parse().unwrap()
}

/// Seen once: errors of +33, +71, +72, +156 and −92 % above a mean of 15.3 %.
#[test]
fn the_mean_error_that_is_printed_is_that_of_the_errors_above_it() {
    let place = place(
        "{ sepia: { n: [512] }, linear: { n: [512] }, transpose_padded/32x8: { rows: [512] }, \
         black_scholes: { n: [65536] } }",
    );
    let run = ["run", "mine.yaml", "--seed", "7", "--sim", "c1060", "k40c"];
    let (code, _, err) = output(&place, &run);
    assert_eq!(code, Some(0), "{err}");
    let file = place.result().display().to_string();
    let [slow, fast] = ["tesla-c1060", "tesla-k40c"].map(device);
    let predict = ["predict", "mine.yaml", "--profile", &slow, &fast, "--measured", &file];
    let (code, out, err) = output(&place, &predict);
    assert_eq!(code, Some(0), "{err}");
    let errors = printed_errors(&out);
    assert_eq!(errors.len(), 8, "four cases on two devices: {out}");
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    let said = percent(&out, "mean distance of the predicted times from the measured ones");
    // Of each error at most half of its last digit is lost.
    assert!((said - mean).abs() <= 0.6, "{said} % of {errors:?}, whose mean is {mean} %");
    assert!(mean > 2.0, "too little to tell apart: {errors:?}");
    let (_, json, _) = output(&place, &[&predict[..], &["--json"]].concat());
    let json: Value = serde_json::from_str(&json).unwrap();
    let exact = 100.0 * json["summary"]["time_error"].as_f64().unwrap();
    assert!((said - exact).abs() <= 0.06, "{said} {exact}");
}

#[test]
fn too_few_sizes_are_said_with_how_many_more() {
    let place = place("{ sepia: { n: [512, 1024] } }");
    let (code, _, err) = output(&place, &["run", "mine.yaml", "--sim", "k40c", "--seed", "7"]);
    assert_eq!(code, Some(0), "{err}");
    let file = place.result().display().to_string();
    let (_, out, _) = output(&place, &["fit", &file, "--suite", "mine.yaml"]);
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(out.contains("hybrid: unsupported: it needs at least 15 kernels and sizes"), "{out}");
    assert!(out.contains("2 were measured: 13 more"), "{out}");
    assert!(out.contains("components: unsupported: it needs the device's profile"), "{out}");
    let predict = ["predict", "mine.yaml", "--from", &file, "--runs-suite", "mine.yaml"];
    let (code, _, err) = output(&place, &predict);
    assert_eq!(code, Some(2));
    assert!(err.contains("2 were measured: 13 more"), "{err}");
}

#[test]
fn wrong_profiles_are_rejected_with_the_place() {
    let place = Place::new();
    let good = serde_json::to_value(gpu().profile(0)).unwrap();
    let rejected = |change: &dyn Fn(&mut Value), message: &str| {
        let mut profile = good.clone();
        change(&mut profile);
        let text = serde_json::to_string_pretty(&profile).unwrap();
        std::fs::write(place.folder.path().join("bad.json"), text).unwrap();
        let (code, _, err) = output(&place, &["predict", "quick", "--profile", "bad.json"]);
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains(message) && err.contains("bad.json:"), "{err}");
    };
    rejected(&|p| p["version"] = 7.into(), "a profile of version 7, and this gpubench reads");
    let bandwidth = |p: &mut Value| p["streams"][0]["points"][0]["bandwidth"]["value"] = 0.0.into();
    rejected(&bandwidth, "0 is no positive number");
    // Of a folder, what is no profile is left out; where nothing is one, it is an error.
    let folder = place.folder.path().join("profiles");
    std::fs::create_dir(&folder).unwrap();
    let predict_profiles = |code: i32| {
        let (ended, out, err) = output(&place, &["predict", "quick", "--profile", "profiles"]);
        assert_eq!(ended, Some(code), "{err}");
        (out, err)
    };
    assert!(predict_profiles(2).1.contains("no profile (.json)"));
    std::fs::write(folder.join("other.json"), "{}").unwrap();
    std::fs::write(folder.join("one.json"), good.to_string()).unwrap();
    std::fs::write(folder.join("two.json"), good.to_string()).unwrap();
    let (out, err) = predict_profiles(0);
    assert!(err.contains("skipped: ") && err.contains("other.json"), "{err}");
    // Two profiles of one device are one device.
    assert!(!out.contains('#') && err.contains("several profiles of"), "{out}{err}");
    // Another of its name is distinguished.
    let mut other = good.clone();
    other["device"]["index"] = 1.into();
    std::fs::write(folder.join("two.json"), other.to_string()).unwrap();
    let (out, err) = predict_profiles(0);
    assert!(out.contains("#1") && out.contains("#2") && !out.contains("#3"), "{out}");
    assert!(!err.contains("several profiles of"), "{err}");
    let (code, _, err) = output(&place, &["predict", "quick", "--profile", "nowhere.json"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("nowhere.json"), "{err}");
}

#[test]
fn what_cannot_be_predicted_is_reported_with_the_reason() {
    let place = Place::new();
    let small = std::fs::read_to_string(device("tesla-k40c")).unwrap();
    let line = small.lines().find(|line| line.trim().starts_with("group_threads")).unwrap();
    let small = small.replace(line, "  group_threads: 128");
    std::fs::write(place.folder.path().join("small.yaml"), small).unwrap();
    let (code, out, err) = output(&place, &["predict", "quick", "--profile", "small.yaml"]);
    assert_eq!(code, Some(0), "{err}");
    let wanted = "transpose_padded/32x8: skipped (2 ×): unsupported: its group of 256 work-items \
                  does not fit Tesla K40c, which takes 128";
    assert!(err.contains(wanted), "{err}");
    assert!(out.contains("sepia") && !out.contains("transpose_padded"), "{out}");

    let kernel = "@group(0) @binding(0) var<storage, read_write> data: array<vec4<f32>>;
@compute @workgroup_size(64)
fn turn(@builtin(global_invocation_id) id: vec3<u32>) {
    data[id.x] =
        vec4<f32>(vec4<u64>(data[id.x]));
}";
    let suite = "version: 1
workloads:
  turn:
    kernel: { wgsl: turn.wgsl, entry: turn, group: [64] }
    sizes: { n: [256] }
    params: {}
    buffers:
      data: { type: f32x4, count: n, fill: index, access: read_write }
    grid: [n]
    work: { flops: 0, bytes: 32*n }
    verify: none
";
    for (name, text) in [("turn.wgsl", kernel), ("turn.yaml", suite)] {
        std::fs::write(place.folder.path().join(name), text).unwrap();
    }
    let other = device("tesla-k40c");
    let (code, _, err) = output(&place, &["predict", "turn.yaml", "--profile", &other]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("turn.wgsl:5: the emulator does not know `u64`"), "{err}");
    assert!(err.contains("no kernel of the suite `turn.yaml` can be predicted"), "{err}");
}
