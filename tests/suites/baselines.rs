//! The baselines that are shipped are of the suites that are shipped: a kernel or a size that changes asks for new ones. A case
//! that is added does not.

use super::plan::LIMITS;
use gpubench::measure::plan;
use gpubench::plan::{Case, Planned};
use gpubench::record::Outcome;
use gpubench::store::read;
use gpubench::workload::CaseKey;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

fn shipped() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("baselines");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")).collect()
}

#[test]
fn shipped_baselines_fit_the_shipped_suites() {
    let files = shipped();
    assert!(!files.is_empty());
    for path in files {
        let (run, name) = (read(&path).unwrap(), path.display());
        let header = &run.header;
        assert!(!header.gpubench.contains("dirty"), "{name} is of {}", header.gpubench);
        assert!(
            run.noise.is_some_and(|noise| noise.runs > 1),
            "{name} has no floor of several runs"
        );
        let suite = gpubench::measure::load(&header.suite).unwrap();
        let mut cases: HashMap<CaseKey, Option<Case>> = HashMap::new();
        for planned in plan(&suite, &header.devices[0], &LIMITS) {
            match planned {
                Planned::Case(case) => cases.insert(case.key.clone(), Some(*case)),
                Planned::Skipped(skip) => cases.insert(skip.key, None),
            };
        }
        let mut compared = 0;
        for record in &run.records {
            let case = cases.get(&record.key);
            let case = case.unwrap_or_else(|| panic!("{name}: the suite has no {}", record.key));
            let built = record.kernel.as_ref().and_then(|built| built.fixed_hash());
            if let (Outcome::Ok, Some(hash), Some(case)) = (&record.outcome, built, case) {
                let same = case.candidates.iter().any(|one| one.kernel.hash() == hash);
                assert!(same, "{name}: {} has another kernel by now", record.key);
                compared += 1;
            }
        }
        assert!(compared > 100, "{name}: of {compared} records only the kernels were compared");
        let missing = |key: &&CaseKey| !run.records.iter().any(|record| record.key == **key);
        let missing: Vec<&CaseKey> = cases.keys().filter(missing).collect();
        let few = missing.len() <= cases.len() / 10;
        assert!(few, "{name} lacks more than a tenth of the suite: {missing:?}");
    }
}
