//! Kernel Tuner's files, read and written: results by the T4 schema 1.0.0, and cache files.

use super::recorded::Rows;
use gpubench_core::error::{Error, Located, Result};
use gpubench_core::units::quoted;
use gpubench_stats::{median_of, quantile};
use gpubench_tune::{Interval, Outcome, Recorded};
use serde_json::{Map, Value, json};

/// Kernel Tuner measures in milliseconds.
const MILLI: f64 = 1e-3;

/// What a file holds.
#[derive(Debug, Default)]
pub struct Results {
    /// The device, where the file names it.
    pub device: Option<String>,
    /// The kernel, where the file names it.
    pub kernel: Option<String>,
    /// Names of the parameters.
    pub names: Vec<String>,
    /// The variants, in order.
    pub tried: Vec<Tried>,
}

/// A variant and its result.
#[derive(Debug)]
pub struct Tried {
    /// A value a parameter.
    pub values: Vec<f64>,
    /// Its time and the samples' quartiles.
    pub outcome: Outcome,
    /// Seconds, in the order of measuring; the time alone where the file has no samples.
    pub samples: Vec<f64>,
    /// What failed, in Kernel Tuner's word.
    pub failure: Option<String>,
    /// Whether the file says that the result was compared with an answer.
    pub checked: bool,
}

/// Reads the text of `file` as a space.
///
/// # Errors
/// As [`results`].
pub fn read(file: &str, text: &str) -> Result<Rows> {
    let Results { names, tried, .. } = results(file, text)?;
    let (variants, outcomes) = tried.into_iter().map(|one| (one.values, one.outcome)).unzip();
    Ok(Rows { names, variants, outcomes })
}

/// Reads the text of `file`: an object with `results` (T4) or with `cache`.
///
/// # Errors
/// `Suite` where it is no JSON, `Usage` that names the result where it is JSON of another shape.
pub fn results(file: &str, text: &str) -> Result<Results> {
    let whole: Value = parse(text).map_err(|error| not_json(file, text, &error))?;
    let wrong = |why: String| Error::Usage(format!("{file}: {why}"));
    let text = |name: &Value| name.as_str().map(str::to_owned);
    let named = |names: [&str; 2]| names.iter().find_map(|name| whole.pointer(name).and_then(text));
    let (names, tried) = if let Some(results) = whole.get("results").and_then(Value::as_array) {
        let each = results.iter().enumerate();
        collect(each.map(|(i, one)| (format!("result {}", i + 1), one)), None, of_result)
    } else if let Some(cache) = whole.get("cache").and_then(Value::as_object) {
        let names = whole.get("tune_params_keys").and_then(Value::as_array);
        let names = names.and_then(|names| names.iter().map(text).collect());
        let names: Option<Vec<String>> = names;
        let names = names.ok_or_else(|| wrong("a cache file without `tune_params_keys`".into()))?;
        let each = cache.iter().map(|(key, one)| (format!("cache entry `{key}`"), one));
        collect(each, Some(names), of_cache)
    } else {
        Err("neither `results` (T4) nor `cache` (Kernel Tuner's cache file) is in it".into())
    }
    .map_err(wrong)?;
    let device = named(["/device_name", "/metadata/device_name"]);
    Ok(Results { device, kernel: named(["/kernel_name", "/metadata/kernel_name"]), names, tried })
}

/// Kernel Tuner closes a cache file only when its search ends: until then the last braces are missing.
fn parse(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(text).or_else(|error| {
        let open = format!("{}}}}}", text.trim_end().trim_end_matches(','));
        if error.is_eof() { serde_json::from_str(&open).map_err(|_| error) } else { Err(error) }
    })
}

fn not_json(file: &str, text: &str, error: &serde_json::Error) -> Error {
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    let offset = lines.map(str::len).sum::<usize>() + error.column().saturating_sub(1);
    let at = offset.min(text.len());
    Error::Suite(vec![Located::at(file, text, at..at, format!("not JSON: {error}"), None)])
}

/// Parameters by name, and their result: time and samples, or what failed.
type Entry<'a> = (&'a Map<String, Value>, Result<(f64, Vec<f64>), String>);

