//! What jobs left behind, on this machine and on others: the values of every figure by row and try.

use crate::book::{Capability, Figure};
use crate::job::{Done, Target};
use crate::output;
use crate::values::{Summary, Values, over, values};
use gpubench_core::error::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A job and its output.
#[derive(Debug)]
pub struct Finished {
    /// What it was and how it ended.
    pub done: Done,
    /// What it printed.
    pub text: String,
}

/// A column of a page's tables: one try on one target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Column {
    /// 0 for real devices, 1 for simulated ones, 2 for none.
    pub group: u8,
    /// The machine.
    pub machine: String,
    /// The target's label.
    pub target: String,
    /// The step, where a figure comes from several.
    pub step: String,
    /// The try.
    pub attempt: u32,
}

/// A figure's rows, each with a summary a column.
pub type Table = BTreeMap<String, BTreeMap<Column, Summary>>;

/// Reads the results of all machines below `folder`, in the order of names.
///
/// # Errors
/// `Io`, and `Usage` for a `done.json` that is none.
pub fn read(folder: &Path) -> Result<Vec<Finished>> {
    let mut all = vec![];
    for machine in subfolders(folder) {
        for job in subfolders(&machine) {
            let file = job.join("done.json");
            let Ok(text) = std::fs::read_to_string(&file) else { continue };
            let done = serde_json::from_str(&text)
                .map_err(|error| Error::Usage(format!("{}: {error}", file.display())))?;
            let text = std::fs::read(job.join("output")).unwrap_or_default();
            all.push(Finished { done, text: String::from_utf8_lossy(&text).into_owned() });
        }
    }
    Ok(all)
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

impl Finished {
    fn column(&self, is_labelled: bool) -> Column {
        let done = &self.done;
        Column {
            group: match done.target {
                Target::Real(_) => 0,
                Target::Simulated(_) => 1,
                Target::Host => 2,
            },
            machine: done.machine.clone(),
            target: done.target.label(),
            step: if is_labelled { done.step.clone() } else { String::new() },
            attempt: done.attempt,
        }
    }
}

/// The table of a figure: of each of its steps' results.
pub fn table(capability: &Capability, figure: &Figure, all: &[Finished]) -> Table {
    let of = |name: &str| {
        let (of, step) = name.split_once('/').unwrap_or((&capability.name, name));
        let (of, step) = (of.to_owned(), step.to_owned());
        all.iter().filter(move |one| one.done.capability == of && one.done.step == step)
    };
    let extract = |one: &Finished| values(figure, &output::rows(&one.text));
    let results: Vec<&Finished> = figure.from.iter().flat_map(|name| of(name)).collect();
    let on_devices = |name: &&String| of(name).any(|one| one.done.target.is_real());
    let columns: BTreeSet<Column> = results.iter().map(|one| one.column(false)).collect();
    // Without its name one step's would replace another's.
    let is_labelled =
        columns.len() < results.len() || figure.from.iter().filter(on_devices).count() > 1;
    let mut table = Table::new();
    for one in results {
        let mut found: Values = extract(one);
        if let Some(name) = &figure.against {
            let other = of(name).find(|other| other.column(false) == one.column(false));
            found = over(&found, &other.map(extract).unwrap_or_default());
        }
        for (label, values) in found {
            if let Some(summary) = Summary::of(&values) {
                table.entry(label).or_default().insert(one.column(is_labelled), summary);
            }
        }
    }
    table
}

#[cfg(test)]
pub mod sample {
    use super::*;
    use crate::book::Book;
    use crate::job::Device;

    /// A result of a step `run` of capability `a` on a CPU driver.
    pub fn finished(selector: &str, attempt: u32, seconds: f64) -> Finished {
        let device = Device {
            selector: selector.into(),
            name: "PoCL".into(),
            kind: "cpu".into(),
            driver: "3.1".into(),
        };
        Finished {
            done: Done {
                capability: "a".into(),
                step: "run".into(),
                target: Target::Real(vec![device]),
                attempt,
                command: "gpubench run quick".into(),
                machine: "vm".into(),
                gpubench: "gpubench 0.1.0 (abc)".into(),
                started: format!("2026-11-23T0{attempt}:00:00.5Z"),
                seconds: 20.0,
                load: [1.0, 2.0],
                code: Some(0),
                error: String::new(),
            },
            text: format!("section,table,row,column,value,unit,low,high\ns,t,0,c,{seconds},s,,\n"),
        }
    }

    /// A book with that capability.
    pub fn book() -> Book {
        serde_json::from_value(serde_json::json!({ "version": 1, "capabilities": [{
            "name": "a", "title": "A", "question": "What?",
            "steps": [{ "name": "run", "on": "each", "command": "run quick" }],
            "figures": [{ "id": "x", "what": "time", "from": ["run"],
                          "section": "s", "table": "t", "column": "c" }],
            "claims": [{ "source": "L14", "says": "so", "kind": "measured",
                         "published": [0.002, 0.003], "figure": "x" }],
            "unknown": ["Much."]
        }]}))
        .unwrap()
    }

    #[test]
    fn a_step_does_not_replace_another_on_the_same_target() {
        let [first, mut second] = [finished("opencl:0", 1, 0.1), finished("opencl:0", 1, 0.2)];
        second.done.step = "again".into();
        let all = [first, second].map(|mut one| {
            one.done.target = Target::Host;
            one
        });
        let mut book = book();
        let capability = &mut book.capabilities[0];
        capability.figures[0].from.push("again".into());
        let table = table(capability, &capability.figures[0], &all);
        let steps: Vec<&str> = table[""].keys().map(|column| column.step.as_str()).collect();
        assert_eq!(steps, ["again", "run"]);
    }

    #[test]
    fn results_of_all_machines_are_read_and_every_try_is_a_column() {
        let folder = tempfile::tempdir().unwrap();
        for (i, one) in
            [finished("opencl:0", 1, 0.1), finished("opencl:0", 2, 0.2)].iter().enumerate()
        {
            let job = folder.path().join("vm").join(i.to_string());
            std::fs::create_dir_all(&job).unwrap();
            std::fs::write(job.join("output"), &one.text).unwrap();
            std::fs::write(job.join("done.json"), serde_json::to_string(&one.done).unwrap())
                .unwrap();
        }
        std::fs::create_dir_all(folder.path().join("vm/half-done")).unwrap();
        let all = read(folder.path()).unwrap();
        let book = book();
        let capability = &book.capabilities[0];
        let table = table(capability, &capability.figures[0], &all);
        let attempts: Vec<u32> = table[""].keys().map(|column| column.attempt).collect();
        assert_eq!(attempts, [1, 2]);
        std::fs::write(folder.path().join("vm/0/done.json"), "{}").unwrap();
        assert!(read(folder.path()).is_err());
    }
}
