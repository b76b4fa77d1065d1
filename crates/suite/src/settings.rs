//! What a suite tells a kernel's compiler: definitions, allowed options, bindings.

use super::convert::{Converter, NAME_RULE, is_name};
use super::decode::{At, Entries};
use super::directive;
use super::file;
use super::suggest::suggest;
use super::types::{Argument, Kernel, KernelText, Written};
use super::values::Definition;
use gpubench_core::gpu::{Constant, OPTIONS, Settings};

/// A definition is no longer.
const MAX_DEFINITION: usize = 200;
/// No device has as many registers for a work-item.
const MAX_REGISTERS: u32 = 65_536;
/// What may stand in a definition besides letters and digits: it reaches a compiler's command line, so
/// there are no blanks, quotes or backslashes.
const MARKS: &str = "_.+-*/%()<>=!&|^~?:,";

impl Converter<'_> {
    /// The settings of a kernel; `None`: there were mistakes.
    pub fn settings(&mut self, kernel: &file::Kernel) -> Option<Settings> {
        let options = self.compiler_options(kernel.options.as_deref().unwrap_or_default());
        let defines = self.defines(kernel.defines.as_ref());
        let bindings = self.bindings(kernel.bindings.as_ref());
        Some(Settings {
            options: options?,
            defines: defines?,
            bindings: bindings?,
            registers: self.registers(kernel.registers.as_ref())?,
            ..Settings::default()
        })
    }

    /// The outer `None`: it is none.
    fn registers(&mut self, given: Option<&At<u32>>) -> Option<Option<u32>> {
        match given {
            Some(At { value, at }) if !(1..=MAX_REGISTERS).contains(value) => {
                let message =
                    format!("a work-item has 1 to {MAX_REGISTERS} registers, not {value}");
                self.diagnostics.reject(at, message, None)
            }
            _ => Some(given.map(|registers| registers.value)),
        }
    }

    fn compiler_options(&mut self, given: &[At<String>]) -> Option<Vec<String>> {
        let mut all = vec![];
        for At { value: option, at } in given {
            let known = OPTIONS.iter().any(|(known, _)| known == option);
            if !known {
                let help = suggest(option, OPTIONS.iter().map(|(known, _)| *known));
                let message = format!("`{option}` is no option that a suite may set");
                self.diagnostics.push(at, message, help.as_deref());
            }
            all.push(known.then(|| option.clone()));
        }
        all.into_iter().collect()
    }

    fn defines(
        &mut self,
        given: Option<&Entries<At<Definition>>>,
    ) -> Option<Vec<(String, String)>> {
        let mut all = vec![];
        for (name, At { value: Definition(value), at }) in
            given.map_or(&[][..], |entries| &entries.0)
        {
            let name_fits = is_name(&name.value) && !name.value.starts_with("GROUP_");
            let plain = |c: char| c.is_ascii_alphanumeric() || MARKS.contains(c);
            let value_fits = value.len() <= MAX_DEFINITION
                && value.chars().all(plain)
                && directive::beyond_its_text(value).is_none();
            if !name_fits {
                let message = format!("`{}` cannot be defined", name.value);
                self.diagnostics.push(&name.at, message, Some(NAME_RULE));
            }
            if !value_fits {
                let message = "this cannot be a definition";
                let help = format!(
                    "letters, digits and {MARKS}, without blanks, at most {MAX_DEFINITION}"
                );
                self.diagnostics.push(at, message, Some(&help));
            }
            all.push((name_fits && value_fits).then(|| (name.value.clone(), value.clone())));
        }
        all.into_iter().collect()
    }

    fn bindings(&mut self, given: Option<&At<Vec<At<Vec<u32>>>>>) -> Option<Vec<[u32; 2]>> {
        let mut all: Vec<Option<[u32; 2]>> = vec![];
        for At { value, at } in given.iter().flat_map(|given| &given.value) {
            let place = <[u32; 2]>::try_from(value.as_slice()).ok();
            let twice = place.is_some() && all.contains(&place);
            if place.is_none() || twice {
                let message = match twice {
                    true => "two arguments cannot have one binding",
                    false => "a binding is two numbers: `@group` and `@binding`",
                };
                self.diagnostics.push(
                    at,
                    message,
                    Some("for example `bindings: [[0, 0], [1, 0]]`"),
                );
            }
            all.push(place.filter(|_| !twice));
        }
        all.into_iter().collect()
    }

    /// Reports bindings that are not as many as the arguments.
    pub fn bindings_fit(&mut self, spec: &file::Workload, kernel: &Kernel, defaults: usize) {
        let given = spec.kernel.as_ref().and_then(|kernel| kernel.value.bindings.as_ref());
        let Some(At { value, at }) = given else { return };
        let filtered = |(_, buffer): &&(_, file::Buffer)| {
            buffer.image.as_ref().is_some_and(|image| image.value.filter.is_some())
        };
        let samplers = spec.buffers.iter().flat_map(|buffers| &buffers.value.0).filter(filtered);
        let arguments = kernel.args.as_ref().map_or(defaults, Vec::len) + samplers.count();
        if value.len() != arguments {
            let message = format!("{} bindings for {arguments} arguments", value.len());
            self.diagnostics.push(at, message, Some("each argument has a `[group, binding]`"));
        }
    }
}

