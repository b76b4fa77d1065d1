//! Kernel Tuner's results: a case a variant, named by its parameters.

use super::results::{self, Case, Results, Source};
use crate::cmd::tune::kernel_tuner::{self, Tried};
use gpubench_core::error::Result;
use gpubench_core::record::Outcome;
use gpubench_core::units::quoted;

/// Adds what `source` holds; `names` are those of the device and the kernel, where the user gave them.
///
/// # Errors
/// Where the file is none of Kernel Tuner's, or nobody names the device.
pub fn read(source: &Source, names: [Option<&str>; 2], all: &mut Results) -> Result<()> {
    let found = kernel_tuner::results(&source.file, &source.text)?;
    let [device, kernel] = names;
    let name = device.map(str::to_owned).or(found.device);
    let name = name.ok_or_else(|| source.wrong("the file names no device: give --device NAME"))?;
    let kernel = kernel.map(str::to_owned).or(found.kernel);
    let kernel =
        kernel.ok_or_else(|| source.wrong("the file names no kernel: give --workload NAME"))?;
    let device = results::device(name, "imported");
    for tried in found.tried {
        all.push(source, &device, case(&kernel, &found.names, tried))?;
    }
    Ok(())
}

fn case(kernel: &str, names: &[String], tried: Tried) -> Case {
    let pairs = names.iter().zip(&tried.values);
    let variant: Vec<String> =
        pairs.map(|(name, value)| format!("{name}={}", quoted(*value))).collect();
    Case {
        workload: format!("{kernel}/{}", variant.join(",")),
        size: vec![],
        family: "compute".into(),
        samples: match tried.failure {
            None => Ok(tried.samples),
            Some(failure) => Err(outcome(&failure)),
        },
        flops: 0.0,
        bytes: 0.0,
        against: tried.checked.then(|| "Kernel Tuner's own check".into()),
    }
}

/// The outcome, by T4's words and by those of cache files.
fn outcome(failure: &str) -> Outcome {
    let why = format!("Kernel Tuner: {failure}");
    match failure {
        "timeout" => Outcome::Timeout(why),
        "compile" | "CompilationFailedConfig" => Outcome::BuildError(why),
        "constraints" | "InvalidConfig" => Outcome::Unsupported(why.into()),
        _ => Outcome::Failed(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::import::results::sample::{read_back, source};

    const CACHE: &str = r#"{"device_name": "NVIDIA A100", "kernel_name": "blur", "tune_params_keys": ["x", "y"],
        "cache": {"8,1": {"x": 8, "y": 1, "time": 2.0, "times": [3.0, 2.0, 1.0]},
                  "8,2": {"x": 8, "y": 2, "time": "CompilationFailedConfig"}}}"#;

    #[test]
    fn variants_are_cases_with_their_samples_in_order() {
        let mut all = Results::default();
        read(&source("cache.json", CACHE), [None, None], &mut all).unwrap();
        let (header, records) = read_back(all);
        assert_eq!(header.devices[0].name, "NVIDIA A100");
        assert_eq!(records[0].key.to_string(), "blur/x=8,y=1");
        assert_eq!(records[0].measured.as_ref().unwrap().samples, [3e-3, 2e-3, 1e-3]);
        assert!(matches!(records[1].outcome, Outcome::BuildError(_)));
    }

    #[test]
    fn what_the_file_does_not_name_the_user_must() {
        let text = CACHE.replace(r#""device_name": "NVIDIA A100", "#, "");
        let read = |names| read(&source("cache.json", &text), names, &mut Results::default());
        assert!(read([None, None]).unwrap_err().to_string().contains("--device NAME"));
        assert!(read([Some("A100"), None]).is_ok());
    }
}
