//! The experiments that a workload asks for, held against what each kind needs.

use super::Expr;
use super::convert::{Converter, Params};
use super::decode::At;
use super::experiment_kind::{ExperimentKind, HostMemory, Options, OptionsContext, Passes};
use super::file;
use super::keywords::HostMemoryKind;
use super::suggest::suggest;
use super::types::Workload;
use gpubench_core::gpu::MemoryKind;
use gpubench_core::workload::Kind;
use gpubench_core::yaml::Node;
use std::collections::HashSet;
use std::fmt;

/// An experiment that a workload asks for.
#[derive(Clone)]
pub struct Requested {
    /// Of which kind.
    pub experiment: &'static dyn ExperimentKind,
    /// Its options.
    pub options: Options,
}

impl Requested {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        self.experiment.kind()
    }

    /// The kinds of host memory that each make a case of `workload`.
    pub fn host_memory(&self, workload: &Workload) -> Vec<Option<MemoryKind>> {
        match self.experiment.host_memory() {
            HostMemory::Unused => vec![None],
            HostMemory::Listed if workload.host_memory.is_empty() => vec![None],
            HostMemory::Listed | HostMemory::All => {
                workload.host_memory.iter().copied().map(Some).collect()
            }
        }
    }
}

impl fmt::Debug for Requested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.kind())
    }
}

/// An experiment whose options are still to be checked.
pub struct Asked {
    pub experiment: &'static dyn ExperimentKind,
    name: At<String>,
    options: Option<Node>,
}

impl Converter<'_> {
    /// The experiments of a workload, without their options.
    pub fn experiments(&mut self, spec: &file::Workload, name: &At<String>) -> Option<Vec<Asked>> {
        let Some(At { value: listed, at }) = &spec.measure else {
            if spec.kernel.is_none() {
                let help = "give it a `kernel`, or `measure: [upload, download]` for transfers";
                return self.diagnostics.reject(
                    &name.at,
                    "there is nothing to measure",
                    Some(help),
                );
            }
            let experiment = self.kinds.iter().find(|kind| kind.kind().is_kernel())?;
            return Some(vec![Asked {
                experiment: *experiment,
                name: name.clone(),
                options: None,
            }]);
        };
        if listed.0.is_empty() {
            return self.diagnostics.reject(at, "there is nothing to measure", None);
        }
        let mut all: Vec<Asked> = vec![];
        for (name, options) in &listed.0 {
            let experiment = self.experiment(name)?;
            if all.iter().any(|asked| asked.experiment.kind() == experiment.kind()) {
                self.diagnostics.push(&name.at, "this is measured twice", None);
            }
            if let Some(missing) = missing(spec, experiment) {
                return self.diagnostics.reject(&name.at, missing, None);
            }
            all.push(Asked { experiment, name: name.clone(), options: options.clone() });
        }
        Some(all)
    }

    fn experiment(&mut self, name: &At<String>) -> Option<&'static dyn ExperimentKind> {
        let found = self.kinds.iter().find(|kind| kind.kind().name() == name.value);
        if found.is_none() {
            let known = self.kinds.iter().map(|kind| kind.kind().name());
            let all = || format!("one of {}", known.clone().collect::<Vec<_>>().join(", "));
            let help = suggest(&name.value, known.clone()).unwrap_or_else(all);
            let message = format!("there is no experiment `{}`", name.value);
            self.diagnostics.push(&name.at, message, Some(&help));
        }
        found.copied()
    }

    /// The same with their options; `names` are the workload's sizes and parameters.
    pub fn options(
        &mut self,
        spec: &file::Workload,
        asked: &[Asked],
        names: &[String],
    ) -> Option<Vec<Requested>> {
        let buffers = spec.buffers.iter().flat_map(|all| &all.value.0);
        let buffers: Vec<String> = buffers.map(|(name, _)| name.value.clone()).collect();
        let checked = asked.iter().map(|asked| {
            let mut context = OptionsContext {
                at: asked.name.at.clone(),
                buffers: buffers.clone(),
                names: names.to_vec(),
                diagnostics: self.diagnostics,
            };
            let options = asked.experiment.options(asked.options.as_ref(), &mut context)?;
            Some(Requested { experiment: asked.experiment, options })
        });
        checked.collect::<Vec<_>>().into_iter().collect()
    }

    /// Some experiments vary the number of groups: a size must set it.
    pub fn check_groups(
        &mut self,
        spec: &file::Workload,
        asked: &[Asked],
        grid: &[Expr; 3],
        params: &Params,
    ) {
        let Some(At { at, .. }) = &spec.grid else { return };
        let constants = spec.kernel.as_ref().and_then(|k| k.value.constants.as_ref());
        let fixed = |name: &str| match params.iter().find(|(param, _, _)| param == name) {
            Some((_, value, _)) => value.names().next().is_none(),
            None => {
                name.starts_with("GROUP_")
                    || constants.is_some_and(|all| all.0.iter().any(|(n, _)| n.value == name))
            }
        };
        let depends = |expr: &Expr| expr.names().any(|(name, _)| !fixed(name));
        let varies = asked.iter().any(|asked| asked.experiment.needs().groups_by_size);
        if varies && !grid.iter().any(depends) {
            let help = "let a size say how many groups there are, such as `grid: [groups*64]`";
            let message = "this varies the number of groups, and no size sets it";
            self.diagnostics.push(at, message, Some(help));
        }
    }

    /// The kinds of host memory that the workload lists, or all where an experiment takes all.
    pub fn host_memory(
        &mut self,
        spec: &file::Workload,
        asked: &[Asked],
    ) -> Option<Vec<MemoryKind>> {
        let Some(At { value: kinds, at }) = &spec.host_memory else {
            let every = asked.iter().any(|asked| asked.experiment.host_memory() == HostMemory::All);
            use HostMemoryKind::{Mapped, Pageable, Pinned};
            let all = [Pageable, Pinned, Mapped].map(Into::into);
            return Some(if every { all.into() } else { vec![] });
        };
        let unique: HashSet<_> = kinds.iter().map(|kind| kind.value).collect();
        if kinds.is_empty() || unique.len() < kinds.len() {
            return self.diagnostics.reject(
                at,
                "name each kind of host memory once, and at least one",
                None,
            );
        }
        Some(kinds.iter().map(|kind| kind.value.into()).collect())
    }
}

