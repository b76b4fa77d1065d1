//! What a launch is given (parameters, buffers, grid) and what it is said to do.

use super::Expr;
use super::convert::{Converter, NAME_RULE, Params, is_name};
use super::decode::At;
use super::file;
use super::fills::wrong_fill;
use super::sizes::size_names;
use super::types::{Buffer, PASS, Work};
use super::values::Expression;
use gpubench_core::gpu::{Access, Scalar};
use gpubench_core::workload::{Size, Split};

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
            if let (Some(image), Some(_)) = (&buffer.image, &spec.steps) {
                let message = "the kernels of a program take buffers, and no images";
                self.diagnostics.push(&image.at, message, None);
            }
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
        if let Some(At { value, at }) = &spec.fill
            && let Some(wrong) = wrong_fill(value, spec.r#type.value.scalar)
        {
            return self.diagnostics.reject(at, wrong, None);
        }
        let image = match &spec.image {
            Some(image) => Some(self.image(spec, image, access, known)?),
            None => None,
        };
        Some(Buffer {
            name: name.value.clone(),
            element: spec.r#type.value,
            count: spec.count.value.expr.clone(),
            fill,
            access,
            split: spec.split.as_ref().map_or(Split::Broadcast, |split| split.0.clone()),
            image,
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
                let help = "there are i8 to i64, u8 to u64, f16, bf16, f32 and f64";
                self.diagnostics.reject(&name.at, message, Some(help))
            }
        }
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
    let own = kernel.iter().flat_map(|c| &c.0).map(|(name, value)| (name, &value.value.0));
    let search = spec.search.as_ref().and_then(|search| search.value.constants.as_ref());
    let search = search.iter().flat_map(|c| &c.0);
    let searched =
        search.flat_map(|(name, values)| values.value.iter().map(move |v| (name, &v.value.0)));
    for (name, value) in own.chain(searched) {
        for (name, _) in value.numbers(&name.value) {
            if !all.contains(&name) {
                all.push(name);
            }
        }
    }
    all.extend(["GROUP_X", "GROUP_Y", "GROUP_Z"].map(str::to_owned));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workload;
    use crate::testing::{mistake, workload_with};
    use gpubench_core::workload::Fill;

    fn grid(workload: &Workload, n: f64) -> [f64; 3] {
        let scope = [("n".to_owned(), n), ("GROUP_X".to_owned(), 64.0), ("TWO".to_owned(), 2.0)];
        workload.grid.clone().map(|size| size.eval(&scope).unwrap())
    }

    #[test]
    fn a_grid_has_one_to_three_dimensions_and_one_work_item_along_others() {
        let with = |given: &str| workload_with("grid: [n]", &format!("grid: {given}"));
        assert_eq!(grid(&with("[n]"), 64.0), [64.0, 1.0, 1.0]);
        assert_eq!(grid(&with("[n, 2]"), 64.0), [64.0, 2.0, 1.0]);
        assert_eq!(grid(&with("[n, 2, GROUP_X]"), 64.0), [64.0, 2.0, 64.0]);
        for given in ["[]", "[n, 1, 1, 1]"] {
            let (message, _) = mistake("grid: [n]", &format!("grid: {given}"), &[]);
            assert_eq!(message, "a grid has one to three dimensions", "{given}");
        }
        for given in ["[m, n]", "[n, m]"] {
            let (message, at) = mistake("grid: [n]", &format!("grid: {given}"), &[]);
            assert_eq!((&message[..], &at[..]), ("there is no `m` here", "m"), "{given}");
        }
        let (message, _) = mistake("    grid: [n]\n", "", &[]);
        assert_eq!(message, "the kernel needs a `grid`: its work-items");
    }

    #[test]
    fn grids_know_the_constants_of_the_kernel_and_of_its_search() {
        let constant = "group: [64], constants: { TWO: 2 } }";
        let with = |from: &str, to: &str| {
            let suite =
                crate::testing::SUITE.replace("grid: [n]", "grid: [n/TWO]").replace(from, to);
            workload_with(crate::testing::SUITE, &suite)
        };
        assert_eq!(grid(&with("group: [64] }", constant), 64.0), [32.0, 1.0, 1.0]);
        let search = "    search: { constants: { TWO: [2] } }\n    params:";
        assert_eq!(grid(&with("    params:", search), 64.0), [32.0, 1.0, 1.0]);
    }

    #[test]
    fn parameters_are_the_sizes_in_order_where_none_is_given() {
        let params = |to: &str| {
            let suite = crate::testing::SUITE.replace("wgsl: k.wgsl, ", "");
            let suite = suite.replace("n: [64, 128, 256]", "n: [64], m: [3]");
            let params =
                workload_with(crate::testing::SUITE, &suite.replace("    params: { n: n }\n", to))
                    .params;
            params
                .into_iter()
                .map(|(name, expr, scalar)| (name, expr.to_string(), scalar))
                .collect::<Vec<_>>()
        };
        let param = |name: &str, value: &str, scalar| (name.to_owned(), value.to_owned(), scalar);
        assert_eq!(params(""), [param("n", "n", Scalar::U32), param("m", "m", Scalar::U32)]);
        let given = "    params: { n: m, h: { f32: 0.5 } }\n";
        assert_eq!(params(given), [param("n", "m", Scalar::U32), param("h", "0.5", Scalar::F32)]);
        assert_eq!(params("    params: {}\n"), []);
        let (message, at) = mistake("params: { n: n }", "params: { 9: n }", &[]);
        assert_eq!((&message[..], &at[..]), ("`9` cannot name a parameter", "9"));
    }

    #[test]
    fn passes_are_counted_in_parameters() {
        let with = |params: &str| format!("grid: [n]\n    passes: n/32\n    {params}");
        let workload = workload_with("grid: [n]", &with(""));
        assert_eq!(workload.passes.unwrap().eval(&[("n".to_owned(), 64.0)]), Ok(2.0));
        assert!(workload_with("one", "other").passes.is_none());
        let pass = "params: { n: n + pass }\n    passes: 3";
        assert_eq!(workload_with("params: { n: n }", pass).params[0].1.to_string(), "n + pass");
        let (message, at) = mistake("params: { n: n }", "params: { n: n + pass }", &[]);
        assert_eq!((&message[..], &at[..]), ("there is no `pass` here", "pass"));
    }

    #[test]
    fn a_buffer_is_read_where_it_is_filled_and_written_where_not() {
        let suite = |out: &str| {
            crate::testing::SUITE
                .replace("wgsl: k.wgsl, ", "")
                .replace("out: { type: f32, count: n }", out)
        };
        let out =
            |text: &str| workload_with(crate::testing::SUITE, &suite(text)).buffers[1].clone();
        assert_eq!(workload_with("one", "other").buffers[0].access, Access::Read);
        let plain = out("out: { type: f32x4, count: 2*n }");
        assert_eq!(
            (plain.access, plain.fill, plain.split),
            (Access::Write, None, Split::Broadcast)
        );
        assert_eq!((plain.count.to_string(), plain.element.width), ("2*n".to_owned(), 4));
        let both =
            out("out: { type: f32, count: n, fill: index, access: read_write, split: rows }");
        assert_eq!((both.access, both.fill), (Access::ReadWrite, Some(Fill::Index)));
        assert_eq!(both.split, Split::Rows { halo: 0 });
        for access in ["read", "read_write"] {
            let text = format!("out: {{ type: f32, count: n, access: {access} }}");
            let (message, _) = mistake(crate::testing::SUITE, &suite(&text), &[]);
            assert_eq!(message, "`out` is read, but nothing fills it", "{access}");
        }
    }

    #[test]
    fn operations_of_types_and_a_working_set_are_counted() {
        let work = |text: &str| workload_with("{ flops: 0, bytes: 8*n }", text).work;
        let all = work("{ flops: 3*n, bytes: 8*n, types: { f64: 2*n, i8: n }, working_set: 4*n }");
        let at = |expr: &Expr| expr.eval(&[("n".to_owned(), 10.0)]).unwrap();
        assert_eq!((at(&all.flops), at(&all.bytes)), (30.0, 80.0));
        let types: Vec<_> = all.types.iter().map(|(scalar, count)| (*scalar, at(count))).collect();
        assert_eq!(types, [(Scalar::F64, 20.0), (Scalar::I8, 10.0)]);
        assert_eq!(all.working_set.as_ref().map(at), Some(40.0));
        let none = work("{}");
        assert_eq!((at(&none.flops), at(&none.bytes)), (0.0, 0.0));
        assert!(none.types.is_empty() && none.working_set.is_none());
        for (text, message, place) in [
            ("{ flops: n, types: { f31: n } }", "`f31` is no type of an operation", "f31"),
            ("{ flops: n, types: { f64: m } }", "there is no `m` here", "m"),
            ("{ working_set: m }", "there is no `m` here", "m"),
            ("{ bytes: m }", "there is no `m` here", "m"),
        ] {
            let (said, at) = mistake("{ flops: 0, bytes: 8*n }", text, &[]);
            assert_eq!((&said[..], &at[..]), (message, place), "{text}");
        }
    }
}
