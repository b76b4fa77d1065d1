//! WGSL that is too deep for what reads it: naga, and the drivers behind it, go down a chain of operators or of
//! `else` by calling themselves, and a stack that is used up ends the whole process.

use super::misfit::{About, Misfit};
use std::ops::Range;

/// No honest statement has so many operators one behind the other, nor an honest kernel so many `else` or
/// declarations.
const LONGEST: usize = 1000;
/// What naga ends a line at.
const LINE_ENDS: [char; 7] =
    ['\n', '\u{000b}', '\u{000c}', '\r', '\u{0085}', '\u{2028}', '\u{2029}'];
/// What begins a declaration: naga orders them by going down from each to those that it uses.
const DECLARATIONS: [&str; 6] = ["fn", "const", "alias", "struct", "var", "override"];

/// No honest kernel has so many brackets in one another. Reading GLSL, naga needs more of the stack for each than
/// reading WGSL, where it counts braces itself.
const DEEPEST: usize = 100;

/// Whether a text can be read without using up the stack.
///
/// # Errors
/// Where it cannot.
pub fn check(text: &str) -> Result<(), Misfit> {
    let Some(at) = too_long(text) else { return Ok(()) };
    let message = format!(
        "more than {LONGEST} operators in an expression, or {LONGEST} `else` or declarations in the text"
    );
    Err(Misfit::new(About::Text(at), message, Some("split what it is in".into())))
}

/// As [`check`], of a text in GLSL.
///
/// # Errors
/// Where it cannot.
pub fn check_glsl(text: &str) -> Result<(), Misfit> {
    let Some(at) = too_deep(text) else { return check(text) };
    let message = format!(
        "more than {DEEPEST} brackets, signs before an operand, or statements without braces, in one another"
    );
    Err(Misfit::new(About::Text(at), message, Some("split what it is in".into())))
}

/// What a statement stands behind, with or without braces.
const HEADS: [&[u8]; 6] = [b"if", b"else", b"for", b"while", b"do", b"switch"];

/// Where brackets, the signs in front of an operand, or statements without braces become too deep.
fn too_deep(text: &str) -> Option<Range<usize>> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let (mut open, mut braces, mut signs, mut heads) = (0_usize, 0_usize, 0, 0);
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let word = bytes[at..].iter().take_while(|byte| is_word(byte)).count();
        let comment = glsl_comment(&bytes[at..]);
        match byte {
            _ if comment > 0 => {}
            _ if word > 0 => {
                signs = 0;
                heads += usize::from(HEADS.contains(&&bytes[at..at + word]));
            }
            b'(' | b'[' => open += 1,
            b')' | b']' => open = open.saturating_sub(1),
            b'{' => (braces, heads) = (braces + 1, 0),
            b'}' => (braces, heads) = (braces.saturating_sub(1), 0),
            // Those of a `for` end no statement.
            b';' if open == 0 => heads = 0,
            b'!' | b'~' => signs += 1,
            _ => {}
        }
        if [open + braces, signs, heads].into_iter().any(|deep| deep > DEEPEST) {
            return Some(at..at + word.max(1));
        }
        at += comment.max(word).max(1);
    }
    None
}

/// The length of the comment that begins here, 0 where none does; in GLSL none holds another.
fn glsl_comment(bytes: &[u8]) -> usize {
    let end: &[u8] = match bytes.get(..2) {
        Some(b"//") => b"\n",
        Some(b"/*") => b"*/",
        _ => return 0,
    };
    let found = bytes[2..].windows(end.len()).position(|window| window == end);
    found.map_or(bytes.len(), |found| 2 + found + end.len())
}

/// Where a chain becomes too long, if anywhere.
fn too_long(text: &str) -> Option<Range<usize>> {
    let mut counts = Counts::default();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let len = match comment(rest) {
            Some(len) => len,
            None if c.is_ascii_alphabetic() || c == '_' => {
                let word = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                let word = &rest[..word.unwrap_or(rest.len())];
                counts.word(word);
                word.len()
            }
            None => {
                counts.sign(c);
                c.len_utf8()
            }
        };
        if counts.are_too_many() {
            return Some(at..at + len);
        }
        at += len;
    }
    None
}

