//! Every expression of a workload at every size, so that an overflow or a negative count is
//! found now and not in the middle of a run.

use super::Expr;
use super::convert::Converter;
use super::decode::At;
use super::file;
use super::sizes::shown;
use super::types::{MAX_PASSES, PASS, Workload};
use gpubench_core::units::quoted;
use gpubench_core::workload::Size;
use std::ops::Range;

/// Values by name.
pub type Values = Vec<(String, f64)>;

impl Converter<'_> {
    /// Reports every expression that has no sensible value at some size, with the first such size.
    pub fn evaluate(&mut self, spec: &file::Workload, workload: &Workload) {
        for size in &workload.sizes {
            let before = self.diagnostics.count();
            let last = self.last_pass(spec, workload, size);
            for pass in [Some(0), last.filter(|&last| last > 0)].into_iter().flatten() {
                let Some(values) = self.param_values(spec, workload, size, pass) else { break };
                self.buffer_counts(spec, workload, size, &values);
                let mut all = kernel_values(workload);
                all.extend(values.iter().cloned());
                self.launch(spec, workload, size, &all);
                self.program_at_size(workload, size, &all);
                if let (Some(kernel), Some(At { value, .. })) = (&workload.kernel, &spec.kernel) {
                    self.args_at_size(value.args.as_ref(), kernel, size, &all);
                }
                if self.diagnostics.count() == before && pass == 0 {
                    self.expected_files(spec, workload, size, &all);
                    self.options_at_size(workload, size, &all);
                    self.search_at_size(spec, workload, size, &values);
                }
                if self.diagnostics.count() > before {
                    break;
                }
            }
            if self.diagnostics.count() > before {
                return;
            }
        }
    }

    /// The number of the last pass, from 0.
    fn last_pass(
        &mut self,
        spec: &file::Workload,
        workload: &Workload,
        size: &Size,
    ) -> Option<u64> {
        let (Some(passes), Some(At { at, .. })) = (&workload.passes, &spec.passes) else {
            return Some(0);
        };
        let why = match passes.count(&size_values(size)) {
            Ok(count @ 1..=MAX_PASSES) => return Some(count - 1),
            Ok(count) => format!("there are 1 to {MAX_PASSES} passes, not {count}"),
            Err(why) => why,
        };
        self.fails(at, "passes", size, &why);
        None
    }

    /// The sizes, and the parameters of a pass behind them.
    fn param_values(
        &mut self,
        spec: &file::Workload,
        workload: &Workload,
        size: &Size,
        pass: u64,
    ) -> Option<Values> {
        let mut values = size_values(size);
        let mut known = values.clone();
        known.extend(workload.passes.is_some().then(|| (PASS.to_owned(), pass as f64)));
        let places = spec.params.as_ref().map(|params| &params.value.0);
        for (i, (name, expr, scalar)) in workload.params.iter().enumerate() {
            let value = expr.eval(&known).and_then(|value| match scalar.holds(value) {
                true => Ok(value),
                false => {
                    Err(format!("{} does not fit into {scalar:?}", quoted(value)).to_lowercase())
                }
            });
            match value {
                Ok(value) => values.push((name.clone(), value)),
                Err(why) => {
                    let at = places.and_then(|places| places.get(i)).map(|(_, param)| &param.at);
                    let at = at.or(spec.sizes.as_ref().map(|sizes| &sizes.at))?.clone();
                    self.fails(&at, &format!("parameter `{name}`"), size, &why);
                    return None;
                }
            }
        }
        Some(values)
    }

    fn buffer_counts(
        &mut self,
        spec: &file::Workload,
        workload: &Workload,
        size: &Size,
        values: &Values,
    ) {
        let specs = spec.buffers.iter().flat_map(|buffers| &buffers.value.0);
        for ((name, spec), buffer) in specs.zip(&workload.buffers) {
            let why = match buffer.count.count(values) {
                Ok(0) => "a buffer has at least one element".to_owned(),
                Ok(_) => continue,
                Err(why) => why,
            };
            self.fails(&spec.count.at, &format!("buffer `{}`", name.value), size, &why);
        }
    }

    fn launch(&mut self, spec: &file::Workload, workload: &Workload, size: &Size, values: &Values) {
        let grid = spec.grid.iter().flat_map(|grid| &grid.value);
        for (At { at, .. }, expr) in grid.zip(&workload.grid) {
            match expr.count(values) {
                Ok(0) => self.fails(at, "grid", size, "a launch has at least one work-item"),
                Ok(_) => {}
                Err(why) => self.fails(at, "grid", size, &why),
            }
        }
        let Some(At { value: work, .. }) = &spec.work else { return };
        let typed = work.types.iter().flat_map(|types| &types.value.0).map(|(_, count)| count);
        let amounts = [work.flops.as_ref(), work.bytes.as_ref(), work.working_set.as_ref()];
        for At { value, at } in amounts.into_iter().flatten().chain(typed) {
            match value.expr.eval(values) {
                Ok(amount) if amount < 0.0 => {
                    self.fails(
                        at,
                        "work",
                        size,
                        &format!(
                            "`{}` is {}, but work is not negative",
                            value.expr,
                            quoted(amount)
                        ),
                    );
                }
                Ok(_) => {}
                Err(why) => self.fails(at, "work", size, &why),
            }
        }
        let eval = |expr: &Expr| expr.eval(values).unwrap_or(0.0);
        let typed: f64 = workload.work.types.iter().map(|(_, count)| eval(count)).sum();
        if let Some(types) = work.types.as_ref().filter(|_| typed > eval(&workload.work.flops)) {
            self.fails(&types.at, "work", size, "more operations have a type than there are");
        }
    }

    /// Unrolls a program, and reports what has no sensible value in any of its launches.
    fn program_at_size(&mut self, workload: &Workload, size: &Size, values: &Values) {
        let Some(program) = &workload.program else { return };
        let wrong = match program.unrolled(values, workload.buffers.len()) {
            Err((place, why)) => Some((place, format!("repeat at {}: {why}", shown(size)))),
            Ok((launches, _)) => launches.iter().find_map(|launch| {
                let step = &program.kernels[launch.kernel];
                let mut scope = values.clone();
                scope.extend(launch.indices.iter().cloned());
                let why = step.check(&scope).err()?;
                let indices: Vec<_> =
                    launch.indices.iter().map(|(name, value)| format!(" {name}={value}")).collect();
                Some((
                    step.place.clone(),
                    format!("step at {}{}: {why}", shown(size), indices.concat()),
                ))
            }),
        };
        if let Some((place, message)) = wrong {
            self.diagnostics.add(place.diagnostic(message, None));
        }
    }

    fn options_at_size(&mut self, workload: &Workload, size: &Size, values: &Values) {
        for requested in &workload.measure {
            let experiment = requested.experiment;
            for wrong in experiment.wrong_at_size(&requested.options, workload, size, values) {
                self.fails(&wrong.at, wrong.what, size, &wrong.why);
            }
        }
    }

    /// Reports what is wrong at a size.
    pub fn fails(&mut self, at: &Range<usize>, what: &str, size: &Size, why: &str) {
        let at_size = if size.is_empty() { String::new() } else { format!(" at {}", shown(size)) };
        self.diagnostics.push(at, format!("{what}{at_size}: {why}"), None);
    }
}

