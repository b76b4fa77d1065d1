//! What a launch is given (parameters, buffers, grid) and what it is said to do.

use super::Expr;
use super::convert::{Converter, NAME_RULE, Params, is_name};
use super::decode::At;
use super::file;
use super::sizes::size_names;
use super::types::{Buffer, PASS, Work};
use super::values::Expression;
use gpubench_core::gpu::{Access, Scalar};
use gpubench_core::units::quoted;
use gpubench_core::workload::{Fill, Size, Split};

impl Converter<'_> {
    /// How many passes there are, where the file says so; the outer `None`: there was an error.
    pub fn passes(&mut self, spec: &file::Workload, sizes: &[Size]) -> Option<Option<Expr>> {
        let Some(At { value: passes, at }) = &spec.passes else { return Some(None) };
        let known = size_names(sizes);
        if known.contains(&PASS) {
            let message = format!("`{PASS}` counts the passes here and cannot be a size too");
            return self.diagnostics.reject(at, message, None);
        }
        self.names(passes, &known, "passes are made of sizes")?;
        Some(Some(passes.expr.clone()))
    }

    /// The parameter block.
    pub fn params(&mut self, spec: &file::Workload, sizes: &[Size]) -> Option<Params> {
        let Some(At { value: given, .. }) = &spec.params else {
            let param = |(name, _): &(String, i64)| (name.clone(), Expr::name(name), Scalar::U32);
            return Some(sizes.first()?.iter().map(param).collect());
        };
        let mut known = size_names(sizes);
        known.extend(spec.passes.is_some().then_some(PASS));
        let mut all = vec![];
        for (name, At { value: param, .. }) in &given.0 {
            let fits = is_name(&name.value);
            if !fits {
                let message = format!("`{}` cannot name a parameter", name.value);
                self.diagnostics.push(&name.at, message, Some(NAME_RULE));
            }
            let names = self.names(&param.value, &known, "parameters are made of sizes");
            all.push(
                names
                    .filter(|()| fits)
                    .map(|()| (name.value.clone(), param.value.expr.clone(), param.scalar)),
            );
        }
        all.into_iter().collect()
    }

    /// The buffers in binding order.
    pub fn buffers(
        &mut self,
        spec: &file::Workload,
        sizes: &[Size],
        params: &Params,
    ) -> Option<Vec<Buffer>> {
        let mut known = size_names(sizes);
        known.extend(params.iter().map(|(name, _, _)| name.as_str()));
        let mut all = vec![];
        for (name, buffer) in spec.buffers.as_ref().map_or(&[][..], |b| &b.value.0) {
            all.push(self.buffer(name, buffer, &known));
        }
        all.into_iter().collect()
    }

    fn buffer(&mut self, name: &At<String>, spec: &file::Buffer, known: &[&str]) -> Option<Buffer> {
        self.names(&spec.count.value, known, "a count is made of sizes and parameters")?;
        let fill = spec.fill.as_ref().map(|fill| fill.value.clone());
        let access = match (&spec.access, &fill) {
            (Some(access), _) => access.value,
            (None, Some(_)) => Access::Read,
            (None, None) => Access::Write,
        };
        if fill.is_none() && access != Access::Write {
            let message = format!("`{}` is read, but nothing fills it", name.value);
            let help = "give it a `fill`, such as `fill: { uniform: [0, 1] }`";
            return self.diagnostics.reject(&name.at, message, Some(help));
        }
        if let Some(At { value: Fill::Uniform(bounds), at }) = &spec.fill
            && let Some(wrong) = wrong_bounds(*bounds, spec.r#type.value.scalar)
        {
            return self.diagnostics.reject(at, wrong, None);
        }
        Some(Buffer {
            name: name.value.clone(),
            element: spec.r#type.value,
            count: spec.count.value.expr.clone(),
            fill,
            access,
            split: spec.split.as_ref().map_or(Split::Broadcast, |split| split.0.clone()),
            place: self.diagnostics.source().place(&name.at),
        })
    }

    /// The work-items of a launch.
    pub fn grid(&mut self, spec: &file::Workload, known: &[String]) -> Option<[Expr; 3]> {
        let mut grid = [1.0; 3].map(Expr::number);
        if spec.steps.is_some() {
            return Some(grid);
        }
        let Some(At { value: given, at }) = &spec.grid else {
            let Some(kernel) = &spec.kernel else { return Some(grid) };
            let help = "for example `grid: [n]` or `grid: [cols, rows]`";
            return self.diagnostics.reject(
                &kernel.at,
                "the kernel needs a `grid`: its work-items",
                Some(help),
            );
        };
        if !(1..=3).contains(&given.len()) {
            return self.diagnostics.reject(at, "a grid has one to three dimensions", None);
        }
        let known: Vec<_> = known.iter().map(String::as_str).collect();
        let mut complete = true;
        for (out, item) in grid.iter_mut().zip(given) {
            let names = "a grid is made of sizes, parameters and constants";
            complete &= self.names(&item.value, &known, names).is_some();
            *out = item.value.expr.clone();
        }
        complete.then_some(grid)
    }

    /// Operations and bytes of a launch.
    pub fn work(&mut self, spec: &file::Workload, known: &[String]) -> Option<Work> {
        let known: Vec<_> = known.iter().map(String::as_str).collect();
        let mut amount = |given: Option<&At<Expression>>| match given {
            None => Some(Expr::number(0.0)),
            Some(At { value, .. }) => {
                self.names(value, &known, "work is made of sizes, parameters and constants")?;
                Some(value.expr.clone())
            }
        };
        let given = spec.work.as_ref().map(|work| &work.value);
        let flops = amount(given.and_then(|work| work.flops.as_ref()));
        let bytes = amount(given.and_then(|work| work.bytes.as_ref()));
        let set = given.and_then(|work| work.working_set.as_ref());
        let working_set = set.map(|set| amount(Some(set)));
        let typed = given.and_then(|work| work.types.as_ref());
        let typed = typed.map_or(&[][..], |types| &types.value.0);
        let counts: Vec<_> = typed.iter().map(|(_, count)| amount(Some(count))).collect();
        let names = typed.iter().map(|(name, _)| self.operation_type(name));
        let types: Vec<_> = names.zip(counts).map(|(name, count)| name.zip(count)).collect();
        let types: Option<Vec<_>> = types.into_iter().collect();
        let working_set = match working_set {
            Some(set) => Some(set?),
            None => None,
        };
        Some(Work { flops: flops?, bytes: bytes?, types: types?, working_set })
    }

    /// The type of which operations are counted.
    fn operation_type(&mut self, name: &At<String>) -> Option<Scalar> {
        match Scalar::from_name(&name.value) {
            Some(scalar) => Some(scalar),
            None => {
                let message = format!("`{}` is no type of an operation", name.value);
                let help = "there are i8 to i64, u8 to u64, f16, f32 and f64";
                self.diagnostics.reject(&name.at, message, Some(help))
            }
        }
    }
}

