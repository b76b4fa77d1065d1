use super::*;

#[test]
fn every_way_to_spell_it_is_found() {
    for text in [
        "#include \"/etc/passwd\"\n",
        "  #\tinclude <x.h>",
        "kernel void f() {}\n#include X\n",
        "# /* a */ /* b\n c */ include <x>",
        "#\\\ninc\\  \r\nlude <x>",
        "%:include <x>",
        "%\\\n:include <x>",
        "?\u{3f}=include <x>",
        "#inc?\u{3f}/\nlude <x>",
        "#import <x>\n",
        "#include_next <x>",
        "#embed \"/etc/passwd\"",
        "constant char* s = \"/*\";\n#include <x>\n// */",
        "#if __has_include(\"/etc/passwd\")\n#endif",
        "#if __has_\\\nembed(\"/etc/passwd\")\n#endif",
        "#pragma GCC /*\n*/ dependency <x>",
        "#pragma GCC dependency \"/etc/passwd\"",
        "# pragma GCC/**/dependency\t<x>",
        "#pragma clang module import x",
        "#pra\\\ngma include_alias(\"a\", \"b\")",
        "#define P _Pragma(\"GCC dependency \\\"x\\\"\")",
        "__pragma(module)",
        "#pragma comment(lib, \"/etc/passwd\")",
        "#pragma comment /**/ (lib, \"/etc/passwd\")",
        "#pragma com\\\nment\\\n\t(lib, \"x\")",
        "asm(\".incbin \\\"/etc/passwd\\\"\");",
        "void f() { __as\\\nm__ volatile(\"nop\"); }",
        "int x asm(\"y\");",
        "{__asm nop}",
        "#\u{a0}include <x>",
        "#\u{2003}pragma\u{a0}GCC\u{3000}dependency <x>",
        "void f() { \u{a0}__asm__(\"nop\"); }",
        "__asm__\u{2028}(\"nop\");",
        "int \u{180e}asm(\"nop\");",
        "\u{feff}asm(\"nop\");",
        "//x?\u{3f}/\nasm(\"nop\");",
        // What a macro joins.
        "#define C(a, b) a##b\nC(__as,m__)(\".incbin \\\"/etc/passwd\\\"\");",
        "#define C(a, b) a%:%:b\nC(__a, C(s, m))(\"nop\");",
        "#define C(x, y) x?\u{3f}=?\u{3f}=y\nC(_Prag,ma)(\"GCC dependency \\\"x\\\"\")",
        "#define C(x, y) x#\\\n#y\n#if C(__has_inc,lude)(\"/etc/passwd\")\n#endif",
        // What no compiler knows.
        "#\u{2060}include <x>",
        "#include\u{2603}<x>",
        // Comments that end where only some compilers see it: a zero, blanks or lines before the slash.
        "# /* *\\\0\n/ include <x> /* */ define X",
        "# /* *\\ \n/ x */ include <x>",
        "#pragma GCC /* *\\\0\n/ dependency <x>\n/* */",
        "#pragma GCC /* *\\ \n/ x */ dependency <x>",
        "kernel void f() {}\0",
    ] {
        let found = beyond_its_text(text).unwrap_or_else(|| panic!("{text}"));
        assert!(text.get(found.clone()).is_some_and(|found| !found.is_empty()), "{text}");
    }
    let text = "float é;\n#include <x>";
    assert_eq!(&text[beyond_its_text(text).unwrap()], "#include");
}

#[test]
fn what_cannot_be_made_out_is_rejected() {
    let far = " ".repeat(WINDOW);
    for before in ["/**/", "/*\n*/", "/**/ /**/", "/* *\\ \n/ \n */"] {
        let text = format!("#pragma GCC {before}{far}dependency <x>");
        assert!(beyond_its_text(&text).is_some(), "{before}");
    }
    let text = format!("#pragma GCC {}dependency <x>", "/**/".repeat(WINDOW));
    assert!(beyond_its_text(&text).is_some());
    assert!(beyond_its_text("# /* a comment without an end").is_some());
    assert!(beyond_its_text(&format!("#{}include <x>", " ".repeat(1000))).is_some());
}

#[test]
fn a_definition_may_be_a_part() {
    let text = "#define C(a, b) a##b\n#define D(a, b) C(a, b)\nD(__as, REST)(\"nop\");";
    assert_eq!(beyond_its_text(text), None);
    assert!(joins_with(text, "m__") && !joins_with(text, "float4 17"));
    assert!(!joins_with("D(__as, REST)", "m__"), "nothing is joined");
}

