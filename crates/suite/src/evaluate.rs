//! Every expression of a workload at every size, so that an overflow or a negative count is
//! found now and not in the middle of a run.

use super::Expr;
use super::convert::Converter;
use super::decode::At;
use super::file;
use super::sizes::shown;
use super::types::{MAX_PASSES, PASS, Workload};
use gpubench_core::record::is_work;
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
            let (at, why) = match buffer.count.count(values) {
                Ok(0) => (&spec.count.at, "a buffer has at least one element".to_owned()),
                Ok(count) => match (buffer.image_at(count, values), &spec.image) {
                    (Err(why), Some(image)) => (&image.value.width.at, why),
                    _ => continue,
                },
                Err(why) => (&spec.count.at, why),
            };
            self.fails(at, &format!("buffer `{}`", name.value), size, &why);
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
                Ok(amount) if !is_work(amount) => {
                    let why = match amount < 0.0 {
                        true => "work is not negative",
                        false => "no launch has so little work, or so much",
                    };
                    let why = format!("`{}` is {}, but {why}", value.expr, quoted(amount));
                    self.fails(at, "work", size, &why);
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
        values.extend(value.numbers(name));
    }
    values
}

#[cfg(test)]
mod tests;
