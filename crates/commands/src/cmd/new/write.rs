//! The text of a new suite.

use gpubench_core::gpu::{
    Access, Element, FormalArgument, Language, Scalar, Signature, Takes, ValueType,
};
use std::fmt::Write;

/// The kernel that a suite is written for.
pub struct Written<'a> {
    /// The suite's name.
    pub name: &'a str,
    /// The kernel's file as the suite names it.
    pub file: &'a str,
    /// Its language.
    pub language: Language,
    /// Constants that it is compiled with.
    pub constants: &'a [(String, i64)],
}

/// A suite with a workload for each entry point; every text that begins with `?` is a question.
pub fn suite(kernel: &Written, signatures: &[Signature]) -> String {
    let mut text = format!(
        "# A suite for {}. Every text that begins with `?` is a question: write the answer in its place;\n\
         # `gpubench check` shows what is still to answer.\n\
         version: 1\nname: {}\nworkloads:\n",
        comment(kernel.file),
        quoted(kernel.name)
    );
    for signature in signatures {
        match unsupported(&signature.arguments) {
            Some((FormalArgument { name, r#type, .. }, why)) => {
                let (entry, name, r#type) =
                    (comment(&signature.entry), comment(name), comment(r#type));
                let _ = writeln!(text, "  # {entry} takes `{name}`, {type}: {why}.");
            }
            None => text += &workload(kernel, signature),
        }
    }
    text
}

/// The first argument that a suite cannot give, and why.
fn unsupported(arguments: &[FormalArgument]) -> Option<(&FormalArgument, &'static str)> {
    let before = std::iter::once(None).chain(arguments.iter().map(Some));
    arguments.iter().zip(before).find_map(|(argument, before)| match argument.takes {
        Takes::Unsupported => Some((argument, "no suite can give it")),
        Takes::Sampler if !before.is_some_and(is_image) => {
            Some((argument, "a suite gives a sampler right behind its image only"))
        }
        _ => None,
    })
}

fn is_image(argument: &FormalArgument) -> bool {
    matches!(argument.takes, Takes::Image(_))
}

fn workload(kernel: &Written, signature: &Signature) -> String {
    let Signature { entry, group, arguments, .. } = signature;
    let language = match kernel.language {
        Language::Opencl => "opencl",
        Language::Wgsl => "wgsl",
    };
    let group = group.map_or_else(
        || ask("work-items of a group, such as [64] or [16, 16]"),
        |[x, y, z]| format!("[{x}, {y}, {z}]"),
    );
    let mut text = format!(
        "  {entry}:\n    kernel:\n      {language}: {}\n      entry: {entry}\n      group: {group}\n",
        quoted(kernel.file)
    );
    if !kernel.constants.is_empty() {
        let all: Vec<_> = kernel.constants.iter().map(|(n, x)| format!("{n}: {x}")).collect();
        let _ = writeln!(text, "      constants: {{ {} }}", all.join(", "));
    }
    let _ = writeln!(text, "      args:");
    for formal in arguments {
        if let Some(given) = argument(formal) {
            let _ = writeln!(text, "        - {given} # {}", comment(&formal.r#type));
        }
    }
    if !signature.bindings.is_empty() {
        let all: Vec<_> = signature.bindings.iter().map(|[g, b]| format!("[{g}, {b}]")).collect();
        let _ = writeln!(text, "      bindings: [{}]", all.join(", "));
    }
    text += &sizes(arguments);
    if arguments.iter().any(|argument| argument.takes == Takes::Block) {
        let question = "fields of the struct in their order, such as { n: n, s: { f32: 0.5 } }";
        let _ = writeln!(text, "    params: {}", ask(question));
    }
    let behind = arguments.iter().skip(1).map(Some).chain([None]);
    let buffers = arguments.iter().zip(behind);
    let buffers = buffers.filter_map(|(a, behind)| buffer(a).or_else(|| image(a, behind)));
    let buffers = buffers.collect::<String>();
    if !buffers.is_empty() {
        let _ = write!(text, "    buffers:\n{buffers}");
    }
    let _ = write!(
        text,
        "    grid: {}\n    work: {}\n    verify: {}\n",
        ask("work-items along each dimension, such as [n] or [n, m]"),
        ask("operations and bytes of a launch, such as { flops: 2*n^3, bytes: 12*n^2 }"),
        ask(
            "{ file: expected.npy }, { command: [python3, expected.py] }, { against: device }, or none"
        )
    );
    text
}

/// As the suite's list names it. A sampler is not listed: it comes with its image.
fn argument(FormalArgument { name, takes, .. }: &FormalArgument) -> Option<String> {
    Some(match takes {
        Takes::Sampler => return None,
        Takes::Buffer { .. } | Takes::Image(_) | Takes::Unsupported => name.clone(),
        Takes::Block => "params".into(),
        Takes::Local => {
            format!("{{ local: {} }}", ask(&format!("bytes of {name}, such as 4*GROUP_X")))
        }
        Takes::Value(r#type) if is_size(*r#type) => {
            format!("{{ {}: {name} }}", String::from(*r#type))
        }
        Takes::Value(r#type) => {
            let numbers = match r#type.width {
                1 => format!("the number {name}"),
                width => format!("{width} numbers for {name}, as a list"),
            };
            format!("{{ {}: {} }}", String::from(*r#type), ask(&numbers))
        }
    })
}

/// Whole numbers are sizes, as far as anybody can know.
fn is_size(r#type: ValueType) -> bool {
    r#type.width == 1 && !r#type.scalar.is_float()
}

fn sizes(arguments: &[FormalArgument]) -> String {
    let names = arguments.iter().filter(|a| matches!(a.takes, Takes::Value(t) if is_size(t)));
    let names: Vec<&str> = names.map(|argument| argument.name.as_str()).collect();
    if names.is_empty() {
        let question = "problem sizes by name, such as { n: [1024, 4096] }";
        return format!("    sizes: {}\n", ask(question));
    }
    let mut text = "    sizes:\n".to_owned();
    for name in names {
        let question = format!("values of {name} to measure, such as [256, 1024]");
        let _ = writeln!(text, "      {name}: {}", ask(&question));
    }
    text
}

fn buffer(FormalArgument { name, r#type, takes }: &FormalArgument) -> Option<String> {
    let Takes::Buffer { element, access } = takes else { return None };
    // A compiler names it by where it stands in a file of its own.
    let held = if r#type.contains("(unnamed") { "an unnamed struct" } else { r#type.as_str() };
    let element = element.map_or_else(
        || ask(&format!("what {held} is made of, such as f32 or u32x4")),
        |element: Element| String::from(element),
    );
    let count = ask(&format!("how many elements {name} has, such as n*n"));
    let mut text = format!("      {name}:\n        type: {element}\n        count: {count}\n");
    if *access != Some(Access::Write) {
        text += &fill(name, "{ uniform: [-1, 1] }, { constant: 0 } or index");
    }
    let access = match access {
        None => Some(ask(&format!("write, or read_write where the kernel reads {name}, too"))),
        Some(Access::ReadWrite) => Some("read_write".into()),
        Some(Access::Read | Access::Write) => None,
    };
    if let Some(access) = access {
        let _ = writeln!(text, "        access: {access}");
    }
    Some(text)
}

/// A buffer that the kernel reads as an image; the argument behind it may be its sampler.
fn image(argument: &FormalArgument, behind: Option<&FormalArgument>) -> Option<String> {
    let FormalArgument { name, takes: Takes::Image(scalar), .. } = argument else { return None };
    let such = match scalar {
        Some(scalar @ (Scalar::I32 | Scalar::U32)) => format!("{0} or {0}x4", scalar.name()),
        Some(_) => "f32x4, f16x4 or u8x4".to_owned(),
        None => "f32x4, f16x4 or u8x4 (read_imagef), i32x4 (read_imagei) or u32x4 (read_imageui)"
            .to_owned(),
    };
    let r#type = ask(&format!("what an element of {name} is, such as {such}"));
    let count = ask(&format!("how many elements {name} has, such as rows*columns"));
    let width = ask(&format!("elements of a row of {name}, such as columns"));
    let mut text = format!(
        "      {name}:\n        type: {type}\n        count: {count}\n{}        image:\n          width: {width}\n",
        fill(name, "{ uniform: [0, 1] }, or random_bits for whole numbers")
    );
    if behind.is_some_and(|behind| behind.takes == Takes::Sampler) {
        let _ = writeln!(text, "          filter: {}", ask("nearest or linear"));
    }
    Some(text)
}

fn fill(name: &str, such: &str) -> String {
    format!("        fill: {}\n", ask(&format!("contents of {name} before a launch: {such}")))
}

/// A question as a value.
fn ask(question: &str) -> String {
    format!("\"? {}\"", question.replace(['\\', '"'], "'"))
}

/// A text as YAML's value, whatever it holds.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A text within a comment: it stays on its line.
fn comment(text: &str) -> String {
    gpubench_core::text::printable(text, 80)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argument(name: &str, r#type: &str, takes: Takes) -> FormalArgument {
        FormalArgument { name: name.into(), r#type: r#type.into(), takes }
    }

    #[test]
    fn a_suite_asks_for_what_only_its_author_knows() {
        let value = |scalar, width| Takes::Value(ValueType { scalar, width });
        let buffer =
            |access| Takes::Buffer { element: Element::try_from("f32".to_owned()).ok(), access };
        let arguments = vec![
            argument("a", "float*", buffer(Some(Access::Read))),
            argument("b", "Body*", Takes::Buffer { element: None, access: None }),
            argument("n", "int", value(Scalar::I32, 1)),
            argument("s", "float2", value(Scalar::F32, 2)),
            argument("p", "Params", Takes::Block),
            argument("sums", "float*", Takes::Local),
        ];
        let whole = Signature {
            entry: "f".into(),
            group: Some([8, 8, 1]),
            arguments,
            bindings: vec![[0, 0], [1, 0]],
        };
        let takes = |entry: &str, arguments: &[FormalArgument]| Signature {
            entry: entry.into(),
            group: None,
            arguments: arguments.to_vec(),
            bindings: vec![],
        };
        let image = |scalar| argument("i", "image2d_t", Takes::Image(scalar));
        let sampler = argument("s", "sampler_t", Takes::Sampler);
        let all = [
            whole,
            takes("g", &[argument("v", "image3d_t", Takes::Unsupported)]),
            takes("h", &[image(None), sampler.clone()]),
            takes("k", &[image(Some(Scalar::U32))]),
            takes("l", &[sampler, image(None)]),
        ];
        let constants = [("TILE".to_owned(), 16)];
        let kernel = Written {
            name: "mine",
            file: "my f.cl",
            language: Language::Opencl,
            constants: &constants,
        };
        insta::assert_snapshot!(suite(&kernel, &all));
    }
}
