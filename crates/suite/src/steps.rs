//! `steps:`, a program of several kernels.

use super::Expr;
use super::convert::{Converter, NAME_RULE, Params, is_name};
use super::decode::At;
use super::file;
use super::program::{Program, ProgramKernel, Step, Swap};
use super::suggest::suggest;
use super::types::{Buffer, Kernel};
use super::verify::Against;
use std::ops::Range;

/// Steps stand at most so deep within others.
const MAX_DEPTH: usize = 8;

/// What all steps of a program share.
struct Given<'a> {
    /// The workload as the file has it.
    spec: &'a file::Workload,
    buffers: &'a [Buffer],
    params: Vec<(String, gpubench_core::gpu::Scalar)>,
}

/// The workload with the kernel of its first step as its own, where it is a program.
pub fn with_first_kernel(spec: &file::Workload) -> file::Workload {
    let first = spec.steps.as_ref().and_then(|steps| first_kernel(&steps.value));
    let Some(first) = first else { return spec.clone() };
    let mut kernel = under(first, spec);
    kernel.value.args = None;
    file::Workload { kernel: Some(kernel), ..spec.clone() }
}

fn first_kernel(steps: &[At<file::Step>]) -> Option<&At<file::Kernel>> {
    steps.iter().find_map(|At { value: step, .. }| {
        let inner = step.steps.as_ref().map(|steps| steps.value.as_slice());
        step.kernel.as_ref().or_else(|| first_kernel(inner.unwrap_or_default()))
    })
}

/// A step's kernel with what it does not say taken from the workload's.
fn under(kernel: &At<file::Kernel>, spec: &file::Workload) -> At<file::Kernel> {
    let base = spec.kernel.as_ref().map(|base| &base.value);
    let value = base.map_or_else(|| kernel.value.clone(), |base| kernel.value.over(base));
    At { value, at: kernel.at.clone() }
}

