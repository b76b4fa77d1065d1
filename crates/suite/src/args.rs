//! `args:`, a kernel's arguments in its own order.

use super::convert::Converter;
use super::decode::{At, Decode, Diagnostics};
use super::file;
use super::sizes::shown;
use super::suggest::suggest;
use super::types::{Argument, Buffer, Kernel, Place};
use super::values::Expression;
use super::{Expr, Scope};
use gpubench_core::gpu::{self, ValueType};
use gpubench_core::units::quoted;
use gpubench_core::workload::Size;
use gpubench_core::yaml::{Node, Value};

/// What stands for the parameter block.
const PARAMS: &str = "params";
/// What stands before a number of bytes of local memory.
const LOCAL: &str = "local";

/// An argument as the file has it.
#[derive(Clone, Debug)]
pub enum Spec {
    /// A buffer by name, or the parameter block.
    Name(String),
    /// A scalar or a vector.
    Value(ValueType, Vec<Expression>),
    /// Bytes of local memory.
    Local(Expression),
}

impl Decode for Spec {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let entries = match &node.value {
            Value::Text(name) => return Some(Self::Name(name.clone())),
            Value::Map(entries) => entries.as_slice(),
            _ => &[],
        };
        let [(key, inner)] = entries else {
            let wanted = "a buffer's name, `params`, or a map with one type: `{ i32: n }`";
            return diagnostics.unexpected(node, wanted);
        };
        if key.name == LOCAL {
            return Expression::decode(inner, diagnostics).map(Self::Local);
        }
        let r#type = ValueType::try_from(key.name.clone());
        let r#type = r#type.map_err(|why| diagnostics.push(&key.at, why, None)).ok()?;
        let components = match inner.value {
            Value::List(_) => Vec::decode(inner, diagnostics)?,
            _ => vec![Expression::decode(inner, diagnostics)?],
        };
        if components.len() != usize::from(r#type.width) {
            let (type_name, wanted) = (&key.name, r#type.width);
            let message = format!("`{type_name}` takes {wanted} numbers, not {}", components.len());
            return diagnostics.reject(&inner.at, message, None);
        }
        Some(Self::Value(r#type, components))
    }
}

impl Converter<'_> {
    /// The arguments of a kernel; the outer `None`: there was an error.
    pub fn args(
        &mut self,
        given: Option<&At<Vec<At<Spec>>>>,
        buffers: &[Buffer],
        names: &[String],
    ) -> Option<Option<Vec<Argument>>> {
        let Some(At { value: given, .. }) = given else { return Some(None) };
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let args: Vec<_> = given.iter().map(|arg| self.arg(arg, buffers, &names)).collect();
        args.into_iter().collect::<Option<Vec<_>>>().map(Some)
    }

    /// Gives a workload's only kernel its arguments. `None`: there were mistakes, or it is none.
    pub fn give_args(
        &mut self,
        spec: &file::Workload,
        kernel: Option<&mut Option<Kernel>>,
        buffers: Option<&Vec<Buffer>>,
        names: Option<&Vec<String>>,
    ) -> Option<()> {
        if spec.steps.is_some() {
            // Each of a program's kernels has its own.
            return None;
        }
        let (Some(kernel), Some(At { value, .. })) = (kernel?, &spec.kernel) else {
            return Some(());
        };
        kernel.args = self.args(value.args.as_ref(), buffers?, names?)?;
        kernel.places = self.places(value.args.as_ref());
        self.unused_buffers(buffers?, std::iter::once(&*kernel));
        Some(())
    }

    /// Where each of them stands.
    pub fn places(&self, given: Option<&At<Vec<At<Spec>>>>) -> Vec<Place> {
        let given = given.iter().flat_map(|given| &given.value);
        given.map(|At { at, .. }| self.diagnostics.place(at)).collect()
    }

    fn arg(
        &mut self,
        At { value, at }: &At<Spec>,
        buffers: &[Buffer],
        names: &[&str],
    ) -> Option<Argument> {
        const RULE: &str = "an argument is made of sizes, parameters and constants";
        match value {
            Spec::Name(name) => {
                if let Some(i) = buffers.iter().position(|buffer| buffer.name == *name) {
                    return Some(Argument::Buffer(i));
                }
                if name == PARAMS {
                    return Some(Argument::Params);
                }
                let known = buffers.iter().map(|buffer| buffer.name.as_str());
                let help = match names.contains(&name.as_str()) {
                    true => Some(format!("a number has its type before it: `{{ i32: {name} }}`")),
                    false => suggest(name, known),
                };
                let message = format!("there is no buffer `{name}` here");
                self.diagnostics.reject(at, message, help.as_deref())
            }
            Spec::Value(r#type, components) => {
                let known = components.iter().map(|x| self.names(x, names, RULE));
                known.collect::<Vec<_>>().into_iter().collect::<Option<Vec<()>>>()?;
                let components = components.iter().map(|x| x.expr.clone()).collect();
                Some(Argument::Value(*r#type, components))
            }
            Spec::Local(bytes) => {
                self.names(bytes, names, RULE)?;
                Some(Argument::Local(bytes.expr.clone()))
            }
        }
    }

    /// Reports every buffer that is among no kernel's arguments, though there is a list of them.
    pub fn unused_buffers<'k>(
        &mut self,
        buffers: &[Buffer],
        kernels: impl Iterator<Item = &'k Kernel> + Clone,
    ) {
        let takes = |kernel: &Kernel, i: usize| {
            kernel.args.as_ref().is_none_or(|args| args.contains(&Argument::Buffer(i)))
        };
        for (i, buffer) in buffers.iter().enumerate() {
            if !kernels.clone().any(|kernel| takes(kernel, i)) {
                let message = format!("buffer `{}` is not among the kernel's `args`", buffer.name);
                self.diagnostics.add(buffer.place.diagnostic(message, None));
            }
        }
    }

    /// Reports arguments that have no sensible value at a size.
    pub fn args_at_size(
        &mut self,
        given: Option<&At<Vec<At<Spec>>>>,
        kernel: &Kernel,
        size: &Size,
        scope: &Scope,
    ) {
        let places = given.iter().flat_map(|given| &given.value);
        for (At { at, .. }, arg) in places.zip(kernel.args.iter().flatten()) {
            if let Err(why) = arg.values(scope) {
                self.diagnostics.push(at, format!("argument at {}: {why}", shown(size)), None);
            }
        }
    }
}

impl Argument {
    /// Its numbers, each of which its type holds.
    ///
    /// # Errors
    /// What is wrong with one.
    pub fn values(&self, scope: &Scope) -> Result<Vec<f64>, String> {
        let (r#type, components) = match self {
            Self::Value(r#type, components) => (r#type, components),
            Self::Local(bytes) => return local_bytes(bytes, scope).map(|_| vec![]),
            Self::Buffer(_) | Self::Params => return Ok(vec![]),
        };
        let component = |expr: &Expr| {
            let value = expr.eval(scope)?;
            let name = String::from(*r#type);
            let wrong = || format!("`{expr}` is {}, which `{name}` does not hold", quoted(value));
            if r#type.holds(value) { Ok(value) } else { Err(wrong()) }
        };
        components.iter().map(component).collect()
    }
}

fn local_bytes(bytes: &Expr, scope: &Scope) -> Result<u32, String> {
    match bytes.count(scope)? {
        0 => Err(format!("`{bytes}` is 0, and local memory is at least a byte")),
        count => u32::try_from(count).map_err(|_| format!("{count} bytes of local memory")),
    }
}

/// A kernel's arguments as devices are given them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lowered {
    /// The list; `None`: that of a kernel without `args`.
    pub args: Option<Vec<gpu::Argument>>,
    /// What lies behind the parameter block in a launch's parameters.
    pub values: Vec<u8>,
}

impl Kernel {
    /// The arguments behind a parameter block of `block` bytes, where there is a list of them; local
    /// memory has no bytes yet.
    pub fn placed(&self, block: u32) -> Option<Vec<gpu::Argument>> {
        let args = self.args.as_ref()?;
        let types = self.values().map(|(r#type, _)| r#type);
        let mut offsets = gpu::offsets(block, types).0.into_iter();
        let place = |arg: &Argument| match arg {
            Argument::Buffer(i) => gpu::Argument::Buffer(*i as u32),
            Argument::Params => gpu::Argument::Block(block),
            Argument::Local(_) => gpu::Argument::Local(0),
            Argument::Value(r#type, _) => {
                gpu::Argument::Value { offset: offsets.next().unwrap_or(block), r#type: *r#type }
            }
        };
        Some(args.iter().map(place).collect())
    }

    /// Types and components of the values among its arguments.
    pub fn values(&self) -> impl Iterator<Item = (ValueType, Vec<Expr>)> {
        self.args.iter().flatten().filter_map(|arg| match arg {
            Argument::Value(r#type, components) => Some((*r#type, components.clone())),
            _ => None,
        })
    }

    /// The arguments with the values of `scope`.
    ///
    /// # Errors
    /// An argument without a sensible value.
    pub fn lowered(&self, block: u32, scope: &Scope) -> Result<Lowered, String> {
        let mut placed = self.placed(block);
        let mut values = vec![];
        for (arg, place) in self.args.iter().flatten().zip(placed.iter_mut().flatten()) {
            match (arg, place) {
                (Argument::Local(bytes), gpu::Argument::Local(place)) => {
                    *place = local_bytes(bytes, scope)?;
                }
                (Argument::Value(r#type, _), _) => values.push((*r#type, arg.values(scope)?)),
                _ => {}
            }
        }
        Ok(Lowered { args: placed, values: gpu::packed(block, &values) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{SUITE, decoded, mistake, no_mistakes, workload_with, wrong};
    use gpubench_core::gpu::Scalar;

    fn value_type(name: &str) -> ValueType {
        ValueType::try_from(name.to_owned()).unwrap()
    }

    /// The kernel in OpenCL C with these arguments.
    fn kernel(args: &str) -> Kernel {
        workload_with("wgsl: k.wgsl, entry: copy", &format!("entry: copy, args: {args}"))
            .kernel
            .unwrap()
    }

    #[test]
    fn an_argument_is_a_name_a_number_or_local_memory() {
        assert!(matches!(decoded("out"), Ok(Spec::Name(name)) if name == "out"));
        assert!(matches!(decoded("{ local: 4*n }"), Ok(Spec::Local(_))));
        assert!(
            matches!(decoded("{ i32: n }"), Ok(Spec::Value(r#type, all)) if r#type == value_type("i32") && all.len() == 1)
        );
        assert!(
            matches!(decoded("{ f32x3: [1, n, 2] }"), Ok(Spec::Value(r#type, all)) if r#type.width == 3 && all.len() == 3)
        );
        for (text, message) in [
            ("{ f32x3: [1, 2] }", "`f32x3` takes 3 numbers, not 2"),
            ("{ f32: [1, 2] }", "`f32` takes 1 numbers, not 2"),
        ] {
            assert_eq!(wrong::<Spec>(text).0, message);
        }
        for text in ["7", "{}", "{ i32: 1, u32: 2 }", "[a]"] {
            assert!(
                wrong::<Spec>(text).0.starts_with("expected a buffer's name, `params`"),
                "{text}"
            );
        }
    }

    #[test]
    fn arguments_lie_behind_the_parameter_block_each_at_a_multiple_of_its_size() {
        let kernel = kernel("[{ u8: 7 }, out, params, { f64x2: [n, -0.5] }, a, { local: 4*n }]");
        let (byte, pair) = (value_type("u8"), value_type("f64x2"));
        let wanted = |local| {
            vec![
                gpu::Argument::Value { offset: 4, r#type: byte },
                gpu::Argument::Buffer(1),
                gpu::Argument::Block(4),
                gpu::Argument::Value { offset: 16, r#type: pair },
                gpu::Argument::Buffer(0),
                gpu::Argument::Local(local),
            ]
        };
        assert_eq!(kernel.placed(4), Some(wanted(0)));
        let values: Vec<_> = kernel.values().map(|(r#type, all)| (r#type, all.len())).collect();
        assert_eq!(values, [(byte, 1), (pair, 2)]);
        let lowered = kernel.lowered(4, &[("n".to_owned(), 64.0)]).unwrap();
        assert_eq!(lowered.args, Some(wanted(256)));
        let mut bytes = vec![7];
        bytes.resize(12, 0);
        bytes.extend([64f64, -0.5].iter().flat_map(|x| x.to_ne_bytes()));
        assert_eq!(lowered.values, bytes);
        assert!(kernel.lowered(4, &[]).unwrap_err().contains("`n`"));
        let plain = workload_with("one", "other").kernel.unwrap();
        assert_eq!((plain.placed(4), plain.lowered(4, &[])), (None, Ok(Lowered::default())));
    }

    #[test]
    fn a_number_fits_its_type_and_local_memory_is_at_least_a_byte() {
        let at = |n: f64| [("n".to_owned(), n)];
        let value = Argument::Value(value_type("u8"), vec![Expr::name("n")]);
        assert_eq!(
            (value.values(&at(255.0)), value.values(&at(0.0))),
            (Ok(vec![255.0]), Ok(vec![0.0]))
        );
        assert_eq!(value.values(&at(256.0)).unwrap_err(), "`n` is 256, which `u8` does not hold");
        let local = Argument::Local(Expr::name("n"));
        assert_eq!(local.values(&at(1.0)), Ok(vec![]));
        assert_eq!(
            local.values(&at(0.0)).unwrap_err(),
            "`n` is 0, and local memory is at least a byte"
        );
        assert_eq!(
            local.values(&at(4_294_967_296.0)).unwrap_err(),
            "4294967296 bytes of local memory"
        );
        assert_eq!(local_bytes(&Expr::name("n"), &at(4_294_967_295.0)), Ok(u32::MAX));
        assert_eq!(
            (Argument::Params.values(&[]), Argument::Buffer(0).values(&[])),
            (Ok(vec![]), Ok(vec![]))
        );
    }

    #[test]
    fn names_of_arguments_are_buffers_first() {
        assert_eq!(
            kernel("[out, params, a]").args.unwrap(),
            [Argument::Buffer(1), Argument::Params, Argument::Buffer(0)]
        );
        let suite = SUITE.replace("wgsl: k.wgsl, entry: copy", "entry: copy, args: [a, params]");
        let named = suite.replace("out: { type", "params: { type");
        assert_eq!(
            workload_with(SUITE, &named).kernel.unwrap().args.unwrap()[1],
            Argument::Buffer(1)
        );
        let with = |args: &str| {
            mistake(
                SUITE,
                &SUITE.replace("wgsl: k.wgsl, entry: copy", &format!("entry: copy, args: {args}")),
                &[],
            )
        };
        for (args, message, at) in [
            ("[a, out, b]", "there is no buffer `b` here", "b"),
            ("[a, out, { i32: m }]", "there is no `m` here", "m"),
            ("[a, out, { local: m }]", "there is no `m` here", "m"),
            ("[a, { i32: n }]", "buffer `out` is not among the kernel's `args`", "out"),
            (
                "[a, out, { u8: 2*n }]",
                "argument at n=128: `2*n` is 256, which `u8` does not hold",
                "{",
            ),
        ] {
            let (said, place) = with(args);
            assert_eq!((&said[..], &place[..]), (message, at), "{args}");
        }
        assert_eq!(Scalar::U8.size(), 1);
        assert!(no_mistakes("").into_found().is_empty());
    }
}