#[test]
fn honest_kernels_have_none() {
    for text in [
        "",
        "#",
        "%:",
        "#define include 1\n",
        "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#pragma once\nint module;",
        "#pragma ivdep /* no loop-carried dependency */\nfor (;;) {}",
        "#pragma unroll /* each row */\nint module; /* what follows",
        "#pragma unroll /* each\nrow */ 4 /* of all */\n/** Adds. */ int dependency;",
        "#pragma unroll 4 /* a comment */\nint a; // a comment",
        &format!("#pragma unroll /* 4 */\n/* {0} */\nint a;{0}{0}{0}", " ".repeat(WINDOW / 2)),
        "float asmx, plasm, asm_2; // assembly",
        "#define JOIN(a, b) a##b\nfloat JOIN(x, 1), s;",
        "float a, s, m;",
        "#pragma unroll\n#if N % 2 == 0\n#endif\n#\n",
        "// includes nothing\nkernel void import(global float* embed) {}",
        "#includes\n# 17\n#define A(x) #x\n",
        "?\u{3f}=include?\u{3f}/\nx <y>",
        "a = b ? c : d; x %= 3; s = \"100 %\\n\";",
    ] {
        assert_eq!(beyond_its_text(text), None, "{text}");
    }
}

#[test]
fn long_texts_are_read_once() {
    // Each byte against each would take 2^40 steps; a window of each, half a minute.
    let begun = std::time::Instant::now();
    for piece in
        ["#", "#/*", "# ", "%:/**/", "#/*#/*#*/", "\\\n", "?\u{3f}/\n", "é#", "asm_ ", "#pragma "]
    {
        let text = piece.repeat((1 << 20) / piece.len());
        let found = beyond_its_text(&text);
        assert!(found.is_none_or(|found| text.get(found).is_some()), "{piece:?}");
    }
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
}

#[test]
fn what_is_found_is_shown_whole() {
    for (text, shown) in [
        ("int a;\n#include <x>", "#include"),
        (" # /* a */ embed <x>", "# /*"),
        ("#pragma GCC dependency <x>", "#pragma"),
        ("#if __has_include(<x>)", "__has_include"),
        ("a; _Pragma(\"x\") b", "_Pragma"),
        ("a; __asm__ b", "__asm__"),
        ("#inc\\\nlude <x>", "#inc\\\nlude"),
        ("%:include <x>", "%:include"),
        ("\u{3000}asm(1)", "asm"),
        ("#embed\u{a0}<x>", "#embed"),
    ] {
        assert_eq!(&text[beyond_its_text(text).unwrap()], shown, "{text}");
    }
}

#[test]
fn a_line_goes_on_behind_whatever_ends_it() {
    for end in ["\n", "\r", "\r\n", "\n\r", " \n", "\t\n", "\u{b}\n", "\u{c}\r\n", " \t \n\r"] {
        let text = format!("#inc\\{end}lude <x>");
        let found = beyond_its_text(&text).unwrap_or_else(|| panic!("{end:?}"));
        assert_eq!(text[found], text[..text.len() - 4], "{end:?}");
    }
    assert_eq!(beyond_its_text("#inc\\x\nlude <x>"), None);
    assert_eq!(beyond_its_text("#inc\\\n\nlude <x>"), None);
}

#[test]
fn blanks_and_comments_may_stand_behind_the_sign() {
    for blank in [" ", "\t", "\u{b}", "\u{c}", "\0", "/**/", "/* x */", "\u{a0}", "/*/ */"] {
        assert!(beyond_its_text(&format!("#{blank}include <x>")).is_some(), "{blank:?}");
    }
    for other in ["x", "\n", "/", "//", "\""] {
        assert_eq!(beyond_its_text(&format!("#{other}include <x>")), None, "{other:?}");
    }
}

#[test]
fn a_name_is_a_whole_word() {
    for text in
        ["$asm", "asm$", "asm1", "_asm_", "#include1", "#pragma xdependency", "#pragma dependency_"]
    {
        assert_eq!(beyond_its_text(text), None, "{text}");
    }
    for text in [
        "asm",
        "_asm",
        "-asm-",
        "#pragma x dependency",
        "#pragma module",
        "#pragma once(pch_preprocess)",
    ] {
        assert!(beyond_its_text(text).is_some(), "{text}");
    }
}

#[test]
fn a_directive_is_looked_for_so_far_and_what_is_farther_is_taken_for_one() {
    let far = |blanks: usize, rest: &str| {
        beyond_its_text(&format!("#{}{rest}", " ".repeat(blanks))).is_some()
    };
    assert!(!far(255, "") && far(256, ""));
    assert!(far(249, "include") && !far(249, "exclude"));
    let pragma = |rest: &str| beyond_its_text(&format!("#pragma{rest}")).is_some();
    assert!(!pragma(&" a".repeat(128)) && pragma(&(" a".repeat(128) + " ")));
    assert!(!pragma(&(" a".repeat(100) + "\n" + &" a".repeat(100))));
    assert!(
        pragma(" /* a long comment */module")
            && pragma(" /* without an end")
            && !pragma(" // module")
    );
    assert!(
        !pragma("\nmodule")
            && !pragma("\rmodule")
            && pragma(" /*/ */ module")
            && pragma(" / module")
    );
}
