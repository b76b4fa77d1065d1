//! `gpubench tune` on simulated devices: what it finds is kept, gone on from, and used by `run`.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::Place;
use serde_json::Value;

/// 20 variants, of which the K40c takes all, and the GTX 260 those of at most 512 work-items.
const SUITE: &str = "version: 1
workloads:
  transpose:
    kernel: { family: transpose, entry: transpose_tiled, group: [32, 8], constants: { TILE: 32, PAD: 1 } }
    search:
      by: tune
      group: { x: [8, 16, 32], y: [2, 4, 8, 32] }
      constants: { TILE: [8, 16, 32], PAD: [0, 1] }
      where: [GROUP_X == TILE, GROUP_Y <= TILE]
    sizes: { n: [128, 256] }
    params: { rows: n, cols: n }
    buffers:
      a: { type: f32, count: n*n, fill: random_bits, access: read }
      out: { type: f32, count: n*n, access: write }
    grid: [n, \"ceil_div(n, TILE)*GROUP_Y\"]
    work: { flops: 0, bytes: 8*n^2 }
    verify: { reference: transpose, relative: 0, absolute: 0 }
";

fn place() -> Place {
    let place = Place::new();
    std::fs::write(place.folder.path().join("my.yaml"), SUITE).unwrap();
    place
}

/// Tunes at n = 256 with these arguments besides, and gives what it printed.
fn tune(place: &Place, more: &[&str]) -> Value {
    tune_suite(place, "my.yaml", &[&["--filter", "n=256"], more].concat())
}

fn tune_suite(place: &Place, suite: &str, more: &[&str]) -> Value {
    let fixed = ["tune", suite, "--backend", "sim", "--json"];
    let output = place.output(&[&fixed, more].concat());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{error}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{error}"))
}

fn lines(place: &Place) -> Vec<Value> {
    let text = std::fs::read_to_string(place.folder.path().join("tuned.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn what_was_found_is_kept_gone_on_from_and_used() {
    let place = place();
    let exhaustive = ["--device", "K40", "--strategy", "exhaustive"];
    let first = tune(&place, &[&exhaustive[..], &["--variants", "6"]].concat());
    let search = &first["searches"][0];
    assert_eq!((&search["space"], &search["tried"]), (&20.into(), &6.into()), "{search}");
    assert_eq!(search["verified"], "reference transpose");
    let before = lines(&place);
    assert_eq!(before[0]["variant"], "32x8 TILE=32 PAD=1", "the suite's own comes first");

    let whole = tune(&place, &[&exhaustive[..], &["--variants", "20"]].concat());
    let search = &whole["searches"][0];
    assert_eq!((&search["tried"], &search["failures"]), (&20.into(), &serde_json::json!({})));
    let tried = lines(&place);
    let new: Vec<&Value> = tried[before.len()..].iter().take(14).collect();
    for one in &new {
        assert!(before.iter().all(|known| known["variant"] != one["variant"]), "{one} twice");
    }
    let best = search["best"]["variant"].as_str().unwrap();
    let curve: Vec<f64> = serde_json::from_value(search["curve"].clone()).unwrap();
    assert!(curve.len() == 20 && curve.is_sorted_by(|a, b| a >= b), "{curve:?}");
    assert_eq!(search["parameters"].as_array().unwrap().len(), 4, "GROUP_X, GROUP_Y, TILE, PAD");

    let run = ["run", "my.yaml", "--backend", "sim", "--device", "K40", "--rounds", "1"];
    let output = place.output(&[&run[..], &["--tuned", "tuned.jsonl"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let variants: Vec<(i64, String)> = place
        .run()
        .records
        .iter()
        .map(|one| (one.key.size[0].1, one.kernel.as_ref().unwrap().variant.clone()))
        .collect();
    assert!(variants.contains(&(256, best.to_owned())), "{variants:?} and not {best}");
    assert!(variants.contains(&(128, String::new())), "a size that was not tuned: {variants:?}");
}

#[test]
fn a_device_is_shown_what_it_costs_to_take_anothers_best() {
    let place = place();
    let found = tune(&place, &["--device", "K40", "--device", "GTX 260", "--variants", "8"]);
    let searches = found["searches"].as_array().unwrap();
    assert_eq!(searches.len(), 2);
    for search in searches {
        let price = &search["others_bests"][0];
        assert_ne!(price["device"], search["device"]);
        let best = search["best"]["seconds"].as_f64().unwrap();
        assert!(best > 0.0 && price["ratio"].as_f64().is_none_or(|ratio| ratio >= 1.0), "{search}");
    }
}

#[test]
fn one_search_is_written_for_kernel_tuner_and_read_back() {
    let place = place();
    let files = ["--t4", "t4.json", "--cache", "cache.json"];
    tune(&place, &[&["--device", "K40", "--variants", "9"][..], &files].concat());
    for file in ["t4.json", "cache.json"] {
        let replay = ["tune", "--replay", file, "--variants", "9", "--seeds", "1", "--json"];
        let output = place.output(&replay);
        let replayed: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            (&replayed["mean_ratio"], &replayed["space"]["variants"]),
            (&1.0.into(), &9.into())
        );
    }
}

/// The profile of a simulated GPU is its description: 20 variants, all of which the emulator takes.
#[test]
fn counts_and_a_profile_order_the_variants() {
    let place = place();
    let profile =
        concat!(env!("CARGO_MANIFEST_DIR"), "/crates/device/src/sim/devices/tesla-k40c.yaml");
    let with_profile = ["--device", "K40", "--profile", profile];
    let found = tune(&place, &[&with_profile[..], &["--variants", "20"]].concat());
    let search = &found["searches"][0];
    assert_eq!(search["order"]["variants"], 20, "{search}");
    let rho = search["order"]["spearman"].as_f64().unwrap();
    assert!(rho > 0.3, "the simulator and the model agree on the order, by and large: {rho}");
    let without = tune(&place, &["--device", "K40", "--variants", "20"]);
    assert!(without["searches"][0]["order"].is_null());

    let wrong = |more: &[&str]| {
        let fixed = ["tune", "my.yaml", "--backend", "sim", "--profile", profile];
        let output = place.output(&[&fixed, more].concat());
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(wrong(&["--device", "GTX 260"]).contains("none of the profiles is of a device"));
    let short = ["--device", "K40", "--profile", profile, "--budget", "1", "--tuned", "new.jsonl"];
    let found = tune(&place, &short);
    assert!(found["searches"][0]["tried"].as_u64() > Some(0), "{found}");
    let random = wrong(&["--device", "K40", "--strategy", "random"]);
    assert!(random.contains("only the strategy `model`"), "{random}");
}

/// A group of 2 leaves 30 of 32 lanes idle: its launch takes 3.5 ms, ten times as long as the best. One of 4 takes 1.8 ms.
#[test]
fn what_loses_by_its_launches_is_not_measured_nor_tried_again() {
    const TRIAD: &str = "version: 1
workloads:
  triad:
    kernel: { family: micro, entry: triad, group: [64], constants: { V: f32, ITEMS: 1 } }
    search: { by: tune, group: { x: [2, 4, 64] } }
    sizes: { n: [4194304] }
    params: { n: n, s: { f32: 0.5 } }
    buffers:
      b: { type: f32, count: n, fill: random_bits, access: read }
      c: { type: f32, count: n, fill: random_bits, access: read }
      out: { type: f32, count: n, access: write }
    grid: [n]
    work: { flops: 2*n, bytes: 12*n }
    verify: { reference: triad, relative: 0, absolute: 0 }
";
    let place = Place::new();
    std::fs::write(place.folder.path().join("triad.yaml"), TRIAD).unwrap();
    let search = || tune_suite(&place, "triad.yaml", &["--device", "K40"])["searches"][0].clone();
    let found = search();
    assert_eq!((&found["tried"], &found["failures"]), (&3.into(), &serde_json::json!({})));
    assert_eq!(found["best"]["variant"], "64");
    let tried = lines(&place);
    let of = |variant: &str| tried.iter().find(|one| one["variant"] == variant).unwrap();
    let [two, four] = ["2", "4"].map(of);
    assert!(two["launch"].as_f64() > Some(2e-3) && two["seconds"].is_null(), "{two}");
    assert!(four["launch"].is_null() && four["seconds"].is_array(), "{four}");
    let again = search();
    assert_eq!((&again["tried"], &again["cut_off"]), (&3.into(), &found["cut_off"]));
    assert_eq!(lines(&place).len(), tried.len(), "all is known");
}
