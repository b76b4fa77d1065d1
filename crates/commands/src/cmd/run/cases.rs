//! What is to be run: the suite's cases on each device, as the filters leave them.

use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::Record;
use gpubench_core::workload::CaseKey;
use gpubench_experiments::plan::{Case, Filter, Limits, Planned};
use gpubench_experiments::{keys, plan};
use gpubench_suite::Suite;
use std::collections::BTreeSet;

/// The filters that the user set, checked against the suite.
#[derive(Clone, Debug, Default)]
pub struct Filters(Vec<Filter>);

impl Filters {
    /// Reads them.
    ///
    /// # Errors
    /// `Usage` when one cannot be read, or no case of `suite` passes all of them.
    pub fn parse(texts: &[String], suite: &Suite) -> Result<Self> {
        let filters = Self(texts.iter().map(|text| Filter::parse(text)).collect::<Result<_>>()?);
        let keys = keys(suite);
        if keys.iter().any(|(workload, key)| filters.pass(key, &workload.tags, &workload.family)) {
            return Ok(filters);
        }
        if keys.is_empty() {
            return Err(Error::Usage(format!("suite `{}` has no case to run", suite.name)));
        }
        let alone =
            |filter: &&Filter| !keys.iter().any(|(w, key)| filter.matches(key, &w.tags, &w.family));
        let sizes = || keys.iter().flat_map(|(_, key)| &key.size);
        let help = filters.0.iter().find(alone).and_then(|filter| match filter {
            Filter::Term(term) => named(term, suite),
            Filter::Size { name, .. } => Some(sized(name, sizes())),
        });
        Err(Error::Usage(format!(
            "no case of suite `{}` passes {}{}",
            suite.name,
            texts.join(" and "),
            help.map_or_else(String::new, |help| format!(": {help}"))
        )))
    }

    /// Whether a case passes all of them.
    pub fn pass(&self, key: &CaseKey, tags: &[String], family: &str) -> bool {
        self.0.iter().all(|filter| filter.matches(key, tags, family))
    }
}

/// Help for a term that nothing is called.
fn named(term: &str, suite: &Suite) -> Option<String> {
    let mut names: Vec<&str> = suite.workloads.iter().map(|w| w.name.as_str()).collect();
    names.extend(suite.workloads.iter().flat_map(|w| &w.tags).map(String::as_str));
    names.sort_unstable();
    names.dedup();
    gpubench_suite::suggest(term, names)
}

/// Help for a condition that no size fulfils: the values of the size, else the sizes there are.
fn sized<'a>(name: &str, sizes: impl Iterator<Item = &'a (String, i64)> + Clone) -> String {
    let values: BTreeSet<i64> =
        sizes.clone().filter(|(other, _)| other == name).map(|(_, value)| *value).collect();
    if values.is_empty() {
        let names: BTreeSet<&str> = sizes.map(|(name, _)| name.as_str()).collect();
        let names: Vec<&str> = names.into_iter().collect();
        return format!("no size is called `{name}`; there are: {}", names.join(", "));
    }
    /// More than this many values are no help.
    const FEW: usize = 24;
    let listed: Vec<String> = values.iter().take(FEW).map(i64::to_string).collect();
    let more = if values.len() > FEW { " …" } else { "" };
    format!("`{name}` is {}{more}", listed.join(", "))
}

/// The cases of one device.
#[derive(Clone, Debug, Default)]
pub struct Cases {
    /// To be run.
    pub run: Vec<Case>,
    /// Skipped by the plan, as records of the first round.
    pub skipped: Vec<Record>,
}

/// The cases of `suite` on `device`, which is number `number` of the run.
pub fn cases(
    suite: &Suite,
    filters: &Filters,
    device: &DeviceInfo,
    number: usize,
    limits: &Limits,
) -> Cases {
    let mut cases = Cases::default();
    for planned in plan(suite, device, limits) {
        match planned {
            Planned::Case(case) if filters.pass(&case.key, &case.tags, &case.family) => {
                cases.run.push(*case);
            }
            Planned::Skipped(skip) if filters.pass(&skip.key, &skip.tags, &skip.family) => {
                cases.skipped.push(Record::skipped(skip, number));
            }
            _ => {}
        }
    }
    cases
}

/// How many cases the filters leave on one device, and how many of them are the smallest of their
/// workload.
pub fn count(suite: &Suite, filters: &Filters) -> (u64, u64) {
    let keys = keys(suite).into_iter();
    let left: Vec<CaseKey> =
        keys.filter(|(w, key)| filters.pass(key, &w.tags, &w.family)).map(|(_, key)| key).collect();
    let siblings: BTreeSet<_> =
        left.iter().map(|key| (&key.workload, key.measure, key.host_memory)).collect();
    (left.len() as u64, siblings.len() as u64)
}

/// Seconds that one of `cases` may take for all to fit `total`: twice its fair share, since most take
/// less than theirs, or what the smallest of a workload is given.
pub fn seconds_each(total: Option<f64>, (cases, smallest): (u64, u64)) -> f64 {
    const WITHOUT_BUDGET: f64 = 120.0;
    const MIN_SECONDS: f64 = 1.0;
    let share = |total: f64, count: u64| total / count.max(1) as f64;
    total.map_or(WITHOUT_BUDGET, |total| {
        (2.0 * share(total, cases)).max(0.5 * share(total, smallest)).max(MIN_SECONDS)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn for_a_condition_that_nothing_fulfils_the_choices_are_listed() {
        let sizes = [("n".to_owned(), 512), ("m".to_owned(), 8), ("n".to_owned(), 64)];
        assert_eq!(sized("n", sizes.iter()), "`n` is 64, 512");
        assert_eq!(sized("k", sizes.iter()), "no size is called `k`; there are: m, n");
    }
}