fn collect<'a>(
    entries: impl Iterator<Item = (String, &'a Value)>,
    names: Option<Vec<String>>,
    read: fn(&'a Value) -> Result<Entry<'a>, String>,
) -> Result<(Vec<String>, Vec<Tried>), String> {
    let is_given = names.is_some();
    let (mut names, mut all) = (names.unwrap_or_default(), vec![]);
    for (place, entry) in entries {
        let (values, measured) = read(entry).map_err(|why| format!("{place}: {why}"))?;
        if !is_given && all.is_empty() {
            names = values.keys().cloned().collect();
        }
        if !is_given && let Some(new) = values.keys().find(|key| !names.contains(key)) {
            return Err(format!("{place}: parameter `{new}` is not one of the first result's"));
        }
        let value = |name: &String| {
            number(values.get(name)).ok_or_else(|| {
                let found = values.get(name).map_or("missing".to_owned(), Value::to_string);
                format!("{place}: parameter `{name}` is not a number but {found}")
            })
        };
        let values = names.iter().map(value).collect::<Result<_, _>>()?;
        all.push(match measured {
            Ok((time, samples)) => {
                let outcome = outcome(time, &samples).map_err(|why| format!("{place}: {why}"))?;
                let samples = if samples.is_empty() { vec![time] } else { samples };
                let checked = entry.get("correctness").and_then(Value::as_f64) == Some(1.0);
                Tried { values, outcome, samples, failure: None, checked }
            }
            Err(failure) => Tried {
                values,
                outcome: Outcome::Failed,
                samples: vec![],
                failure: Some(failure),
                checked: false,
            },
        });
    }
    Ok((names, all))
}

/// A result of T4: configuration, validity, and the time among its measurements or its run times.
fn of_result(entry: &Value) -> Result<Entry<'_>, String> {
    let values = entry.get("configuration").and_then(Value::as_object);
    let values = values.ok_or("no `configuration`")?;
    match entry.get("invalidity").and_then(Value::as_str) {
        Some("correct") => {}
        Some(failure @ ("timeout" | "compile" | "runtime" | "correctness" | "constraints")) => {
            return Ok((values, Err(failure.to_owned())));
        }
        other => return Err(format!("`invalidity` is {}", other.unwrap_or("missing"))),
    }
    let runtimes = samples(entry.pointer("/times/runtimes"));
    let measurements = entry.get("measurements").and_then(Value::as_array);
    let time = measurements.and_then(|all| all.iter().find(|one| one["name"] == "time"));
    let unit = time.and_then(|time| time.get("unit")).and_then(Value::as_str);
    let scale = match unit {
        None | Some("" | "ms") => MILLI,
        Some("s") => 1.0,
        Some("us") => 1e-6,
        Some("ns") => 1e-9,
        Some(other) => return Err(format!("the time's unit `{other}` is none of s, ms, us, ns")),
    };
    let time = time.and_then(|time| time["value"].as_f64()).map(|value| value * scale);
    let time = time.or_else(|| median_of(runtimes.iter().copied()));
    Ok((values, Ok((time.ok_or("neither a measurement `time` nor `runtimes`")?, runtimes))))
}

/// An entry of a cache: parameters beside `time`, which is a text where the variant failed.
fn of_cache(entry: &Value) -> Result<Entry<'_>, String> {
    let values = entry.as_object().ok_or("no object")?;
    match values.get("time") {
        Some(Value::String(failure)) => Ok((values, Err(failure.clone()))),
        Some(Value::Number(time)) => {
            let time = time.as_f64().unwrap_or_default() * MILLI;
            Ok((values, Ok((time, samples(values.get("times"))))))
        }
        _ => Err("`time` is neither a number nor the name of a failure".into()),
    }
}

/// A time with the quartiles of its samples, where they enclose it.
fn outcome(time: f64, samples: &[f64]) -> Result<Outcome, String> {
    if !(time.is_finite() && time > 0.0) {
        return Err(format!("the time {} s is not above 0", quoted(time)));
    }
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let end = |q| if sorted.is_empty() { time } else { quantile(&sorted, q) };
    let (low, high) = (end(0.25).min(time), end(0.75).max(time));
    Ok(Outcome::Measured(Interval { low, time, high }))
}

