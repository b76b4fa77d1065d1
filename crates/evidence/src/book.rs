//! The data file: each capability's claims, commands and figures.

use gpubench_core::error::{Error, Result};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// All capabilities.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Book {
    /// Version of this format: 1.
    pub version: u32,
    /// Each has a page of its own.
    pub capabilities: Vec<Capability>,
}

/// What gpubench says that it can do, and how that is shown.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capability {
    /// The page's name.
    pub name: String,
    /// The page's heading.
    pub title: String,
    /// What the page answers.
    pub question: String,
    /// Whether it is run in a bundle alone, not by `./x evidence` at home.
    #[serde(default)]
    pub carried: bool,
    /// What is run, in order.
    pub steps: Vec<Step>,
    /// What of the output the page shows.
    #[serde(default)]
    pub figures: Vec<Figure>,
    /// What is published.
    #[serde(default)]
    pub claims: Vec<Claim>,
    /// What is not known, a sentence each.
    #[serde(default)]
    pub unknown: Vec<String>,
}

/// A command, on one or several targets.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What figures and other steps call it.
    pub name: String,
    /// Where it runs.
    pub on: Place,
    /// The command without `gpubench`; `{runs}` are the result files of the step that it follows,
    /// `{runs:step}` those of another one (after a step also `{runs:capability/step}`, of the same
    /// target), `{folder}` is its own.
    pub command: String,
    /// How often, each at another time and with another seed.
    #[serde(default = "one")]
    pub tries: u32,
    /// Environment variables.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Ranks of an MPI job that it is.
    #[serde(default)]
    pub ranks: Option<u32>,
    /// Whether the page shows its output as it is.
    #[serde(default)]
    pub listing: bool,
    /// Seconds after which it is ended.
    #[serde(default = "limit")]
    pub limit: u64,
}

fn one() -> u32 {
    1
}

fn limit() -> u64 {
    470
}

/// Where a step runs.
#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// On each device of the machine, one after the other.
    Each,
    /// On all devices of the machine at once.
    All,
    /// On no device.
    Host,
    /// On each of these simulated devices or machines.
    Sim(Vec<String>),
    /// Once a result of this step of the same try.
    After(String),
    /// Once for all results of this step of the same try on real devices.
    Gather(String),
}

/// A figure of the page: values of the output, by rows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// What claims call it.
    pub id: String,
    /// What it is.
    pub what: String,
    /// The steps whose output has it; of another capability as `capability/step`.
    pub from: Vec<String>,
    /// In `--format figures`: the section, where `*` is any name; its title labels the row.
    #[serde(default)]
    pub section: String,
    /// The table of the section.
    #[serde(default)]
    pub table: String,
    /// The column.
    #[serde(default)]
    pub column: String,
    /// Columns of the same row that label it; `title` is the table's. Of JSON: the nearest values of these names.
    #[serde(default)]
    pub by: Vec<String>,
    /// Divides this row's value (by its first label) by each: a speedup over it.
    #[serde(default)]
    pub over: Option<String>,
    /// Divides each value by that of the same row, target and try in this step.
    #[serde(default)]
    pub against: Option<String>,
    /// In `--json`: a pointer, where `*` is any name and labels the row.
    #[serde(default)]
    pub json: Option<String>,
    /// The unit, where the output has none.
    #[serde(default)]
    pub unit: String,
}

/// What is published.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Source, and its table and page as far as they are known.
    pub source: String,
    /// What it says.
    pub says: String,
    /// What the published number is.
    pub kind: Kind,
    /// The number, or the ends of its range, in the figure's unit.
    #[serde(default)]
    pub published: Vec<f64>,
    /// The figure to compare it with.
    #[serde(default)]
    pub figure: Option<String>,
    /// The figure's rows: those whose label contains this.
    #[serde(default)]
    pub row: String,
    /// Why the two may differ, or why there is none to compare with.
    #[serde(default)]
    pub note: String,
}

/// What a published number is.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Timed by the authors.
    Measured,
    /// Computed by them.
    Calculated,
}

impl Place {
    /// The step that it follows.
    pub fn input(&self) -> Option<&str> {
        match self {
            Self::After(input) | Self::Gather(input) => Some(input),
            Self::Each | Self::All | Self::Host | Self::Sim(_) => None,
        }
    }
}

impl Book {
    /// Reads and validates the file.
    ///
    /// # Errors
    /// `Io`; `Suite` for what is wrong in it, with its place; `Usage` for a name that nothing has.
    pub fn load(file: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(file).map_err(|error| Error::io(file, error))?;
        Self::parse(&file.display().to_string(), &text)
    }