/// How long the chains are that are still open.
#[derive(Default)]
struct Counts {
    /// Operators, and accesses to parts, of the expression outside brackets.
    open: [usize; 2],
    /// Those of the expressions around the brackets that are open.
    outer: Vec<[usize; 2]>,
    elses: usize,
    declarations: usize,
}

impl Counts {
    fn word(&mut self, word: &str) {
        self.elses += usize::from(word == "else");
        // Those within functions are as deep as the functions are.
        self.declarations += usize::from(DECLARATIONS.contains(&word));
    }

    fn sign(&mut self, c: char) {
        match c {
            ';' | '{' | '}' => (self.open, self.outer) = ([0; 2], vec![]),
            ',' => self.open = [0; 2],
            '(' | '[' => {
                self.open[1] += usize::from(c == '[');
                self.outer.push(std::mem::take(&mut self.open));
            }
            ')' | ']' => self.open = self.outer.pop().unwrap_or_default(),
            '.' => self.open[1] += 1,
            '+' | '-' | '*' | '/' | '%' | '&' | '|' | '^' | '<' | '>' | '=' | '!' | '~' => {
                self.open = [self.open[0] + 1, 0];
            }
            _ => {}
        }
    }

    fn are_too_many(&self) -> bool {
        let [operators, accesses] = self.open;
        let all = [operators, accesses, self.outer.len(), self.elses, self.declarations];
        all.into_iter().any(|count| count > LONGEST)
    }
}