/// What is wrong with the bounds of a uniform fill; integers are rounded down.
fn wrong_bounds([low, high]: [f64; 2], scalar: Scalar) -> Option<String> {
    if !(low < high && (high - low).is_finite()) {
        let [low, high] = [low, high].map(quoted);
        return Some(format!(
            "a uniform fill needs a low and a higher bound, not {low} and {high}"
        ));
    }
    let (name, [min, max]) = (scalar.name(), scalar.range()?);
    let range = [min, max + 1.0];
    if low < range[0] || high > range[1] {
        Some(format!(
            "{name} holds numbers from {} below {}, not {} to {}",
            range[0],
            range[1],
            quoted(low),
            quoted(high)
        ))
    } else if high - low < 2.0 {
        let [low, high] = [low, high].map(quoted);
        Some(format!(
            "whole numbers from {low} below {high} are all alike: {name} needs bounds 2 apart"
        ))
    } else {
        None
    }
}

/// The names of sizes and parameters.
pub fn given_names(sizes: &[Size], params: &Params) -> Vec<String> {
    let params = params.iter().map(|(name, _, _)| name.clone());
    size_names(sizes).into_iter().map(str::to_owned).chain(params).collect()
}

/// The names that a launch's grid and work may use.
pub fn launch_names(spec: &file::Workload, sizes: &[Size], params: &Params) -> Vec<String> {
    let mut all = given_names(sizes, params);
    let kernel = spec.kernel.as_ref().and_then(|kernel| kernel.value.constants.as_ref());
    all.extend(kernel.iter().flat_map(|c| &c.0).map(|(name, _)| name.value.clone()));
    let search = spec.search.as_ref().and_then(|search| search.value.constants.as_ref());
    all.extend(search.iter().flat_map(|c| &c.0).map(|(name, _)| name.value.clone()));
    all.extend(["GROUP_X", "GROUP_Y", "GROUP_Z"].map(str::to_owned));
    all
}