    fn parse(file: &str, text: &str) -> Result<Self> {
        let book: Self = gpubench_core::yaml::parse(file, text)
            .map_err(|mistake| Error::Suite(vec![mistake]))?;
        if book.version != 1 {
            return Err(Error::Usage(format!("{file}: version {}, not 1", book.version)));
        }
        let mut names = BTreeSet::new();
        for capability in &book.capabilities {
            let problem = match names.insert(&capability.name) {
                false => Some("another capability has its name".to_owned()),
                true => capability.problem(),
            };
            if let Some(problem) = problem.or_else(|| book.missing_step(capability)) {
                return Err(Error::Usage(format!("{file}: {}: {problem}", capability.name)));
            }
        }
        Ok(book)
    }

    /// The first step of another capability that its figures name and that is not there.
    fn missing_step(&self, capability: &Capability) -> Option<String> {
        capability.references().find_map(|(name, step)| {
            let other = self.capabilities.iter().find(|one| one.name == name);
            match other.and_then(|other| other.step(step)) {
                Some(_) => None,
                None => Some(format!("no step {name}/{step}")),
            }
        })
    }
}

impl Capability {
    /// The first name of a step or a figure that nothing has, and what else makes no sense.
    fn problem(&self) -> Option<String> {
        let mut steps = BTreeSet::new();
        for step in &self.steps {
            let named =
                step.command.split("{runs:").skip(1).filter_map(|rest| rest.split('}').next());
            let named =
                named.filter(|name| !(name.contains('/') && matches!(step.on, Place::After(_))));
            if let Some(input) =
                step.on.input().into_iter().chain(named).find(|i| !steps.contains(i))
            {
                return Some(format!("step {}: no step {input} before it", step.name));
            }
            steps.insert(step.name.as_str());
        }
        let figures: BTreeSet<&str> =
            self.figures.iter().map(|figure| figure.id.as_str()).collect();
        for figure in &self.figures {
            let own = figure.from.iter().chain(&figure.against).filter(|step| !step.contains('/'));
            if let Some(step) = own.into_iter().find(|step| !steps.contains(step.as_str())) {
                return Some(format!("figure {}: no step {step}", figure.id));
            }
            if figure.json.is_some() != figure.column.is_empty() {
                return Some(format!("figure {}: a column or a JSON pointer", figure.id));
            }
        }
        self.claims.iter().find_map(|claim| match &claim.figure {
            Some(id) if !figures.contains(id.as_str()) => Some(format!("a claim: no figure {id}")),
            None if claim.note.is_empty() => {
                Some(format!("“{}”: no figure, and no note says why", claim.says))
            }
            _ => None,
        })
    }

    /// The steps of other capabilities that its figures name, each once a figure.
    pub fn references(&self) -> impl Iterator<Item = (&str, &str)> {
        self.figures.iter().flat_map(|figure| &figure.from).filter_map(|name| name.split_once('/'))
    }

    /// The step of a name.
    pub fn step(&self, name: &str) -> Option<&Step> {
        self.steps.iter().find(|step| step.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "version: 1\ncapabilities:\n- name: a\n  title: A\n  question: What?\n  steps:\n  \
        - { name: run, on: each, tries: 2, command: run quick }\n  \
        - { name: sim, on: { sim: [k40c] }, command: run quick }\n  \
        - { name: fit, on: { after: run }, command: \"fit {runs} --json\" }\n  \
        figures:\n  - { id: x, what: x, from: [run, sim], section: s, table: t, column: c }\n  \
        claims:\n  - { source: L14, says: so, kind: measured, published: [1, 2], figure: x }\n";

    #[test]
    fn the_shipped_book_is_right() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let book = Book::load(&root.join("docs/evidence.yaml")).unwrap();
        assert!(book.capabilities.len() >= 14, "{}", book.capabilities.len());
        assert!(book.capabilities.iter().all(|one| one.carried || !one.claims.is_empty()));
    }

    #[test]
    fn names_that_nothing_has_are_mistakes() {
        let book = Book::parse("book", GOOD).unwrap();
        assert_eq!(book.capabilities[0].steps[1].on, Place::Sim(vec!["k40c".into()]));
        for (from, to, wanted) in [
            ("after: run", "after: ran", "no step ran before it"),
            ("fit {runs}", "fit {runs:ran}", "no step ran before it"),
            ("from: [run, sim]", "from: [rune]", "no step rune"),
            ("from: [run, sim]", "from: [a/rune]", "no step a/rune"),
            ("from: [run, sim]", "against: rune, from: [run]", "no step rune"),
            ("figure: x", "figure: y", "no figure y"),
            (", figure: x", "", "no note says why"),
            ("column: c", "column: c, json: /a", "a column or a JSON pointer"),
            ("version: 1", "version: 2", "not 1"),
            ("tries: 2", "trials: 2", "trials"),
        ] {
            let message = Book::parse("book", &GOOD.replace(from, to)).unwrap_err().to_string();
            assert!(message.contains(wanted), "{message}");
        }
    }
}
