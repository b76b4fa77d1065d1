//! A workload's spec becomes a checked workload; what is wrong with it is reported where it stands.

use super::Expr;
use super::data;
use super::decode::{At, Diagnostics};
use super::experiment_kind::ExperimentKind;
use super::family::family;
use super::file;
use super::source::{Root, Source};
use super::steps::with_first_kernel;
use super::suggest::suggest;
use super::tolerances::Profile;
use super::types::{Buffer, Workload};
use super::values::Expression;
use gpubench_core::gpu::Scalar;
use gpubench_core::workload::Comparison;
use std::collections::BTreeMap;

/// Converts the workloads of one file.
pub struct Converter<'a> {
    /// Where the suite's files lie.
    pub root: &'a Root,
    /// Names of all references.
    pub references: &'a [&'a str],
    /// The experiments that there are.
    pub kinds: &'a [&'static dyn ExperimentKind],
    /// Hashes of all files that the suite was made of, by their identity.
    pub files: &'a mut BTreeMap<String, String>,
    /// Kernels from files that were read, by the file that names each and what it calls it.
    pub texts: &'a mut BTreeMap<(String, String), Source>,
    /// Whether this file is an embedded suite, which gives shipped kernels no wrong sizes.
    pub trusted: bool,
    /// What is wrong with this file.
    pub diagnostics: &'a mut Diagnostics,
}

/// Parameters: name, value over the sizes, type.
pub type Params = Vec<(String, Expr, Scalar)>;

impl Converter<'_> {
    /// The workload `name`. `None`: there were diagnostics, and they have been reported.
    pub fn workload(&mut self, name: &At<String>, spec: &file::Workload) -> Option<Workload> {
        let before = self.diagnostics.count();
        let (whole, spec) = (spec, &with_first_kernel(spec));
        let name_fits = self.workload_name(name);
        let asked = self.experiments(spec, name);
        let mut kernel = self.kernel(spec);
        let sizes = self.sizes(spec);
        let passes = sizes.as_ref().and_then(|sizes| self.passes(spec, sizes));
        let params = sizes.as_ref().and_then(|sizes| self.params(spec, sizes));
        let known = params.as_ref().zip(sizes.as_ref());
        let buffers = known.and_then(|(params, sizes)| self.buffers(spec, sizes, params));
        let names = known.map(|(params, sizes)| data::launch_names(spec, sizes, params));
        let grid = names.as_ref().and_then(|names| self.grid(spec, names));
        let work = names.as_ref().and_then(|names| self.work(spec, names));
        let conditions = known.and_then(|(params, sizes)| self.check_search(spec, sizes, params));
        if let (Some(grid), Some(asked), Some(params)) = (&grid, &asked, &params) {
            self.check_groups(spec, asked, grid, params);
        }
        let inner = kernel.as_ref().and_then(Option::as_ref);
        let verify = buffers.as_ref().and_then(|all| self.verify(spec, name, inner, all));
        let program = buffers.as_ref().zip(params.as_ref()).zip(names.as_ref());
        let program = program.and_then(|((b, p), names)| self.program(whole, b, p, names));
        let ceiling = self.ceiling(spec, asked.as_deref(), work.as_ref());
        let divide = params.as_ref().and_then(|params| self.divide(spec, params));
        let host_memory = asked.as_ref().and_then(|asked| self.host_memory(spec, asked));
        let given = known.map(|(params, sizes)| data::given_names(sizes, params));
        let measure = asked.as_ref().zip(given);
        let measure = measure.and_then(|(asked, given)| self.options(spec, asked, &given));
        let args_fit = self.give_args(spec, kernel.as_mut(), buffers.as_ref(), names.as_ref());
        if let (Some(Some(kernel)), Some(buffers), Some(params), Some(())) =
            (&kernel, &buffers, &params, args_fit)
        {
            let params: Vec<_> = params.iter().map(|(n, _, s)| (n.clone(), *s)).collect();
            self.fit(spec, kernel, buffers, &params);
        }
        let (asked, work, ()) = (asked?, work?, conditions?);
        let mut workload = Workload {
            name: name.value.clone(),
            tags: spec.tags.iter().flatten().map(|tag| tag.value.clone()).collect(),
            family: String::new(),
            ceiling: ceiling?,
            kernel: kernel?,
            sizes: sizes?,
            profiles: profiles(spec, buffers.as_deref()),
            buffers: buffers?,
            params: params?,
            passes: passes?,
            program: program?,
            grid: grid?,
            work,
            verify: verify?,
            measure: measure?,
            host_memory: host_memory?,
            divide: divide?,
            place: self.diagnostics.source().place(&name.at),
        };
        workload.family = family(spec, &asked, &workload).name().to_owned();
        self.evaluate(spec, &workload);
        (name_fits && self.diagnostics.count() == before).then_some(workload)
    }

    fn workload_name(&mut self, name: &At<String>) -> bool {
        let fits = |part: &str| {
            !part.is_empty()
                && part.chars().all(|c| c.is_ascii_alphanumeric() || "_-.+".contains(c))
        };
        if name.value.split('/').all(fits) {
            return true;
        }
        let message = format!("`{}` cannot name a workload", name.value);
        let help = "letters, digits, `_`, `-`, `.` and `+`; the slash stands before a variant";
        self.diagnostics.push(&name.at, message, Some(help));
        false
    }

    fn divide(&mut self, spec: &file::Workload, params: &Params) -> Option<Option<String>> {
        let Some(At { value: name, at }) = &spec.divide else { return Some(None) };
        let known = params.iter().map(|(param, _, _)| param.as_str());
        if known.clone().any(|param| param == name) {
            return Some(Some(name.clone()));
        }
        self.diagnostics.reject(
            at,
            format!("there is no parameter `{name}`"),
            suggest(name, known).as_deref(),
        )
    }

    /// As [`Diagnostics::check_names`].
    pub fn names(&mut self, expression: &Expression, known: &[&str], rule: &str) -> Option<()> {
        self.diagnostics.check_names(expression, known, rule)
    }
}