/// Samples in milliseconds as seconds, in their order.
fn samples(list: Option<&Value>) -> Vec<f64> {
    let list = list.and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_f64).map(|ms| ms * MILLI).collect()
}

fn number(value: Option<&Value>) -> Option<f64> {
    let number = match value? {
        Value::Bool(is) => Some(f64::from(*is)),
        Value::String(text) => text.parse().ok(),
        other => other.as_f64(),
    };
    number.filter(|number: &f64| number.is_finite())
}

/// What was tried, in order, by the T4 schema. The failure's kind is not recorded: `runtime` stands for all; what lost by
/// its launches is a `timeout`.
pub fn write(recorded: &Recorded, tried: &[usize]) -> String {
    let result = |variant: &usize| {
        let pairs = recorded.space().names().iter().zip(&recorded.space().variants()[*variant]);
        let configuration: Map<String, Value> =
            pairs.map(|(name, value)| (name.clone(), plain(*value))).collect();
        let time = recorded.outcomes()[*variant].time().map(|seconds| seconds / MILLI);
        json!({
            "configuration": configuration,
            "times": { "runtimes": time.into_iter().collect::<Vec<f64>>() },
            "invalidity": invalidity(&recorded.outcomes()[*variant]),
            "correctness": u8::from(time.is_some()),
            "measurements": time.map(|time| json!({ "name": "time", "value": time, "unit": "ms" }))
                .into_iter().collect::<Vec<_>>(),
            "objectives": ["time"],
        })
    };
    let results: Vec<Value> = tried.iter().map(result).collect();
    format!("{:#}\n", json!({ "schema_version": "1.0.0", "results": results }))
}

fn invalidity(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Measured(_) => "correct",
        Outcome::Slow(_) => "timeout",
        Outcome::Failed => "runtime",
    }
}

/// All of `recorded` as a cache file, of the device and the kernel with these names. Such a file has no value for a variant
/// that was too slow.
pub fn write_cache(recorded: &Recorded, [device, kernel]: [&str; 2]) -> String {
    let names = recorded.space().names();
    let values = |parameter: usize| {
        let values = recorded.space().values(parameter).into_iter().map(plain);
        (names[parameter].clone(), values.collect::<Value>())
    };
    let entry = |(values, outcome): (&Vec<f64>, &Outcome)| {
        let pairs = names.iter().zip(values);
        let mut entry: Map<String, Value> =
            pairs.map(|(name, value)| (name.clone(), plain(*value))).collect();
        let key: Vec<String> = values.iter().map(|value| plain(*value).to_string()).collect();
        let time = match outcome.time() {
            Some(seconds) => json!(seconds / MILLI),
            None => json!("RuntimeFailedConfig"),
        };
        entry.insert("time".into(), time);
        (key.join(","), Value::Object(entry))
    };
    let pairs = recorded.space().variants().iter().zip(recorded.outcomes());
    let whole = json!({
        "device_name": device,
        "kernel_name": kernel,
        "tune_params_keys": names,
        "tune_params": (0..names.len()).map(values).collect::<Map<_, _>>(),
        "objective": "time",
        "cache": pairs.map(entry).collect::<Map<_, _>>(),
    });
    format!("{whole:#}\n")
}

