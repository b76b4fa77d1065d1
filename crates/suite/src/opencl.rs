//! Does an OpenCL kernel fit the workload that names it? Only a compiler knows OpenCL C; here
//! its declaration is read, and where macros hide that, nothing is said.

use super::fit::{About, Misfit};
use super::suggest::suggest;
use gpubench_core::gpu::{Access, KernelSource};
use gpubench_core::text::counted;

/// Every way in which the kernel's arguments do not fit its bindings and parameter block.
pub fn misfits(source: &KernelSource) -> Vec<Misfit> {
    let text = without_comments(&source.text);
    let kernels = kernels(&text);
    let Some((_, arguments)) = kernels.iter().find(|(name, _)| *name == source.entry) else {
        if words(&text).any(|word| word == source.entry) {
            return vec![];
        }
        let message = format!("{} has no kernel `{}`", source.origin.file(), source.entry);
        let help = suggest(&source.entry, kernels.iter().map(|(name, _)| *name));
        return vec![Misfit::new(About::Entry, message, help)];
    };
    let arguments = split(arguments);
    // A lone word is a macro, which may stand for any number of arguments.
    if arguments.iter().any(|argument| words(argument).count() < 2) {
        return vec![];
    }
    let params = usize::from(source.params_bytes > 0);
    let wanted = source.bindings.len() + params;
    if arguments.len() != wanted {
        let message = format!(
            "there are {} here, but `{}` takes {} in {}",
            taken(source.bindings.len(), params),
            source.entry,
            match arguments.len() {
                1 => "1 argument".to_owned(),
                n => format!("{n} arguments"),
            },
            source.origin.file()
        );
        let help = "one argument a buffer, then the parameters as one struct by value";
        return vec![Misfit::new(About::Buffers, message, Some(help.to_owned()))];
    }
    (0..source.bindings.len()).filter_map(|i| pointer(source, i, arguments[i])).collect()
}

fn taken(buffers: usize, params: usize) -> String {
    let buffers = counted(buffers, "buffer");
    if params == 0 { buffers } else { format!("{buffers} and parameters") }
}

fn pointer(source: &KernelSource, i: usize, argument: &str) -> Option<Misfit> {
    let buffer = &source.bindings[i];
    let place = format!("argument {i} of `{}` in {}", source.entry, source.origin.file());
    let has = |word| words(argument).any(|w| w == word);
    let pointed = argument.split('*').next().unwrap_or_default();
    let constant = has("constant") || has("__constant") || words(pointed).any(|w| w == "const");
    let message = if !(has("global") || has("__global") || has("constant") || has("__constant")) {
        format!("buffer `{}` meets something else: {place} is no global pointer", buffer.name)
    } else if constant && buffer.access != Access::Read {
        format!("buffer `{}` is written here, but {place} is constant", buffer.name)
    } else {
        return None;
    };
    Some(Misfit::new(About::Buffer(i), message, None))
}

/// Names and argument lists of all functions that are declared as kernels.
fn kernels(text: &str) -> Vec<(&str, &str)> {
    let mut found = vec![];
    let mut rest = text;
    while let Some(at) = find_word(rest, &["kernel", "__kernel"]) {
        rest = &rest[at..];
        rest = &rest[word_len(rest)..];
        if let Some(declared) = declaration(rest) {
            found.push(declared);
        }
    }
    found
}

/// The longest declaration that is read.
const MAX_DECLARATION: usize = 4096;

/// The name and arguments behind the word `kernel`, past attributes in double parentheses.
fn declaration(text: &str) -> Option<(&str, &str)> {
    let mut text = &text[..text.floor_char_boundary(MAX_DECLARATION)];
    loop {
        let open = text.find(['(', ';', '{'])?;
        if !text[open..].starts_with('(') {
            return None;
        }
        let close = open + closing(&text[open..])?;
        let name = text[..open].trim_end();
        let start = name.rfind(|c: char| !is_word(c)).map_or(0, |at| at + 1);
        let name = &name[start..];
        if name != "__attribute__" && !name.is_empty() {
            return Some((name, &text[open + 1..close]));
        }
        text = &text[close + 1..];
    }
}

/// Where the parenthesis closes with which `text` begins.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Arguments between the commas that no parentheses enclose.
fn split(arguments: &str) -> Vec<&str> {
    if matches!(arguments.trim(), "" | "void") {
        return vec![];
    }
    let mut depth = 0;
    let comma = |c: char| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        c == ',' && depth == 0
    };
    arguments.split(comma).collect()
}

