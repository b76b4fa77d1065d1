//! A case with a search is measured in the fastest variant, and predicted in the suite's own.

use crate::commands::place;
use crate::common::output;
use serde_json::Value;

#[test]
fn a_case_that_was_measured_in_another_variant_tests_the_prediction() {
    let place = place(
        "{ triad: { n: [65536, 1048576] }, sepia: { n: [512, 1024] }, linear: { n: [512, 1024] }, \
         transpose_naive: { rows: [512, 1000] }, transpose_tiled: { rows: [512, 1000] }, \
         transpose_padded/32x8: { rows: [512, 1000] }, black_scholes: { n: [65536, 262144, 1048576] } }",
    );
    let (code, _, err) = output(&place, &["run", "mine.yaml", "--sim", "k40c", "--rounds", "1"]);
    assert_eq!(code, Some(0), "{err}");
    let file = place.result().display().to_string();
    let predict = ["predict", "mine.yaml", "--from", &file, "--runs-suite", "mine.yaml", "--json"];
    let (code, out, err) = output(&place, &predict);
    assert_eq!(code, Some(0), "{err}");
    let predictions: Value = serde_json::from_str(&out).unwrap();
    let mut of_own = 0;
    for record in &place.run().records {
        // A search begins with the suite's own variant.
        let kernel = record.kernel.as_ref().unwrap();
        let is_own = kernel.tried.first().is_none_or(|(own, _)| *own == kernel.variant);
        let key = record.key.to_string();
        let cases = predictions["cases"].as_array().unwrap();
        let case = cases.iter().find(|case| case["case"].as_str() == Some(&key)).unwrap();
        let device = &case["devices"][0];
        assert!(device["measured"].is_number(), "{device}");
        assert_eq!(device["fitted"], is_own, "{key}: {kernel:?}");
        of_own += usize::from(is_own);
    }
    let all = predictions["cases"].as_array().unwrap().len();
    assert!((1..all).contains(&of_own), "{of_own} of {all} in the suite's own variant");
    let error = &predictions["summary"]["time_error"];
    assert!(error.is_number(), "of those in other variants: {error}");
}