/// Whole numbers without a point, as Kernel Tuner writes them.
fn plain(value: f64) -> Value {
    const EXACT: f64 = 9e15;
    if value.fract() == 0.0 && value.abs() < EXACT { json!(value as i64) } else { json!(value) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_tune::Space;

    fn message(text: &str) -> String {
        read("k.json", text).map_or_else(|error| error.to_string(), |_| "fine".into())
    }

    #[test]
    fn what_is_written_is_read_back() {
        let variants = vec![vec![16.0, 0.5], vec![32.0, 1.0], vec![64.0, 1.0]];
        let space = Space::new(vec!["a".into(), "b".into()], variants).unwrap();
        let measured = |time| Outcome::Measured(Interval { low: time, time, high: time });
        let outcomes = vec![measured(0.5), Outcome::Failed, measured(0.25)];
        let recorded = Recorded::new(space, outcomes).unwrap();
        let rows = read("k.json", &write(&recorded, &[2, 1])).unwrap();
        assert_eq!(rows.names, ["a", "b"]);
        assert_eq!(rows.variants, [[64.0, 1.0], [32.0, 1.0]]);
        assert_eq!(rows.outcomes, [measured(0.25), Outcome::Failed]);
        let rows = read("k.json", &write_cache(&recorded, ["gpu", "k"])).unwrap();
        assert_eq!((rows.names, rows.variants.len()), (vec!["a".to_owned(), "b".into()], 3));
        assert!(
            rows.outcomes.contains(&Outcome::Failed) && rows.outcomes.contains(&measured(0.25))
        );
    }

    #[test]
    fn what_was_too_slow_to_be_measured_is_a_timeout() {
        let space = Space::new(vec!["a".into()], vec![vec![1.0], vec![2.0]]).unwrap();
        let measured = Outcome::Measured(Interval { low: 1.0, time: 1.0, high: 1.0 });
        let recorded = Recorded::new(space, vec![measured, Outcome::Slow(9.0)]).unwrap();
        let text = write(&recorded, &[1]);
        assert!(text.contains(r#""invalidity": "timeout""#), "{text}");
        assert_eq!(read("k.json", &text).unwrap().outcomes, [Outcome::Failed]);
    }

    #[test]
    fn a_cache_file_is_read_even_while_kernel_tuner_still_writes_it() {
        let text = r#"{"device_name": "x", "tune_params_keys": ["n", "w"], "cache": {
            "1,2": {"n": 1, "w": 2, "time": 4.0, "times": [3.0, 4.0, 5.0, 9.0, 1.0]},
            "2,2": {"n": 2, "w": 2, "time": "RuntimeFailedConfig"},"#;
        let rows = read("k.json", text).unwrap();
        assert_eq!(rows.variants, [[1.0, 2.0], [2.0, 2.0]]);
        let Outcome::Measured(Interval { low, time, high }) = rows.outcomes[0] else { panic!() };
        assert_eq!([low, time, high].map(|seconds| (seconds * 1e6).round()), [3e3, 4e3, 5e3]);
        assert_eq!(rows.outcomes[1], Outcome::Failed);
    }

    #[test]
    fn mistakes_name_their_result() {
        let result =
            |rest: &str| format!(r#"{{"results": [{{"configuration": {{"a": 1}}{rest}}}]}}"#);
        for (text, expected) in [
            ("{}".to_owned(), "k.json: neither `results`"),
            ("{\n  \"results\": [}".to_owned(), "k.json:2:15: not JSON"),
            (r#"{"cache": {}}"#.to_owned(), "k.json: a cache file without `tune_params_keys`"),
            (r#"{"results": [{}]}"#.to_owned(), "k.json: result 1: no `configuration`"),
            (result(""), "k.json: result 1: `invalidity` is missing"),
            (result(r#", "invalidity": "fine""#), "k.json: result 1: `invalidity` is fine"),
            (result(r#", "invalidity": "correct""#), "k.json: result 1: neither a measurement"),
            (
                result(r#", "invalidity": "correct", "times": {"runtimes": [0.0]}"#),
                "k.json: result 1: the time 0 s is not above 0",
            ),
            (
                r#"{"tune_params_keys": ["a"], "cache": {"x": {"a": "x", "time": 1}}}"#.to_owned(),
                "k.json: cache entry `x`: parameter `a` is not a number but \"x\"",
            ),
            (
                r#"{"tune_params_keys": ["a"], "cache": {"1": {"a": 1}}}"#.to_owned(),
                "k.json: cache entry `1`: `time` is neither",
            ),
        ] {
            let message = message(&text);
            assert!(message.starts_with(expected), "{text} gave {message}, not {expected}");
        }
    }
}