fn find_word(text: &str, wanted: &[&str]) -> Option<usize> {
    let mut at = 0;
    for piece in text.split_inclusive(|c: char| !is_word(c)) {
        if wanted.contains(&piece.trim_end_matches(|c: char| !is_word(c))) {
            return Some(at);
        }
        at += piece.len();
    }
    None
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_word(c)).filter(|word| !word.is_empty())
}

fn word_len(text: &str) -> usize {
    text.find(|c: char| !is_word(c)).unwrap_or(text.len())
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The text with a blank for every comment, in one pass.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        let (before, comment) = rest.split_at(at);
        out += before;
        let end = if let Some(inside) = comment.strip_prefix("/*") {
            inside.find("*/").map(|end| end + 4)
        } else if comment.starts_with("//") {
            comment.find('\n')
        } else {
            out.push('/');
            rest = &comment[1..];
            continue;
        };
        out.push(' ');
        rest = &comment[end.unwrap_or(comment.len())..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::{Binding, Element, Language, Origin, Scalar};

    fn rendered(text: &str, access: &[Access], params: u32) -> Vec<String> {
        let binding = |access: &Access| Binding {
            name: "b".into(),
            element: Element::scalar(Scalar::F32),
            access: *access,
        };
        let source = KernelSource {
            language: Language::Opencl,
            text: text.into(),
            entry: "f".into(),
            origin: Origin::User("f.cl".into()),
            group: [1; 3],
            constants: vec![],
            bindings: access.iter().map(binding).collect(),
            params_bytes: 4 * params,
            meaning: None,
        };
        misfits(&source).into_iter().map(|misfit| misfit.message).collect()
    }

    #[test]
    fn declarations_that_fit() {
        for text in [
            "kernel void f(global const float* a, global float *b, const P p) {}",
            "__kernel void f(__global float const * restrict a, __global float* b, P p);",
            "__attribute__((reqd_work_group_size(8, 8, 1))) kernel void f(constant float* a, global float* b, P p) {}",
            "kernel __attribute__((vec_type_hint(float4)))\nvoid f(global float* a,\n global float* b, P p)",
            "// kernel void f(int);\n/* kernel void f() */ kernel void f(global int* a /* in, */, global int* b, P p)",
            "kernel void other(int x) {}\nkernel void f(global float* a, global float* b, P p) {}",
        ] {
            assert_eq!(
                rendered(text, &[Access::Read, Access::Write], 1),
                Vec::<String>::new(),
                "{text}"
            );
        }
        assert_eq!(rendered("kernel void f(void) {}", &[], 0), Vec::<String>::new());
    }

    #[test]
    fn comments_become_blanks() {
        for (text, without) in [
            ("a / b /* c */ d // e\nf", "a / b   d  \nf"),
            ("/*/ a */b", " b"),
            ("a /* b", "a  "),
            ("a // b", "a  "),
            ("//*\n/", " \n/"),
        ] {
            assert_eq!(without_comments(text), without, "{text}");
        }
    }

    /// Each of these took seconds when every comment and every declaration was looked for in all
    /// of the rest.
    #[test]
    fn long_texts_are_read_once() {
        for piece in ["kernel(", "// é\n", "/*", "/", "kernel void é("] {
            let text = format!("{}kernel void f(global float* a) {{}}", piece.repeat(150_000));
            let found = rendered(&text, &[Access::Read], 0);
            assert!(found.len() <= 1, "{found:?}");
        }
    }

    #[test]
    fn macros_are_left_to_the_compiler() {
        for text in
            ["DEFINE_KERNEL(f)", "kernel void f(ARGUMENTS) {}", "kernel f(A, global float* b"]
        {
            assert_eq!(rendered(text, &[Access::Read], 0), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn misfits_are_reported() {
        let read = [Access::Read];
        for (text, access, word) in [
            ("kernel void g(global float* a) {}", &read, "no kernel `f`"),
            ("kernel void f(global float* a, int n) {}", &read, "takes 2 arguments"),
            ("kernel void f(float a) {}", &read, "no global pointer"),
            ("kernel void f(global const float* a) {}", &[Access::Write], "is constant"),
        ] {
            let found = rendered(text, access, 0);
            assert!(found.len() == 1 && found[0].contains(word), "{text}: {found:?}");
        }
    }
}