impl Kernel {
    /// The settings of `text` in a variant with these constants.
    pub fn settings(&self, text: &KernelText, constants: &[(String, Constant)]) -> Settings {
        let places = self.args.iter().flatten().zip(&self.places);
        Settings {
            expanded: text.expanded.clone(),
            subgroup: self.subgroup.as_ref().and_then(|subgroup| subgroup.size(constants)),
            spirv: text.is_module(),
            library: match text.written {
                Written::Library(library) => Some(library),
                _ => None,
            },
            places: places.map(|(_, place): (&Argument, _)| place.to_string()).collect(),
            ..self.settings.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{mistake, workload_with};

    fn with(more: &str) -> (String, String) {
        mistake("group: [64]", &format!("group: [64], {more}"), &[])
    }

    #[test]
    fn definitions_have_plain_names_and_values() {
        let long = "1".repeat(200);
        let defines = format!(
            "group: [64], defines: {{ REAL: float, N: -3, LONG: \"{long}\", F: \"a(b)+<c>?d:e,_.\" }}"
        );
        let defines = workload_with("group: [64]", &defines).kernel.unwrap().settings.defines;
        let values: Vec<_> = defines.iter().map(|(_, value)| &value[..]).collect();
        assert_eq!(values, ["float", "-3", &long, "a(b)+<c>?d:e,_."]);
        for name in ["9A", "GROUP_X", "a-b"] {
            let (message, at) = with(&format!("defines: {{ {name}: 1 }}"));
            assert_eq!((message, &at[..]), (format!("`{name}` cannot be defined"), name));
        }
        for value in ["a b", "a\u{e9}", "a$", "asm", "__asm__(1)", "_Pragma(1)", &"1".repeat(201)] {
            assert_eq!(
                with(&format!("defines: {{ A: \"{value}\" }}")).0,
                "this cannot be a definition",
                "{value}"
            );
        }
    }

    #[test]
    fn options_are_those_that_are_allowed() {
        let kernel = workload_with("group: [64]", "group: [64], options: [-w, -cl-std=CL2.0]")
            .kernel
            .unwrap();
        assert_eq!(kernel.settings.options, ["-w", "-cl-std=CL2.0"]);
        let (message, at) = with("options: [-w, -I/]");
        assert_eq!((&message[..], &at[..]), ("`-I/` is no option that a suite may set", "-I/"));
    }

    #[test]
    fn bindings_are_kept_in_order() {
        let text = crate::testing::WGSL.replace("@group(0) @binding(2)", "@group(1) @binding(5)");
        let more = "group: [64], bindings: [[0, 0], [0, 1], [1, 5]]";
        let suite = crate::testing::load_with("group: [64]", more, &[("k.wgsl", &text)]).unwrap();
        let settings = &suite.workloads[0].kernel.as_ref().unwrap().settings;
        assert_eq!(settings.bindings, [[0, 0], [0, 1], [1, 5]]);
        assert_eq!((settings.binding(2), settings.binding(3)), ([1, 5], [0, 3]));
    }

    #[test]
    fn bindings_are_as_many_as_arguments() {
        let args = "entry: copy, args: [a, out, { u32: n }], bindings: [[0, 0], [0, 1]]";
        let (message, at) = mistake("wgsl: k.wgsl, entry: copy", args, &[]);
        assert_eq!((&message[..], &at[..]), ("2 bindings for 3 arguments", "bindings"));
    }

    #[test]
    fn a_compiler_knows_where_each_argument_stands() {
        let kernel =
            workload_with("wgsl: k.wgsl, entry: copy", "entry: copy, args: [a, out, { u32: n }]")
                .kernel
                .unwrap();
        let places = kernel.settings(&kernel.texts[0], &[]).places;
        let ends: Vec<_> = places.iter().map(|place| place.rsplit_once('/').unwrap().1).collect();
        assert_eq!(ends, ["s.yaml:5:49", "s.yaml:5:52", "s.yaml:5:57"]);
    }
}