/// The length of the comment that begins here, if one does; as naga reads them, one may hold another.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find(LINE_ENDS).unwrap_or(text.len()));
    }
    let mut rest = text.strip_prefix("/*")?;
    let mut depth = 1;
    while depth > 0 {
        let Some(at) = rest.find(['/', '*']) else { return Some(text.len()) };
        rest = &rest[at..];
        let (step, len) = match rest.get(..2) {
            Some("/*") => (1, 2),
            Some("*/") => (-1, 2),
            _ => (0, 1),
        };
        depth += step;
        rest = &rest[len..];
    }
    Some(text.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wgsl::parse;

    /// Without the limit most of them end the process.
    #[test]
    fn what_would_use_up_the_stack_is_an_error_at_its_place() {
        let main = |body: &str| format!("@compute @workgroup_size(1) fn k() {{ {body} }}");
        let with = |first: &str, piece: &str, last: &str, n: usize| {
            main(&format!("{first}{}{last}", piece.repeat(n)))
        };
        let each = |n: usize, one: fn(usize) -> String| (0..n).map(one).collect::<String>();
        assert!(parse(&with("let a = ", "1 + ", "1;", LONGEST - 1)).is_ok());
        for text in [
            with("let a = ", "1 + ", "1;", 100_000),
            with("let a = true", " /* , */ && true", ";", 40_000),
            with("let b = vec3(1); let a = b", ".xyz", ";", 100_000),
            with("if true {} ", "else if true {} ", "", 40_000),
            with("let a = 1", " == 1", ";", 100_000),
            with("let a = ", "!", "true;", 100_000),
            with("let a = ", "~", "1;", 100_000),
            with("let a = ", "max(1, 2) + ", "1;", 40_000),
            with("// \r let a = ", "1 + ", "1;", 100_000),
            with("/* /* */ // */ let a = ", "1 + ", "1;", 100_000),
            with("let a = ", "(", "1;", 100_000),
            each(40_000, |i| format!("fn f{i}() {{ f{}(); }}\n", i + 1)),
            each(40_000, |i| format!("const A{i} = A{};\n", i + 1)),
            each(40_000, |i| format!("alias A{i} = A{};\n", i + 1)),
            each(40_000, |i| format!("struct S{i} {{ a: S{} }}\n", i + 1)),
        ] {
            assert!(too_long(&text).is_some() && parse(&text).is_err(), "{}", &text[..80]);
        }
    }

    #[test]
    fn glsl_is_not_deeper_than_the_stack() {
        let nested = |n: usize| format!("float a = {}1{};", "(".repeat(n), ")".repeat(n));
        assert!(check_glsl(&nested(DEEPEST)).is_ok());
        assert!(check_glsl(&nested(DEEPEST + 1)).is_err());
        assert!(check_glsl(&format!("bool a = {}b;", "!".repeat(DEEPEST + 1))).is_err());
        assert!(check_glsl(&"{ a[0] = !b; }".repeat(5000)).is_ok());
        for head in ["if (b) ", "for (;;) ", "while (b) ", "if (b) ; else "] {
            assert!(check_glsl(&head.repeat(30_000)).is_err(), "{head}");
        }
        let licence = format!("/* {} */ // {}\n", "if for do ( ".repeat(300), "else ".repeat(300));
        assert!(
            check_glsl(&(licence + &"if (b) a = 1; else if (c) { a = 2; }".repeat(900))).is_ok()
        );
    }

    #[test]
    fn honest_kernels_are_taken() {
        let lines = format!("// {}\n/* {} */\n", "-".repeat(5000), "a.b /* c */ ".repeat(5000));
        let numbers = "const a = array(".to_owned() + &"-1.5, ".repeat(5000) + "1);";
        let many = "a[0] = a[1] + 2.0;".repeat(5000);
        assert_eq!(too_long(&(lines + &numbers + &many)), None);
    }

    /// Of each sort as many as are taken, and one more, which is where the mistake is.
    #[test]
    fn chains_end_at_the_longest_and_the_place_is_the_first_beyond() {
        let repeated = |first: &str, piece: &str, n: usize| format!("{first}{}", piece.repeat(n));
        for (first, piece) in [
            ("a", "+b"),
            ("a", ".b"),
            ("a", "[b]"),
            ("a", "[b].c "),
            ("", "("),
            ("", "else "),
            ("", "const "),
            ("", "fn f "),
            ("", "/* else */var x"),
        ] {
            let each = if piece.contains("].") { 2 } else { 1 };
            assert_eq!(too_long(&repeated(first, piece, LONGEST / each)), None, "{piece}");
            let long = repeated(first, piece, LONGEST / each + 1);
            let Some(at) = too_long(&long) else { panic!("{piece}") };
            let last = first.len() + (LONGEST / each) * piece.len();
            assert!((last..long.len()).contains(&at.start), "{piece}: {at:?} of {}", long.len());
            let word = ["var", "fn", "const", "else"].into_iter().find(|word| piece.contains(word));
            // What stands before a bracket goes on behind it.
            let sign = ["]", ".", "+", "("].into_iter().find(|sign| piece.contains(sign));
            let wanted = word.or(sign).unwrap();
            assert_eq!(&long[at], wanted, "{piece}");
        }
    }

    #[test]
    fn what_ends_a_chain_begins_another() {
        let half = "+a".repeat(LONGEST / 2);
        let two = |between: &str| too_long(&format!("a{half}{between}{half}+a"));
        for end in [";", ",", "{", "}"] {
            assert_eq!(two(end), None, "{end}");
        }
        assert!(two("").is_some() && two(" // ;\n").is_some() && two("\u{e9}").is_some());
        // A bracket is as deep as what stands before it goes on behind it.
        assert_eq!(two("(a)").map(|at| at.len()), Some(1));
        assert_eq!(two("(a, b"), None);
        // An operator begins a new row of accesses, and another name does not.
        let parts = ".b".repeat(LONGEST / 2);
        assert_eq!(too_long(&format!("a{parts}+a{parts}.b")), None);
        assert!(too_long(&format!("a{parts} a{parts}.b")).is_some());
        // Nothing that ends a statement forgives an `else`.
        assert!(too_long(&"else {;}".repeat(LONGEST + 1)).is_some());
        for word in ["elsewhere", "function", "_const", "const1", "a_var"] {
            assert_eq!(too_long(&format!("{word} ").repeat(LONGEST + 1)), None, "{word}");
        }
    }

    #[test]
    fn a_comment_ends_where_naga_ends_it() {
        fn length(text: &str) -> Option<&str> {
            comment(text).map(|len| &text[len..])
        }
        assert_eq!(length("// a\n b"), Some("\n b"));
        assert_eq!(length("// a\u{2028}b"), Some("\u{2028}b"));
        assert_eq!(length("// a"), Some(""));
        assert_eq!(length("/* a */ b"), Some(" b"));
        assert_eq!(length("/* a /* b */ c */ d"), Some(" d"));
        assert_eq!(length("/*/ a */ b"), Some(" b"));
        assert_eq!(length("/* \u{e9} * / ** */b"), Some("b"));
        assert_eq!(length("/* a"), Some(""));
        assert_eq!((length("a // b"), length("/ a"), length("*/")), (None, None, None));
        fn bytes(text: &str) -> &str {
            &text[glsl_comment(text.as_bytes())..]
        }
        assert_eq!((bytes("// a\nb"), bytes("/* /* */b */"), bytes("/*/ */b")), ("b", "b */", "b"));
        assert_eq!((bytes("// a"), bytes("/* a *"), bytes("/"), bytes("a")), ("", "", "/", "a"));
    }

    /// As [`chains_end_at_the_longest_and_the_place_is_the_first_beyond`], of GLSL.
    #[test]
    fn glsl_ends_at_the_deepest() {
        for (piece, wanted) in [
            ("(", "("),
            ("[ ", "["),
            ("{", "{"),
            ("! ", "!"),
            ("~", "~"),
            ("if (a) ", "if"),
            ("else ", "else"),
            ("for (;;) ", "for"),
            ("while (a) ", "while"),
            ("do ", "do"),
            ("switch (a) ", "switch"),
            ("/* ( */// if\nif ", "if"),
        ] {
            let at = too_deep(&piece.repeat(DEEPEST + 1)).unwrap_or_else(|| panic!("{piece}"));
            assert!(at.start >= DEEPEST * piece.len(), "{piece}: {at:?}");
            assert_eq!(&piece.repeat(DEEPEST + 1)[at], wanted);
            assert_eq!(too_deep(&piece.repeat(DEEPEST)), None, "{piece}");
        }
        let half = |piece: &str| piece.repeat(DEEPEST / 2);
        for (first, end) in [("(", ")"), ("[", "]"), ("{", "}")] {
            let closed = half(first) + &half(end) + &half(first) + &half(first);
            assert_eq!(too_deep(&closed), None, "{first}");
            let open = half(first) + end + &half(first) + &first.repeat(2);
            assert_eq!(too_deep(&open).map(|at| at.start), Some(open.len() - 1), "{first}");
        }
        assert!(too_deep(&(half("(") + &half("{") + "[")).is_some(), "all kinds of brackets");
        // More ends than beginnings are nothing that later ones could use.
        assert!(too_deep(&(half(")") + &"(".repeat(DEEPEST + 1))).is_some());
        assert!(too_deep(&(half("}") + &"{".repeat(DEEPEST + 1))).is_some());
        // An operand ends the signs; a statement's end or a brace the heads, but not one within brackets.
        assert_eq!(too_deep(&(half("!") + "a" + &half("!") + &half("!"))), None);
        assert!(too_deep(&(half("!") + "(" + &half("!") + "!")).is_some());
        for end in [";", "{", "}"] {
            assert_eq!(too_deep(&(half("if ") + end + &half("if ") + &half("if "))), None, "{end}");
        }
        assert!(too_deep(&(half("if ") + "(;" + &half("if ") + "if")).is_some());
        assert_eq!(too_deep(&"iffy doing _if if2 ".repeat(DEEPEST + 1)), None);
    }
}