/// The names of a size and their values.
pub fn size_values(size: &Size) -> Values {
    size.iter().map(|(name, value)| (name.clone(), *value as f64)).collect()
}

/// What grid and work see of the kernel: its group and its constants, in the first variant of a
/// search that runs make.
pub fn kernel_values(workload: &Workload) -> Values {
    let Some(kernel) = &workload.kernel else { return vec![] };
    let group = ["GROUP_X", "GROUP_Y", "GROUP_Z"].into_iter().zip(kernel.group);
    let mut values: Values = group.map(|(name, n)| (name.to_owned(), f64::from(n))).collect();
    let searched = kernel.searched_in_run().into_iter().flat_map(|search| &search.constants);
    let firsts = searched.filter_map(|(name, all)| Some((name, all.first()?)));
    let constants = kernel.constants.iter().map(|(name, value)| (name, value));
    for (name, value) in constants.chain(firsts) {
        values.push((name.clone(), value.number()));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{SUITE, load_with, mistake, workload_with};

    fn wrong(from: &str, to: &str) -> (String, String) {
        mistake(from, to, &[])
    }

    #[test]
    fn what_has_no_value_at_a_size_is_said_with_the_first_such_size() {
        for (from, to, message, at) in [
            (
                "type: f32, count: n }",
                "type: f32, count: n - 64 }",
                "buffer `out` at n=64: a buffer has at least one element",
                "n - 64",
            ),
            (
                "grid: [n]",
                "grid: [128 - n]",
                "grid at n=128: a launch has at least one work-item",
                "128 - n",
            ),
            (
                "grid: [n]",
                "grid: [n, n/128]",
                "grid at n=64: `n/128` is 0.5, but a count is whole: use floor(…) or ceil_div(…)",
                "n/128",
            ),
            (
                "bytes: 8*n",
                "bytes: 65 - n",
                "work at n=128: `65 - n` is -63, but work is not negative",
                "65 - n",
            ),
            (
                "bytes: 8*n",
                "bytes: 1/(128 - n)",
                "work at n=128: `1/(128 - n)`: 1 is divided by 0",
                "1/(128 - n)",
            ),
            (
                "bytes: 8*n",
                "working_set: -n",
                "work at n=64: `-n` is -64, but work is not negative",
                "-n",
            ),
            (
                "bytes: 8*n",
                "types: { f64: -n }",
                "work at n=64: `-n` is -64, but work is not negative",
                "-n",
            ),
            (
                "flops: 0",
                "flops: n, types: { f64: n - 64, u32: 65 }",
                "work at n=64: more operations have a type than there are",
                "types",
            ),
            (
                "{ n: n }",
                "{ n: n*2^25 }",
                "parameter `n` at n=128: 4294967296 does not fit into u32",
                "n*2^25",
            ),
            (
                "grid: [n]",
                "grid: [n]\n    passes: 64 - n",
                "passes at n=64: there are 1 to 65536 passes, not 0",
                "64 - n",
            ),
            (
                "grid: [n]",
                "grid: [n]\n    passes: 65537",
                "passes at n=64: there are 1 to 65536 passes, not 65537",
                "65537",
            ),
            (
                "grid: [n]",
                "grid: [n]\n    passes: n/128",
                "passes at n=64: `n/128` is 0.5, but a count is whole: use floor(…) or ceil_div(…)",
                "n/128",
            ),
        ] {
            let (said, place) = wrong(from, to);
            assert_eq!((&said[..], &place[..]), (message, at), "{to}");
        }
    }

    #[test]
    fn limits_themselves_are_taken() {
        let passes = workload_with("grid: [n]", "grid: [n]\n    passes: 65536").passes.unwrap();
        assert_eq!(passes.count(&[]), Ok(65_536));
        workload_with("grid: [n]", "grid: [n]\n    passes: 1");
        workload_with("flops: 0, bytes: 8*n", "flops: n, bytes: 0, types: { f64: n - 1, u32: 1 }");
    }

    #[test]
    fn the_last_pass_has_values_too() {
        let with = |passes: &str, value: &str| {
            let suite = SUITE.replace("{ n: n }", &format!("{{ k: {value} }}"));
            suite.replace("grid: [n]", &format!("grid: [n]\n    passes: {passes}"))
        };
        assert!(load_with(SUITE, &with("3", "2 - pass"), &[]).is_ok());
        let (said, at) = wrong(SUITE, &with("4", "2 - pass"));
        assert_eq!(
            (&said[..], &at[..]),
            ("parameter `k` at n=64: -1 does not fit into u32", "2 - pass")
        );
        // Grid and work see the parameters of each pass.
        let (said, _) = wrong(SUITE, &with("4", "3 - pass").replace("grid: [n]", "grid: [k]"));
        assert_eq!(said, "grid at n=64: a launch has at least one work-item");
    }

    #[test]
    fn a_parameter_that_is_not_given_is_wrong_at_the_sizes() {
        let suite = SUITE
            .replace("    params: { n: n }\n", "")
            .replace("n: [64, 128, 256]", "n: [4294967296]");
        let (said, at) = wrong(SUITE, &suite);
        assert_eq!(
            (&said[..], &at[..]),
            ("parameter `n` at n=4294967296: 4294967296 does not fit into u32", "sizes")
        );
    }

    #[test]
    fn a_workload_without_sizes_names_none() {
        let suite = SUITE
            .replace("    sizes: { n: [64, 128, 256] }\n", "")
            .replace("{ n: n }", "{ n: -1 }")
            .replace("count: n", "count: 1");
        let suite = suite.replace("grid: [n]", "grid: [1]").replace("8*n", "8");
        assert_eq!(wrong(SUITE, &suite).0, "parameter `n`: -1 does not fit into u32");
    }

    #[test]
    fn programs_are_unrolled_at_each_size() {
        let with = |repeat: &str, grid: &str| {
            let suite = SUITE.replace("wgsl: k.wgsl, ", "").replace("{ reference: copy }", "none");
            let step = format!("{{ kernel: {{ entry: copy }}, grid: [{grid}] }}");
            let steps = format!(
                "steps: [{{ repeat: {repeat}, index: i, steps: [{{ repeat: 2, index: j, steps: [{step}] }}] }}]"
            );
            suite.replace("grid: [n]", &steps)
        };
        workload_with(SUITE, &with("n/64", "n"));
        assert_eq!(
            wrong(SUITE, &with("n/128", "n")).0,
            "repeat at n=64: `n/128` is 0.5, but a count is whole: use floor(…) or ceil_div(…)"
        );
        let (said, at) = wrong(SUITE, &with("2", "1 - i - j"));
        assert_eq!(
            (&said[..], &at[..]),
            (
                "step at n=64 i=1 j=1: grid: `1 - i - j` is -1, but a count is not negative",
                "kernel"
            )
        );
    }

    #[test]
    fn values_of_a_kernel_are_its_group_and_the_first_of_a_search() {
        let search = "group: [8, 4], constants: { A: 7, T: f32x4 } }\n    search: { constants: { A: [2, 3] } }";
        let suite = SUITE.replace("wgsl: k.wgsl, ", "").replace("group: [64] }", search);
        let values = kernel_values(&workload_with(SUITE, &suite));
        let values: Vec<_> = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(values, ["GROUP_X=8", "GROUP_Y=4", "GROUP_Z=1", "A=7", "T=4", "A=2"]);
        assert_eq!(
            size_values(&vec![("n".to_owned(), 3), ("m".to_owned(), -1)]),
            [("n".to_owned(), 3.0), ("m".to_owned(), -1.0)]
        );
    }

    #[test]
    fn an_option_is_checked_at_each_size() {
        let with = |size| format!("grid: [n]\n    measure: {{ kernel: not n={size} }}");
        let (said, at) = wrong("grid: [n]", &with(128));
        assert_eq!((&said[..], &at[..]), ("option at n=128: no", "not n=128"));
        assert!(load_with("grid: [n]", &with(100), &[]).is_ok());
    }
}
