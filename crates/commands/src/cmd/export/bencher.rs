//! Records as Bencher's metrics.

use crate::cmd::show::{print, warnings};
use crate::store::{RunFile, runs};
use gpubench_analysis::ResultMatrix;
use gpubench_core::error::{Error, Result};
use gpubench_core::text::printable;
use gpubench_report::labels::case_name;
use gpubench_report::render::json::json as json_text;
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Latencies by device and case.
pub(super) fn write(files: &[RunFile], output: Option<&Path>) -> Result<()> {
    let all = runs::load(files)?;
    warnings(&all.warnings);
    let text = bencher(&all.matrix);
    let Some(path) = output else { return print(&text) };
    let io = |source| Error::io(path, source);
    File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes())).map_err(io)
}

/// Bencher's metric format: for each device and verified case the latency in nanoseconds over all
/// rounds, with the 95 % interval where there are at least two rounds.
fn bencher(matrix: &ResultMatrix) -> String {
    let mut names: Vec<(String, Value)> = vec![];
    for (place, entry) in matrix.entries.iter().enumerate() {
        for (case, time) in matrix.times(place) {
            let name = format!("{} {}", entry.device.slug(), case_name(&case.key));
            let mut latency = json!({ "value": time.value * 1e9 });
            if time.rounds > 1 {
                let [low, high] = time.interval;
                latency["lower_value"] = json!(low * 1e9);
                latency["upper_value"] = json!(high * 1e9);
            }
            names.push((printable(&name, 1000), json!({ "latency": latency })));
        }
    }
    names.sort_by(|a, b| a.0.cmp(&b.0));
    json_text(&names.into_iter().collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_analysis::result_matrix;
    use gpubench_core::record::sample::{device, header, key, outcome, record};
    use gpubench_core::record::{Outcome, Record};

    #[test]
    fn bencher_gets_nanoseconds_of_verified_cases_alone() {
        let header = header(vec![device("opencl")]);
        let records = [
            record(key("a", 1), 1e-3),
            Record { round: 1, ..record(key("a", 1), 1e-3) },
            outcome(key("b", 1), Outcome::Unchecked),
        ];
        let text = bencher(&result_matrix([(&header, &records[..])]));
        let value: Value = serde_json::from_str(&text).unwrap();
        let latency = &value["nobody-invented-gpu-opencl a n=1"]["latency"];
        assert!((latency["value"].as_f64().unwrap() - 1e6).abs() < 1e-3, "{text}");
        assert!(latency["lower_value"].is_f64());
        assert_eq!(value.as_object().unwrap().len(), 1);
    }
}