/// The longest name that a compiler is given.
const MAX_NAME: usize = 64;
/// What a name is made of.
pub const NAME_RULE: &str = "letters, digits and `_`, at most 64, not beginning with a digit";

/// Whether every compiler takes `text` as a name.
pub fn is_name(text: &str) -> bool {
    text.len() <= MAX_NAME
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The tolerances of profiles, where the file names any.
fn profiles(spec: &file::Workload, buffers: Option<&[Buffer]>) -> Vec<(Profile, Comparison)> {
    let verification = spec.verify.as_ref().zip(buffers);
    verification.map(|(verify, buffers)| verify.value.profiles(buffers)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{load_with, message, mistake, workload_with};

    #[test]
    fn a_name_is_letters_digits_and_underscores() {
        for name in ["n", "_", "N9_x", &"n".repeat(64)] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "9n", "a-b", "a b", "\u{e9}", "a\u{e9}", &"n".repeat(65)] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn the_name_of_a_workload_has_parts_of_letters_digits_and_four_marks() {
        let with = |name: &str| load_with("  copy:\n", &format!("  \"{name}\":\n"), &[]);
        for name in ["a", "a/b", "9_-.+z/8x8"] {
            assert_eq!(with(name).unwrap().workloads[0].name, name);
        }
        for name in ["", "a/", "/a", "a//b", "a b", "a:b", "\u{e9}"] {
            let found = with(name).map(|_| ()).unwrap_err();
            assert_eq!(found[0].message, format!("`{name}` cannot name a workload"));
        }
    }

    #[test]
    fn a_problem_is_divided_along_a_parameter() {
        let with = |name: &str| format!("grid: [n]\n    divide: {name}");
        assert_eq!(workload_with("grid: [n]", &with("n")).divide.as_deref(), Some("n"));
        assert_eq!(workload_with("one", "other").divide, None);
        let (message, at) = mistake("grid: [n]", &with("m"), &[]);
        assert_eq!((&message[..], &at[..]), ("there is no parameter `m`", "m"));
    }

    #[test]
    fn tags_and_tolerances_of_profiles_reach_the_workload() {
        let profiles =
            "{ reference: copy, profiles: { embedded: { relative: 0.5 } } }\n    tags: [a, b]";
        let workload = workload_with("{ reference: copy }", profiles);
        assert_eq!(workload.tags, ["a", "b"]);
        let [(profile, how)] = &workload.profiles[..] else { panic!("{:?}", workload.profiles) };
        assert_eq!((profile.feature(), how.relative, how.absolute), ("embedded", 0.5, 1e-6));
        assert!(workload_with("one", "other").profiles.is_empty());
    }

    #[test]
    fn where_a_workload_stands_is_kept() {
        let place = workload_with("one", "other").place;
        assert_eq!(&place.text[place.offset..place.offset + place.len], "copy");
        assert!(place.to_string().ends_with("s.yaml:4:3"), "{place}");
    }

    /// One mistake hides no other of the workload.
    #[test]
    fn all_mistakes_of_a_workload_are_reported() {
        let found = load_with("count: n, fill: random_bits", "count: m, fill: random_bits", &[]);
        let found = found.map(|_| ()).unwrap_err();
        assert_eq!(found.len(), 1, "{found:?}");
        let both = "grid: [k]\n    divide: rows";
        let found = load_with("grid: [n]", both, &[]).map(|_| ()).unwrap_err();
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(message("grid: [n]", both, &[]), "there is no `k` here");
    }
}