/// What an experiment needs and `spec` does not have.
fn missing(spec: &file::Workload, experiment: &dyn ExperimentKind) -> Option<&'static str> {
    let (needs, is_kernel) = (experiment.needs(), experiment.kind().is_kernel());
    let mut buffers = spec.buffers.iter().flat_map(|buffers| &buffers.value.0);
    let has_images = buffers.any(|(_, buffer)| buffer.image.is_some());
    let no_buffers = spec.buffers.as_ref().is_none_or(|buffers| buffers.value.0.is_empty());
    if spec.kernel.is_none() && needs.kernel {
        Some("there is no kernel to measure")
    } else if no_buffers && needs.buffers {
        Some("there are no buffers to transfer")
    } else if spec.divide.is_none() && needs.divide {
        Some("this cuts the problem into chunks, so the workload needs `divide`")
    } else if spec.passes.is_none() && needs.passes == Passes::Needed {
        Some("this works between passes, so the workload needs `passes`")
    } else if spec.steps.is_some() && !is_kernel {
        Some("this measures one kernel, and the workload is a program of several")
    } else if spec.passes.is_some() && needs.passes == Passes::Unsupported {
        Some("this measures one launch, and the workload has several passes")
    } else if has_images && !is_kernel {
        Some("only `kernel` measures images: one is made of its buffer before the first launch")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{SUITE, load_with, mistake, workload_with};

    fn measured(text: &str) -> Workload {
        workload_with("grid: [n]", &format!("grid: [n]\n    {text}"))
    }

    fn wrong(text: &str) -> (String, String) {
        mistake("grid: [n]", &format!("grid: [n]\n    {text}"), &[])
    }

    #[test]
    fn the_time_of_a_kernel_is_measured_where_nothing_is_said() {
        let kinds = |workload: Workload| format!("{:?}", workload.measure);
        assert_eq!(kinds(workload_with("one", "other")), format!("[{:?}]", Kind::KERNEL));
        let all = measured("measure: [copies, kernel]");
        assert_eq!(
            all.measure.iter().map(|one| one.kind().name()).collect::<Vec<_>>(),
            ["copies", "kernel"]
        );
    }

    #[test]
    fn each_kind_of_host_memory_makes_a_case() {
        let cases = |text: &str| {
            let workload = measured(text);
            let each: Vec<_> =
                workload.measure.iter().map(|one| one.host_memory(&workload)).collect();
            (each, workload.cases())
        };
        let all = [MemoryKind::Pageable, MemoryKind::Pinned, MemoryKind::Mapped].map(Some).to_vec();
        assert_eq!(cases("measure: [kernel]"), (vec![vec![None]], 3));
        assert_eq!(cases("measure: [copies]"), (vec![vec![None]], 3));
        assert_eq!(cases("measure: [every_copy]"), (vec![all.clone()], 9));
        let pinned = vec![Some(MemoryKind::Pinned)];
        assert_eq!(
            cases("measure: [copies]\n    host_memory: [pinned]"),
            (vec![pinned.clone()], 3)
        );
        assert_eq!(
            cases("measure: [every_copy]\n    host_memory: [pinned]"),
            (vec![pinned.clone()], 3)
        );
        assert_eq!(cases("measure: [kernel, every_copy]"), (vec![vec![None], all.clone()], 12));
        let listed = "measure: [kernel, copies]\n    host_memory: [mapped, pinned]";
        let two = vec![Some(MemoryKind::Mapped), Some(MemoryKind::Pinned)];
        assert_eq!(cases(listed), (vec![vec![None], two], 9));
        // Where one takes all, those that take what is listed have all of them too.
        assert_eq!(cases("measure: [copies, every_copy]"), (vec![all.clone(), all], 18));
    }

    #[test]
    fn what_an_experiment_needs_is_said_where_it_is_missing() {
        for (text, message, at) in [
            ("measure: [kernels]", "there is no experiment `kernels`", "kernels"),
            ("measure: []", "there is nothing to measure", "measure"),
            ("measure: [kernel, kernel]", "this is measured twice", "kernel"),
            (
                "measure: [chunks]",
                "this cuts the problem into chunks, so the workload needs `divide`",
                "chunks",
            ),
            (
                "measure: [between]",
                "this works between passes, so the workload needs `passes`",
                "between",
            ),
            (
                "passes: 2\n    measure: [copies]",
                "this measures one launch, and the workload has several passes",
                "copies",
            ),
        ] {
            let (said, place) = wrong(text);
            assert_eq!((&said[..], &place[..]), (message, at), "{text}");
        }
        assert_eq!(measured("measure: [chunks]\n    divide: n").measure.len(), 1);
        assert_eq!(measured("measure: [kernel, between]\n    passes: 2").measure.len(), 2);
        let without = |measure: &str, buffers: &str| {
            let suite = format!(
                "version: 1\nworkloads:\n  w:\n    measure: [{measure}]\n    verify: none\n{buffers}"
            );
            load_with(SUITE, &suite, &[]).map(|_| ()).map_err(|found| found[0].message.clone())
        };
        let buffers = "    buffers: { a: { type: u32, count: 1, fill: index } }\n";
        assert_eq!((without("copies", ""), without("every_copy", buffers)), (Ok(()), Ok(())));
        assert_eq!(without("kernel", buffers).unwrap_err(), "there is no kernel to measure");
        for none in ["", "    buffers: {}\n"] {
            assert_eq!(
                without("every_copy", none).unwrap_err(),
                "there are no buffers to transfer"
            );
        }
        let nothing =
            load_with(SUITE, "version: 1\nworkloads: { w: {} }\n", &[]).map(|_| ()).unwrap_err();
        assert_eq!(nothing[0].message, "there is nothing to measure");
    }

    #[test]
    fn a_program_is_measured_as_a_whole() {
        let suite = SUITE.replace("wgsl: k.wgsl, ", "").replace("{ reference: copy }", "none");
        let steps =
            "steps: [{ kernel: { entry: copy }, grid: [n] }]\n    measure: [kernel, copies]";
        let (message, at) = mistake(SUITE, &suite.replace("grid: [n]", steps), &[]);
        assert_eq!(
            (&message[..], &at[..]),
            ("this measures one kernel, and the workload is a program of several", "copies")
        );
    }

    #[test]
    fn a_size_sets_the_number_of_groups_where_that_varies() {
        let with = |grid: &str, params: &str| {
            let suite = SUITE
                .replace("wgsl: k.wgsl, ", "")
                .replace("group: [64]", "group: [64], constants: { C: 2 }");
            let suite =
                suite.replace("grid: [n]", &format!("grid: [{grid}]\n    measure: [groups]"));
            load_with(SUITE, &suite.replace("{ n: n }", params), &[])
                .map(|_| ())
                .map_err(|found| found[0].message.clone())
        };
        assert_eq!(with("n", "{ n: n }"), Ok(()));
        assert_eq!(with("64*rows", "{ rows: n }"), Ok(()));
        assert_eq!(with("1, n", "{ n: n }"), Ok(()));
        for (grid, params) in [
            ("64", "{ n: n }"),
            ("GROUP_X", "{ n: n }"),
            ("C", "{ n: n }"),
            ("rows", "{ rows: 64 }"),
            ("n", "{ n: 64 }"),
        ] {
            assert_eq!(
                with(grid, params).unwrap_err(),
                "this varies the number of groups, and no size sets it",
                "{grid}"
            );
        }
        assert_eq!(measured("measure: [kernel]").grid[1].to_string(), "1");
    }
}