impl Converter<'_> {
    /// The program of a workload; the outer `None`: there were mistakes.
    pub fn program(
        &mut self,
        spec: &file::Workload,
        buffers: &[Buffer],
        params: &Params,
        names: &[String],
    ) -> Option<Option<Program>> {
        let Some(At { value: steps, at }) = &spec.steps else { return Some(None) };
        self.for_one_kernel(spec)?;
        let given = Given {
            spec,
            buffers,
            params: params.iter().map(|(name, _, scalar)| (name.clone(), *scalar)).collect(),
        };
        let mut program = Program::default();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        program.steps = self.steps(&given, &mut program.kernels, steps, &names, 0)?;
        if program.kernels.is_empty() {
            let help = "for example `- { kernel: { entry: scale, args: [x] }, grid: [n] }`";
            return self.diagnostics.reject(at, "no step has a kernel", Some(help));
        }
        self.unused_buffers(buffers, program.kernels.iter().map(|step| &step.kernel));
        Some(Some(program))
    }

    /// Reports what only a workload of one kernel can have.
    fn for_one_kernel(&mut self, spec: &file::Workload) -> Option<()> {
        let others = [
            ("search", spec.search.as_ref().map(|key| &key.at)),
            ("passes", spec.passes.as_ref().map(|key| &key.at)),
            ("divide", spec.divide.as_ref().map(|key| &key.at)),
            ("grid", spec.grid.as_ref().map(|key| &key.at)),
        ];
        if let Some((name, Some(at))) = others.into_iter().find(|(_, at)| at.is_some()) {
            let message =
                format!("`{name}` is for a workload of one kernel, and this one has `steps`");
            return self.diagnostics.reject(at, message, None);
        }
        match spec.verify.as_ref().map(|At { value, at }| (&value.against, at)) {
            Some((Against::Reference(_) | Against::Emulator, at)) => {
                let message = "a program is verified by a `file`, a `command` or another device";
                self.diagnostics.reject(at, message, None)
            }
            _ => Some(()),
        }
    }

    fn steps(
        &mut self,
        given: &Given,
        kernels: &mut Vec<ProgramKernel>,
        steps: &[At<file::Step>],
        names: &[&str],
        depth: usize,
    ) -> Option<Vec<Step>> {
        let mut all = vec![];
        for At { value: step, at } in steps {
            if depth > MAX_DEPTH {
                let message = format!("steps stand at most {MAX_DEPTH} deep within others");
                return self.diagnostics.reject(at, message, None);
            }
            all.push(match (&step.kernel, &step.repeat, &step.swap) {
                (Some(kernel), None, None) if step.steps.is_none() && step.index.is_none() => {
                    self.launch_step(given, kernels, kernel, step, names)
                }
                (None, Some(_), None) if step.grid.is_none() => {
                    self.repeat_step(given, kernels, step, at, names, depth)
                }
                (None, None, Some(swap))
                    if step.grid.is_none() && step.steps.is_none() && step.index.is_none() =>
                {
                    self.swap_step(swap, given.buffers).map(Step::Swap)
                }
                _ => {
                    let message = "a step is a `kernel` with its `grid`, a `repeat` with its `steps`, \
                                   or a `swap`";
                    self.diagnostics.reject(at, message, None)
                }
            });
        }
        all.into_iter().collect()
    }

    fn launch_step(
        &mut self,
        given: &Given,
        kernels: &mut Vec<ProgramKernel>,
        kernel: &At<file::Kernel>,
        step: &file::Step,
        names: &[&str],
    ) -> Option<Step> {
        let own = under(kernel, given.spec);
        let spec = file::Workload {
            kernel: Some(own.clone()),
            grid: step.grid.clone(),
            steps: None,
            ..given.spec.clone()
        };
        let mut converted: Kernel = self.kernel(&spec)??;
        let constants = converted.constants.iter().map(|(name, _)| name.clone());
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let names: Vec<String> = constants.chain(names).collect();
        let args = self.args(own.value.args.as_ref(), given.buffers, &names);
        let grid = self.grid(&spec, &names);
        converted.args = args?;
        converted.places = self.places(own.value.args.as_ref());
        self.fit(&spec, &converted, given.buffers, &given.params);
        let place = self.diagnostics.place(&own.at);
        kernels.push(ProgramKernel { kernel: converted, grid: grid?, place });
        Some(Step::Launch(kernels.len() - 1))
    }

    fn repeat_step(
        &mut self,
        given: &Given,
        kernels: &mut Vec<ProgramKernel>,
        step: &file::Step,
        at: &Range<usize>,
        names: &[&str],
        depth: usize,
    ) -> Option<Step> {
        let At { value: count, at: count_at } = step.repeat.as_ref()?;
        self.names(
            count,
            names,
            "a number of repetitions is made of sizes, parameters and constants",
        )?;
        let mut inner = names.to_vec();
        if let Some(At { value: index, at }) = &step.index {
            if !is_name(index) || names.contains(&index.as_str()) {
                let message = format!("`{index}` cannot name what counts the repetitions");
                let help = format!("a name that nothing else has; {NAME_RULE}");
                return self.diagnostics.reject(at, message, Some(&help));
            }
            inner.push(index);
        }
        let Some(At { value: steps, .. }) = &step.steps else {
            return self.diagnostics.reject(at, "there are no `steps` to repeat", None);
        };
        Some(Step::Repeat {
            count: count.expr.clone(),
            index: step.index.as_ref().map(|index| index.value.clone()),
            place: self.diagnostics.place(count_at),
            steps: self.steps(given, kernels, steps, &inner, depth + 1)?,
        })
    }

    /// Two buffers that change places: each must be able to stand for the other.
    fn swap_step(&mut self, swap: &At<Vec<At<String>>>, buffers: &[Buffer]) -> Option<Swap> {
        let At { value: named, at } = swap;
        let [first, second] = named.as_slice() else {
            let message = format!("a swap names two buffers, not {}", named.len());
            return self.diagnostics.reject(at, message, None);
        };
        let mut position = |name: &At<String>| {
            let known = buffers.iter().map(|buffer| buffer.name.as_str());
            let found = known.clone().position(|buffer| buffer == name.value);
            if found.is_none() {
                let message = format!("there is no buffer `{}` here", name.value);
                self.diagnostics.push(&name.at, message, suggest(&name.value, known).as_deref());
            }
            found
        };
        let (first, second) = (position(first)?, position(second)?);
        let kind = |i: usize| {
            let Buffer { element, count, access, .. } = &buffers[i];
            (*element, Expr::to_string(count), *access)
        };
        if first == second || kind(first) != kind(second) {
            let message = "two buffers that change places have one type, `count` and `access`";
            return self.diagnostics.reject(at, message, None);
        }
        Some([first, second])
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{SUITE, load_with, mistake, workload_with};
    use crate::{Step, Workload};

    /// The suite as a program of these steps.
    fn suite(steps: &str) -> String {
        let suite = SUITE.replace(
            "{ opencl: k.cl, wgsl: k.wgsl, entry: copy, group: [64] }",
            "{ opencl: k.cl, entry: copy, group: [64] }",
        );
        let suite = suite.replace(
            "{ type: f32, count: n }",
            "{ type: f32, count: n, fill: index, access: read_write }",
        );
        let suite = suite.replace("fill: random_bits }", "fill: index, access: read_write }");
        suite
            .replace("{ reference: copy }", "none")
            .replace("    grid: [n]\n", &format!("    steps: {steps}\n"))
    }

    fn program(steps: &str) -> Workload {
        workload_with(SUITE, &suite(steps))
    }

    fn wrong(steps: &str) -> (String, String) {
        mistake(SUITE, &suite(steps), &[])
    }

    const LAUNCH: &str = "{ kernel: { entry: copy, args: [a, out, params] }, grid: [n] }";

    #[test]
    fn steps_are_launches_repetitions_and_swaps() {
        let program = program(&format!(
            "[{LAUNCH}, {{ repeat: 2*n, index: i, steps: [{{ swap: [out, a] }}] }}]"
        ));
        assert_eq!(program.kernel.unwrap().entry, "copy");
        let program = program.program.unwrap();
        let [Step::Launch(0), Step::Repeat { count, index, place, steps }] = &program.steps[..]
        else {
            panic!("{:?}", program.steps)
        };
        assert_eq!((count.to_string(), index.as_deref()), ("2*n".to_owned(), Some("i")));
        assert_eq!(&place.text[place.offset..place.offset + place.len], "2*n");
        assert!(matches!(steps[..], [Step::Swap([1, 0])]), "{steps:?}");
        assert_eq!(program.kernels[0].kernel.args.as_ref().map(Vec::len), Some(3));
        assert_eq!(program.kernels[0].kernel.places.len(), 3);
    }

    #[test]
    fn repetitions_stand_eight_deep_and_no_deeper() {
        let deep = |n: usize| {
            format!("[{}{LAUNCH}{}]", "{ repeat: 1, steps: [".repeat(n), "] }".repeat(n))
        };
        assert!(program(&deep(8)).program.is_some());
        let (message, _) = wrong(&deep(9));
        assert_eq!(message, "steps stand at most 8 deep within others");
    }

    #[test]
    fn a_step_is_one_of_three_and_nothing_of_another() {
        for step in [
            "{ kernel: { entry: copy }, grid: [n], steps: [] }",
            "{ kernel: { entry: copy }, grid: [n], index: i }",
            "{ kernel: { entry: copy }, grid: [n], repeat: 2 }",
            "{ repeat: 2, steps: [], grid: [n] }",
            "{ repeat: 2, steps: [], swap: [a, out] }",
            "{ swap: [a, out], steps: [] }",
            "{}",
        ] {
            let (message, _) = wrong(&format!("[{LAUNCH}, {step}]"));
            assert!(
                message.starts_with("a step is a `kernel` with its `grid`"),
                "{step}: {message}"
            );
        }
    }

    #[test]
    fn mistakes_of_steps_are_said() {
        for (steps, message, at) in [
            ("[{ repeat: n }]", "there are no `steps` to repeat", "{"),
            ("[{ swap: [a, out] }]", "no step has a kernel", "steps"),
            ("[{ swap: [a, b] }]", "there is no buffer `b` here", "b"),
            ("[{ swap: [a] }]", "a swap names two buffers, not 1", "swap"),
            (
                "[{ swap: [a, a] }]",
                "two buffers that change places have one type, `count` and `access`",
                "swap",
            ),
            ("[{ swap: [a, a, out] }]", "a swap names two buffers, not 3", "swap"),
            ("[{ repeat: m, steps: [] }]", "there is no `m` here", "m"),
            (
                "[{ repeat: 1, index: 9i, steps: [] }]",
                "`9i` cannot name what counts the repetitions",
                "9i",
            ),
            (
                "[{ repeat: 1, index: n, steps: [] }]",
                "`n` cannot name what counts the repetitions",
                "n",
            ),
        ] {
            let (said, place) = wrong(steps);
            assert_eq!((&said[..], &place[..]), (message, at), "{steps}");
        }
    }

    #[test]
    fn an_index_is_known_within_its_repetition() {
        let step = LAUNCH.replace("grid: [n]", "grid: [n + i]");
        assert!(
            program(&format!("[{{ repeat: 2, index: i, steps: [{step}] }}]")).program.is_some()
        );
        let (message, at) =
            wrong(&format!("[{{ repeat: 2, index: i, steps: [{LAUNCH}] }}, {step}]"));
        assert_eq!((&message[..], &at[..]), ("there is no `i` here", "i"));
        let twice = format!(
            "[{{ repeat: 2, index: i, steps: [{{ repeat: 2, index: i, steps: [{LAUNCH}] }}] }}]"
        );
        assert!(wrong(&twice).0.contains("`i` cannot name"));
    }

    #[test]
    fn what_is_for_one_kernel_is_for_no_program() {
        let with = |more: &str| suite(&format!("[{LAUNCH}]\n    {more}"));
        for (more, name) in [
            ("search: { group: [[64]] }", "search"),
            ("passes: 2", "passes"),
            ("divide: n", "divide"),
            ("grid: [n]", "grid"),
        ] {
            let found = load_with(SUITE, &with(more), &[]).map(|_| ()).unwrap_err();
            let message =
                format!("`{name}` is for a workload of one kernel, and this one has `steps`");
            assert!(found.iter().any(|one| one.message == message), "{found:?}");
        }
        for verify in ["{ reference: copy }", "{ against: emulator }"] {
            let found =
                load_with(SUITE, &with("").replace("none", verify), &[]).map(|_| ()).unwrap_err();
            assert!(
                found.iter().any(|one| one.message.starts_with("a program is verified by")),
                "{found:?}"
            );
        }
        assert!(load_with(SUITE, &with("").replace("none", "{ against: device }"), &[]).is_ok());
    }

    #[test]
    fn buffers_that_change_places_are_alike() {
        let with = |from: &str, to: &str| {
            let suite = suite(&format!("[{LAUNCH}, {{ swap: [a, out] }}]"));
            assert!(suite.contains(from), "{from}");
            load_with(SUITE, &suite.replacen(from, to, 1), &[])
                .map(|_| ())
                .map_err(|found| found[0].message.clone())
        };
        assert_eq!(with("a: { type", "a: { type"), Ok(()));
        for (from, to) in [
            ("a: { type: f32", "a: { type: u32"),
            ("a: { type: f32, count: n", "a: { type: f32, count: 2*n"),
            ("fill: index, access: read_write", "fill: index, access: read"),
        ] {
            assert!(with(from, to).unwrap_err().contains("one type, `count` and `access`"), "{to}");
        }
    }
}
